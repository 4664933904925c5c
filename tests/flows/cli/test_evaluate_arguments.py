"""What can be said of `flowreader evaluate`: every measurement with its own defaults, and what was measured before."""

from pathlib import Path

import pytest

from flows.cli.arguments import USAGE_EXIT, build_parser


def parsed(*arguments):
    return build_parser().parse_args(["evaluate", *arguments])


READERS = {"retrieval": "flow,top-k", "answers": "flow,top-k", "ablations": "flow"}


@pytest.mark.parametrize("what", READERS)
def test_a_benchmark_is_measured_with_both_readers_and_ablated_with_one_each_question_asked_of_its_own_documents(what):
    said = parsed(what, "folder")
    assert said.run == "flows.cli.evaluate_commands:evaluate"
    assert (said.what, said.dataset, said.reader, said.scope) == (what, "folder", READERS[what], "document")
    assert (said.corpus, said.limit, said.out, said.judge, said.only, said.settings, said.json) == (*[None] * 4, [], None, False)


def test_a_fit_names_a_file_for_weights_and_a_transfer_two_datasets():
    fit = parsed("fit", "folder", "--out", "mine.json")
    assert (fit.run, fit.what, fit.dataset, fit.out) == ("flows.cli.evaluate_commands:evaluate", "fit", "folder", "mine.json")
    transfer = parsed("transfer", "here", "there", "--corpus", "both")
    assert (transfer.what, transfer.fitted_on, transfer.dataset, transfer.corpus) == ("transfer", "here", "there", "both")
    assert transfer.reader == "flow,top-k" and transfer.out is None and parsed("retrieval", "folder").fitted_on is None


def test_every_part_of_a_measurement_can_be_set():
    said = parsed(
        *("retrieval", "folder", "--reader", "top-k", "--corpus", "mine", "--scope", "corpus", "--limit", "40"),
        *("--at-once", "8", "--out", "lines.jsonl", "--settings", "s.toml", "--json"),
    )
    assert (said.reader, said.corpus, said.scope, said.limit, said.at_once) == ("top-k", "mine", "corpus", 40, 8)
    assert (said.out, said.settings, said.json) == ("lines.jsonl", Path("s.toml"), True)
    assert parsed("answers", "folder", "--judge", "a-model").judge == "a-model"
    assert parsed("ablations", "folder", "--only", "BM25", "--only", "rounds").only == ["BM25", "rounds"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "WHAT"),
        (("speed",), "speed"),
        (("retrieval",), "DATASET"),
        (("probe", "folder"), "folder"),
        (("fit", "folder", "--scope", "corpus"), "--scope"),
        (("transfer", "folder"), "SCORED"),
        (("retrieval", "folder", "--judge", "a-model"), "--judge"),
        (("answers", "folder", "--only", "BM25"), "--only"),
        (("retrieval", "folder", "--scope", "page"), "page"),
        (("retrieval", "folder", "--limit", "few"), "few"),
        (("compare", "0123ab"), "RUN"),
        (("list", "--corpus", "small"), "--corpus"),
    ],
)
def test_a_wrong_call_says_what_and_where_help_is(arguments, named, capsys):
    with pytest.raises(SystemExit) as ended:
        parsed(*arguments)
    said = capsys.readouterr()
    assert ended.value.code == USAGE_EXIT
    assert named in said.err and "--help" in said.err and not said.out
