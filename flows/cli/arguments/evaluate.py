"""The arguments of `flowreader evaluate`: what is measured, and what that is turned by."""

import argparse
import json
from typing import Any

from flows.cli.arguments.parser import BY, BY_HELP, Parser, actions_of, add_settings, command
from tasks.settings.readers import MEASURED_READERS


def _name_and_value(given: str) -> tuple[str, Any]:
    """Part NAME=VALUE; a value that is no JSON is a text."""
    name, equals, value = given.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{given!r} is not NAME=VALUE, such as ask.walk.pages=5")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def add_evaluate(verbs: Any, json: Parser) -> None:  # noqa: ANN401
    actions = actions_of(
        verbs,
        "evaluate",
        "measure retrieval, answers and ablations, on benchmarks or on your own documents",
        "WHAT",
        "Measures how well questions are answered, each figure with a 95 % interval. A repeated run reuses answers from the same "
        "documents and code.",
    )
    run = Parser(add_help=False, parents=[json])
    run.add_argument("--limit", type=int, metavar="N", help="only N questions, spread evenly")
    text = "questions side by side; more with a chat model (%(default)s)"
    run.add_argument("--at-once", type=int, default=2, metavar="N", help=text)
    run.set_defaults(judge=None, by=None, repeats=1, only=[], fitted_on=None, out=None, probe=False)
    run.set_defaults(answers=False, set=[], table=None, estimate=False, usual="flow")
    add_settings(run)
    lines = Parser(add_help=False)
    lines.add_argument("--out", metavar="FILE.jsonl", help="write a line for each question and reader; .csv and .parquet too")
    into = Parser(add_help=False, parents=[run])
    into.add_argument(
        "--corpus", metavar="NAME", help="where its documents are read into (default: evaluate- and the name of the benchmark)"
    )
    data = Parser(add_help=False, parents=[into])
    data.add_argument("dataset", metavar="DATASET", help=DATASET)
    for what, (readers, text) in MEASURED.items():
        measured = command(actions, what, "cli.evaluate_commands:evaluate", text, data, lines, description=f"Measures {text}.")
        _add_measured(measured, what, readers, "document")
        if what != "retrieval":
            _add_judged(measured)
        if what == "ablations":
            text = "only ablations with this in their name, such as rounds or BM25 (repeatable)"
            measured.add_argument("--only", action="append", metavar="NAME", help=text)
            measured.add_argument("--answers", action="store_true", help="measure the answers in place of the pages")
    _add_table(actions, into, lines)
    probe = command(
        actions,
        "probe",
        "cli.evaluate_commands:evaluate",
        "ask a corpus for its own captions, table rows and sentences",
        run,
        lines,
        description="Asks for texts of a corpus with gaps in them, without a model or labels: each must bring its own page back. "
        "Shows whether ingest and retrieval work on your files, not whether answers are right.",
    )
    probe.add_argument("--corpus", default="default", metavar="NAME", help="the corpus to probe (default: %(default)s)")
    probe.set_defaults(dataset=None)
    _add_measured(probe, "probe", "flow", "corpus")
    _add_fits(actions, into)
    _add_kept(actions, json)


def _add_fits(actions: Any, into: Parser) -> None:  # noqa: ANN401
    fit = command(
        actions,
        "fit",
        "cli.evaluate_commands:evaluate",
        "fit the weights of the pages' probabilities, and write them to a file",
        into,
        description="Asks every question of its own documents and of all at once, fits the pages' probability to the evidence, "
        "and writes a file for the setting ask.weights. Printed figures are out of fold: by weights that were fitted without "
        "the question's document.",
    )
    fit.add_argument("dataset", nargs="?", metavar="DATASET", help=DATASET)
    text = "in place of DATASET: fit to probes of --corpus (default: default), which need no labels; half as many have no answer"
    fit.add_argument("--probe", action="store_true", help=text)
    fit.add_argument("--out", metavar="FILE.json", help="the file of the weights (default: weights.json)")
    fit.set_defaults(what="fit", reader="flow", scope="document")
    text = "fit weights on one dataset, and score them on the documents of another"
    transfer = command(
        actions, "transfer", "cli.evaluate_commands:evaluate", text, into, description=f"{text[:1].upper()}{text[1:]}."
    )
    transfer.add_argument("fitted_on", metavar="FITTED", help="the dataset that the weights are fitted on")
    transfer.add_argument("dataset", metavar="SCORED", help="the dataset that they are scored on")
    _add_measured(transfer, "transfer", "flow,top-k", "document")


