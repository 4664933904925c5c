"""What can be said on the command line, and how a wrong call is answered."""

import json
import sys
from pathlib import Path

import pytest

from flows import ask_commands, commands, ingest_command, lineage_tables
from flows.arguments import MODALITIES, USAGE_EXIT, build_parser
from storage.records import Modality


def parsed(*arguments):
    return build_parser().parse_args(arguments)


def test_a_question_is_asked_of_everything_by_flow_unless_said_otherwise():
    said = parsed("ask", "How deep?")
    assert (said.run, said.question, said.corpus, said.reader) == ("flows.ask_commands:ask", "How deep?", "default", "flow")
    assert (said.document, said.pages, said.modality, said.settings, said.batch, said.report, said.json) == (
        *([], None, None, None, None, None),
        False,
    )


def test_a_question_may_go_to_the_query_service():
    assert parsed("ask", "How deep?", "--server").run == "flows.ask_service_command:ask"


def test_every_kind_of_passage_can_be_asked_for():
    assert [str(kind) for kind in Modality] == list(MODALITIES)


def test_every_limit_of_a_question_can_be_said():
    said = parsed(
        *("ask", "How deep?", "--document", "a.pdf", "--document", "0123abcd", "--pages", "3-7", "--modality", "table"),
        *("--reader", "top-k", "--settings", "s.toml", "--report", "r.html", "--corpus", "small", "--json"),
    )
    assert (said.document, said.pages, said.modality, said.reader) == (["a.pdf", "0123abcd"], "3-7", "table", "top-k")
    assert (said.settings, said.report, said.corpus, said.json) == (Path("s.toml"), Path("r.html"), "small", True)


@pytest.mark.parametrize(
    ("arguments", "run"),
    [
        (("answers", "list"), ask_commands.answers_list),
        (("answers", "show", "0123abcd"), ask_commands.answers_show),
        (("report", "0123abcd", "--output", "r.html"), ask_commands.report),
        (("ask", "--batch", "questions.txt"), ask_commands.ask),
        (("lineage", "0123abcd"), lineage_tables.lineage),
        (("status",), commands.status),
        (("doctor",), commands.doctor),
        (("doctor", "--models"), commands.doctor),
        (("settings", "--settings", "s.toml"), commands.settings),
        (("ingest", "folder"), ingest_command.ingest),
        (("documents", "show", "a.pdf"), commands.documents_show),
        (("documents", "remove", "a.pdf", "--now"), commands.documents_remove),
        (("corpora", "remove", "small"), commands.corpora_remove),
    ],
)
def test_a_command_leads_to_what_does_it_and_takes_corpus_and_json(arguments, run):
    said = parsed(*arguments, "--corpus", "small", "--json")
    assert said.run == f"{run.__module__}:{run.__name__}" and said.corpus == "small" and said.json


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("ask", "How deep?", "--reader", "magic"), "magic"),
        (("ask", "How deep?", "--modality", "sound"), "sound"),
        (("ask", "How deep?", "how high?"), "how high?"),
        (("ask", "How deep?", "--top", "3"), "--top"),
        (("answers",), "ACTION"),
        (("answers", "show"), "ANSWER"),
        (("report",), "ANSWER"),
        (("lineage",), "ANSWER|DOCUMENT|RUN"),
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


@pytest.mark.parametrize("command", [("ask",), ("answers",), ("answers", "list"), ("answers", "show"), ("report",)])
def test_every_command_about_answers_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        parsed(*command, "--help")
    assert ended.value.code == 0 and "usage: flowreader " + " ".join(command) in capsys.readouterr().out


def test_the_help_of_ask_names_every_flag(capsys):
    with pytest.raises(SystemExit):
        parsed("ask", "--help")
    text = capsys.readouterr().out
    for flag in ("--document", "--pages", "--modality", "--reader", "--settings", "--batch", "--report", "--corpus", "--json"):
        assert flag in text
