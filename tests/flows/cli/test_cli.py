"""The command line explains itself, and loads only what a command needs."""

import argparse
import pkgutil
import subprocess
import sys

import pytest

from flows.cli.main import build_parser, main

LIGHT = "import sys\nfrom flows.cli.main import main\nmain({arguments})\nprint([name for name in {heavy} if name in sys.modules])"
HEAVY = ["prefect", "torch", "mineru", "lancedb", "onnxruntime", "transformers", "networkx"]
HEAVY_TO_UNDERSTAND_A_CALL = {"numpy", "pydantic", "duckdb", "pyarrow", "polars", "ortools", "asyncio", *HEAVY}


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


def test_ctrl_c_while_a_command_loads_ends_it_in_words(monkeypatch, capsys):
    def interrupted(_name):
        raise KeyboardInterrupt

    monkeypatch.setattr("pkgutil.resolve_name", interrupted)
    assert main(["ingest", "folder"]) == 130
    assert capsys.readouterr().err == "stopped; what was published stays, and the same command goes on\n"


def test_every_command_that_can_be_called_is_there():
    names, waiting = set(), [build_parser()]
    while waiting:
        parser = waiting.pop()
        names |= {parser.get_default("run")} | {action.const for action in parser._actions if action.dest == "run"}
        for action in parser._actions:
            waiting += action.choices.values() if isinstance(action, argparse._SubParsersAction) else []
    names.remove(None)
    assert len(names) > 15 and all(callable(pkgutil.resolve_name(name)) for name in names)


def test_nothing_that_takes_long_is_loaded_to_understand_a_call():
    program = "import sys; from flows.cli.main import build_parser; build_parser(); print(*sys.modules)"
    loaded = set(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split())
    assert not HEAVY_TO_UNDERSTAND_A_CALL & loaded