DATASET = (
    "a folder with documents/ and questions.jsonl, or MMLongBench-Doc, LongDocURL, UDA, VisDoMBench, DUDE, MP-DocVQA or SlideVQA, "
    "as published"
)
MEASURED = {
    "retrieval": ("flow,top-k", "how well pages are ranked and evidence is gathered, against top-k and against cut rankings"),
    "answers": ("flow,top-k", "how many answers are right, what is refused, and what it costs"),
    "ablations": ("flow", "what each part of the method adds: the whole once, then with one part removed or replaced"),
}
"""What is measured on benchmarks: the default readers, and the help."""


def _add_set(parser: Parser) -> None:
    text = "a number of the method for this evaluation alone, such as ask.walk.pages=5; `settings --method` lists all (repeatable)"
    parser.add_argument("--set", action="append", type=_name_and_value, metavar="NAME=VALUE", help=text)


def _add_judged(parser: Parser) -> None:
    text = "ask the model each question N times: means, and their deviation over the repeats (default: 1)"
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help=text)
    text = "a chat model that judges besides the rules, at FLOWREADER_JUDGE_BASE_URL, else at FLOWREADER_CHAT_BASE_URL"
    parser.add_argument("--judge", metavar="MODEL", help=text)
    parser.add_argument("--by", choices=BY, help=BY_HELP)


def _add_table(actions: Any, *parents: Parser) -> None:  # noqa: ANN401
    table = command(
        actions,
        "table",
        "cli.evaluate_commands:evaluate",
        "run a table of one of the five papers, and print ours beside theirs",
        *parents,
        description="Runs the rows of a published table that are readers here, by the paper's preset, and prints each figure "
        "beside the one that stands in the paper. What that takes is counted and shown first.",
    )
    table.add_argument("table", metavar="TABLE", help="such as molorag-2; a wrong name lists all")
    table.add_argument("dataset", metavar="DATASET", help=DATASET)
    table.add_argument("--estimate", action="store_true", help="show what the run takes, and do nothing")
    _add_judged(table)
    _add_set(table)
    table.set_defaults(what="table", reader=None, scope="document")


def _add_measured(parser: Parser, what: str, readers: str, scope: str) -> None:
    parser.set_defaults(what=what, usual=readers)
    names = ", ".join(MEASURED_READERS)
    text = f"ways of answering ({names}), with a comma between (default: {readers}; with a paper's preset its own)"
    parser.add_argument("--reader", metavar="NAMES", help=text)
    _add_set(parser)
    text = "ask each question of its own documents, or of all at once (default: %(default)s)"
    parser.add_argument("--scope", choices=("document", "corpus"), default=scope, help=text)


def _add_kept(actions: Any, json: Parser) -> None:  # noqa: ANN401
    command(actions, "list", "cli.evaluate_commands:list_kept", "all evaluations, the newest first", json)
    show = command(actions, "show", "cli.evaluate_commands:show", "one evaluation, without measuring again", json)
    show.add_argument("evaluation", metavar="RUN", help="at least 6 digits of its id")
    show.add_argument("--markdown", action="store_true", help="as a page of Markdown, for a report")
    text = "what changed between two evaluations, and whether it is more than luck"
    compare = command(actions, "compare", "cli.evaluate_commands:compare", text, json, description=f"Says {text}.")
    compare.add_argument("before", metavar="RUN", help="at least 6 digits of the earlier one's id")
    compare.add_argument("after", metavar="RUN", help="of the later one's")
