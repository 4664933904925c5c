"""What can be said of `flowreader evaluate`: what is measured, on what, and what was measured before."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say by which method, and under which settings."""
    parser.add_argument(
        "--preset",
        choices=("default", "paper"),
        default="default",
        help="paper: every step as the paper writes it (default: %(default)s)",
    )
    parser.add_argument("--settings", type=Path, metavar="FILE.toml", help="settings that differ from the defaults")


def add_evaluate(verbs: Any, parser_class: type[argparse.ArgumentParser]) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add `evaluate` and all below it."""
    evaluate = verbs.add_parser(
        "evaluate",
        help="measure retrieval, answers and ablations, on benchmarks or on your own documents",
        description="Measures how well questions are answered, each figure with a 95 % interval. Run it again: what was "
        "asked of the same documents by the same code is not asked again.",
    )
    actions = evaluate.add_subparsers(dest="action", required=True, metavar="WHAT", parser_class=parser_class)
    json = parser_class(add_help=False)
    json.add_argument("--json", action="store_true", help="print JSON for programs, and nothing else")
    run = parser_class(add_help=False, parents=[json])
    run.add_argument("--limit", type=int, metavar="N", help="only so many questions, spread evenly")
    run.add_argument("--out", metavar="FILE.jsonl", help="write a line for each question and reader")
    add_settings(run)
    run.add_argument(
        "--at-once", type=int, default=2, metavar="N", help="questions side by side; more with a chat model (%(default)s)"
    )
    data = parser_class(add_help=False, parents=[run])
    data.add_argument(
        "dataset",
        metavar="DATASET",
        help="a folder with documents/ and questions.jsonl, or MMLongBench-Doc, LongDocURL, UDA or VisDoMBench as published",
    )
    data.add_argument("--corpus", metavar="NAME", help="where its documents are read into (default: evaluate-DATASET)")
    _add_measured(actions, data)
    probe = actions.add_parser(
        "probe",
        parents=[run],
        help="ask a corpus for its own captions, table rows, headings and sentences",
        description="Makes questions out of a corpus's own words, without a model or labels: each must bring its own page back. "
        "Tells whether ingest and retrieval work on your files, not whether answers are right.",
    )
    probe.add_argument("--corpus", default="default", metavar="NAME", help="the corpus to probe (default: %(default)s)")
    _add_reader(probe, "flow")
    _add_scope(probe, "corpus")
    probe.set_defaults(run="flows.evaluate_commands:evaluate", what="probe", dataset=None, judge=None, only=[])
    _add_kept(actions, json)


MEASURED = {
    "retrieval": ("flow,top-k", "how well pages are ranked and evidence is gathered, against top-k and against cut rankings"),
    "answers": ("flow,top-k", "how many answers are right, what is refused, and what it costs"),
    "ablations": ("flow", "what each part of the method adds: everything once, then with one thing taken away or exchanged"),
}
"""What is measured on benchmarks: who reads by default, and what the help says."""


def _add_measured(actions: Any, data: argparse.ArgumentParser) -> None:  # noqa: ANN401
    parsers = {}
    for what, (readers, text) in MEASURED.items():
        parsers[what] = actions.add_parser(what, parents=[data], help=text, description=f"Measures {text}.")
        _add_reader(parsers[what], readers)
        _add_scope(parsers[what], "document")
        parsers[what].set_defaults(run="flows.evaluate_commands:evaluate", what=what, judge=None, only=[])
    text = "a chat model at FLOWREADER_CHAT_BASE_URL that judges beside the rules"
    parsers["answers"].add_argument("--judge", metavar="MODEL", help=text)
    text = "only ablations with this in their name, such as rounds or BM25 (repeatable)"
    parsers["ablations"].add_argument("--only", action="append", default=[], metavar="NAME", help=text)


def _add_reader(parser: argparse.ArgumentParser, default: str) -> None:
    text = "who reads, flow or top-k, with a comma between (default: %(default)s)"
    parser.add_argument("--reader", default=default, metavar="NAMES", help=text)


def _add_scope(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--scope",
        choices=("document", "corpus"),
        default=default,
        help="ask each question of its own documents, or of all at once (default: %(default)s)",
    )


def _add_kept(actions: Any, json: argparse.ArgumentParser) -> None:  # noqa: ANN401
    listed = actions.add_parser("list", parents=[json], help="all evaluations, the newest first")
    listed.set_defaults(run="flows.evaluate_commands:listed")
    show = actions.add_parser("show", parents=[json], help="one evaluation, without measuring again")
    show.add_argument("evaluation", metavar="RUN", help="at least 6 digits of its id")
    show.add_argument("--markdown", action="store_true", help="as a page of Markdown, for a report")
    show.set_defaults(run="flows.evaluate_commands:show")
    text = "what changed between two evaluations, and whether it is more than luck"
    compare = actions.add_parser("compare", parents=[json], help=text, description=f"Says {text}.")
    compare.add_argument("before", metavar="RUN", help="at least 6 digits of the earlier one's id")
    compare.add_argument("after", metavar="RUN", help="of the later one's")
    compare.set_defaults(run="flows.evaluate_commands:compared")
