"""The command line: its arguments, what a wrong call is answered, and that it loads only what a command needs."""

import argparse
import json
import pkgutil
import subprocess
import sys

import pytest

from flows.cli.arguments.commands import MODALITIES, build_parser
from flows.cli.arguments.parser import USAGE_EXIT
from flows.cli.main import main
from flows.display.output import STOPPED
from storage.records.documents import Modality

HEAVY = ("prefect", "torch", "mineru", "lancedb", "onnxruntime", "transformers", "networkx", "matplotlib")
HEAVY_TO_UNDERSTAND_A_CALL = {"numpy", "pydantic", "duckdb", "pyarrow", "polars", "ortools", "asyncio", *HEAVY}


@pytest.mark.parametrize("arguments", [["ingest", "--help"], ["documents", "remove", "--help"], ["--version"]])
def test_help_and_version_exit_well(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0 and capsys.readouterr().out


def heavy_loaded_by(*arguments, code=0, heavy=HEAVY):
    """Run a command in a process of its own; return what it loaded of what takes long."""
    call = f"assert main({list(map(str, arguments))}) == {code}"
    program = f"import sys\nfrom flows.cli.main import main\n{call}\nprint([each for each in {heavy} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("arguments", [("status", "--corpus", "small"), ("documents", "list", "--corpus", "small"), ("settings",)])
def test_looking_loads_nothing_heavy(in_library, arguments):
    assert heavy_loaded_by(*arguments) == "[]"


def test_an_ingest_that_has_nothing_to_do_loads_nothing_heavy(in_library, cheap_documents):
    assert heavy_loaded_by("ingest", cheap_documents, "--corpus", "small") == "[]"


def test_ctrl_c_while_a_command_loads_ends_it_in_words(monkeypatch, capsys):
    def interrupted(_name):
        raise KeyboardInterrupt

    monkeypatch.setattr("pkgutil.resolve_name", interrupted)
    assert main(["ingest", "folder"]) == 130
    assert capsys.readouterr().err == f"{STOPPED}\n"


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


def parsed(*arguments):
    return build_parser().parse_args(arguments)


def test_every_kind_of_passage_can_be_asked_for():
    assert [str(kind) for kind in Modality] == list(MODALITIES)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("ask", "How deep?", "--reader", "magic"), "magic"),
        (("ask", "How deep?", "--reader", "oracle"), "oracle"),
        (("ask", "How deep?", "--modality", "sound"), "sound"),
        (("ask", "How deep?", "how high?"), "how high?"),
        (("ask", "How deep?", "--top", "3"), "--top"),
        (("answers",), "ACTION"),
        (("answers", "show"), "ANSWER"),
        (("report",), "ANSWER"),
        (("lineage",), "ANSWER|DOCUMENT|RUN"),
        (("evaluate",), "WHAT"),
        (("evaluate", "speed"), "speed"),
        (("evaluate", "retrieval"), "DATASET"),
        (("evaluate", "probe", "folder"), "folder"),
        (("evaluate", "fit", "folder", "--scope", "corpus"), "--scope"),
        (("evaluate", "transfer", "folder"), "SCORED"),
        (("evaluate", "answers", "folder", "--only", "BM25"), "--only"),
        (("evaluate", "retrieval", "folder", "--scope", "page"), "page"),
        (("evaluate", "compare", "0123ab"), "RUN"),
        ((), "COMMAND"),
    ],
)
@pytest.mark.parametrize("as_json", [True, False])
def test_a_wrong_call_says_what_and_where_help_is(arguments, named, as_json, capsys, monkeypatch):
    arguments = [*arguments, *(["--json"] if as_json else [])]
    monkeypatch.setattr(sys, "argv", ["flowreader", *arguments])
    with pytest.raises(SystemExit) as ended:
        parsed(*arguments)
    said = capsys.readouterr()
    assert ended.value.code == USAGE_EXIT == 2
    if as_json:
        error = json.loads(said.out)["error"]
        assert named in error["what"] and "--help" in error["remedy"] and not said.err
    else:
        assert named in said.err and "--help" in said.err and not said.out


READERS = {"retrieval": "flow,top-k", "answers": "flow,top-k", "ablations": "flow"}


@pytest.mark.parametrize("what", READERS)
def test_a_benchmark_is_measured_with_both_readers_and_ablated_with_one_each_question_asked_of_its_own_documents(what):
    said = parsed("evaluate", what, "folder")
    assert said.run == "flows.cli.evaluate_commands:evaluate"
    assert (said.what, said.dataset, said.usual, said.scope) == (what, "folder", READERS[what], "document")
    assert (said.corpus, said.limit, said.out, said.judge, said.only, said.settings, said.json) == (*[None] * 4, [], None, False)
