"""The command line explains itself, and loads only what a command needs."""

import subprocess
import sys

import pytest

from flows.cli import build_parser, main

LIGHT = "import sys\nfrom flows.cli import main\nmain({arguments})\nprint([name for name in {heavy} if name in sys.modules])"
HEAVY = ["prefect", "torch", "mineru", "lancedb", "onnxruntime", "transformers", "networkx"]


def test_every_command_has_help():
    text = build_parser().format_help()
    for command in ("ingest", "status", "documents", "corpora", "doctor", "settings", "lineage"):
        assert command in text
    assert "flowreader ingest FOLDER" in text


@pytest.mark.parametrize("arguments", [["ingest", "--help"], ["documents", "remove", "--help"], ["--version"]])
def test_help_and_version_exit_well(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0 and capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["status", "--corpus", "small"], ["documents", "list", "--corpus", "small"], ["settings"]])
def test_looking_loads_nothing_heavy(in_library, arguments):
    program = LIGHT.format(arguments=arguments, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_ingest_that_has_nothing_to_do_loads_nothing_heavy(in_library, cheap_documents):
    program = LIGHT.format(arguments=["ingest", str(cheap_documents), "--corpus", "small"], heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
