"""What can be said on the command line, and how a wrong call is answered."""

import json
import sys

import pytest

from flows.cli.arguments import MODALITIES, USAGE_EXIT, build_parser
from storage.records.documents import Modality


def parsed(*arguments):
    return build_parser().parse_args(arguments)


def test_a_question_is_asked_of_everything_by_flow_unless_said_otherwise():
    said = parsed("ask", "How deep?")
    assert (said.run, said.question, said.corpus, said.reader) == ("flows.cli.ask_commands:ask", "How deep?", "default", "flow")
    assert (said.document, said.pages, said.modality, said.settings, said.batch, said.report, said.json) == (
        *([], None, None, None, None, None),
        False,
    )


def test_every_kind_of_passage_can_be_asked_for():
    assert [str(kind) for kind in Modality] == list(MODALITIES)


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
