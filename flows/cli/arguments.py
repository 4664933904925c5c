"""The arguments of the command line: every command, every flag, and the errors of a wrong call."""

import argparse
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from flows.display.output import CommandError, Output
from tasks.settings.readers import READERS, READERS_HELP

USAGE_EXIT = 2
MODALITIES = ("text", "table", "figure")
"""Those of `storage.records.documents`, which takes as long to load as a question to be answered."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors follow the house: what, value, remedy; JSON where it was asked for."""

    def error(self, message: str) -> Any:  # noqa: ANN401 - argparse says NoReturn, SystemExit does it
        Output(as_json="--json" in sys.argv).error(CommandError(message, " ".join(sys.argv[1:]), f"see `{self.prog} --help`"))
        raise SystemExit(USAGE_EXIT)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--preset",
        choices=("default", "paper"),
        default="default",
        help="paper: every step as the paper writes it (default: %(default)s)",
    )
    parser.add_argument("--settings", type=Path, metavar="FILE.toml", help="settings that differ from the defaults")


def _add_evaluate(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    evaluate = verbs.add_parser(
        "evaluate",
        help="measure retrieval, answers and ablations, on benchmarks or on your own documents",
        description="Measures how well questions are answered, each figure with a 95 % interval. Run it again: what was "
        "asked of the same documents by the same code is not asked again.",
    )
    actions = evaluate.add_subparsers(dest="action", required=True, metavar="WHAT", parser_class=Parser)
    json = Parser(add_help=False)
    json.add_argument("--json", action="store_true", help="print JSON for programs, and nothing else")
    run = Parser(add_help=False, parents=[json])
    run.add_argument("--limit", type=int, metavar="N", help="only so many questions, spread evenly")
    run.add_argument("--out", metavar="FILE.jsonl", help="write a line for each question and reader; .csv and .parquet too")
    run.add_argument(
        "--at-once", type=int, default=2, metavar="N", help="questions side by side; more with a chat model (%(default)s)"
    )
    _add_settings(run)
    data = Parser(add_help=False, parents=[run])
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
    probe.set_defaults(run="flows.cli.evaluate_commands:evaluate", what="probe", dataset=None, judge=None, only=[])
    _add_kept(actions, json)


MEASURED = {
    "retrieval": ("flow,top-k", "how well pages are ranked and evidence is gathered, against top-k and against cut rankings"),
    "answers": ("flow,top-k", "how many answers are right, what is refused, and what it costs"),
    "ablations": ("flow", "what each part of the method adds: everything once, then with one thing taken away or exchanged"),
}
"""What is measured on benchmarks: the default readers, and the help."""


def _add_measured(actions: Any, data: argparse.ArgumentParser) -> None:  # noqa: ANN401
    parsers = {}
    for what, (readers, text) in MEASURED.items():
        parsers[what] = actions.add_parser(what, parents=[data], help=text, description=f"Measures {text}.")
        _add_reader(parsers[what], readers)
        _add_scope(parsers[what], "document")
        parsers[what].set_defaults(run="flows.cli.evaluate_commands:evaluate", what=what, judge=None, only=[])
    text = "a chat model at FLOWREADER_CHAT_BASE_URL that judges beside the rules"
    parsers["answers"].add_argument("--judge", metavar="MODEL", help=text)
    text = "only ablations with this in their name, such as rounds or BM25 (repeatable)"
    parsers["ablations"].add_argument("--only", action="append", default=[], metavar="NAME", help=text)


def _add_reader(parser: argparse.ArgumentParser, default: str) -> None:
    text = f"ways of answering ({', '.join(READERS)}), with a comma between (default: %(default)s)"
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
    listed.set_defaults(run="flows.cli.evaluate_commands:listed")
    show = actions.add_parser("show", parents=[json], help="one evaluation, without measuring again")
    show.add_argument("evaluation", metavar="RUN", help="at least 6 digits of its id")
    show.add_argument("--markdown", action="store_true", help="as a page of Markdown, for a report")
    show.set_defaults(run="flows.cli.evaluate_commands:show")
    text = "what changed between two evaluations, and whether it is more than luck"
    compare = actions.add_parser("compare", parents=[json], help=text, description=f"Says {text}.")
    compare.add_argument("before", metavar="RUN", help="at least 6 digits of the earlier one's id")
    compare.add_argument("after", metavar="RUN", help="of the later one's")
    compare.set_defaults(run="flows.cli.evaluate_commands:compared")


def build_parser() -> argparse.ArgumentParser:
    common = Parser(add_help=False)
    common.add_argument("--corpus", default="default", metavar="NAME", help="the corpus to work on (default: %(default)s)")
    common.add_argument("--json", action="store_true", help="print JSON for programs, and nothing else")
    parser = Parser(
        prog="flowreader",
        description="Reads long documents into a content graph and answers questions by routing evidence through it.",
        epilog='Begin with: flowreader ingest FOLDER, then flowreader ask "QUESTION"',
    )
    parser.add_argument("--version", action="version", version=f"flowreader {metadata.version('flowreader')}")
    verbs = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    _add_ingest(verbs, common)
    _add_ask(verbs, common)
    _add_answers(verbs, common)
    _add_lineage(verbs, common)
    _add_evaluate(verbs)
    _add_documents(verbs, common)
    _add_corpora(verbs, common)
    text = "what a corpus holds"
    verbs.add_parser("status", parents=[common], help=text, description=text).set_defaults(run="flows.cli.corpus_commands:status")
    text = "check every promise of the store; names what is broken and the remedy"
    doctor = verbs.add_parser("doctor", parents=[common], help=text, description=text)
    doctor.add_argument("--models", action="store_true", help="check the servers of the chat model and the embedder instead")
    doctor.set_defaults(run="flows.cli.corpus_commands:doctor")
    settings = verbs.add_parser("settings", parents=[common], help="what can be set, with bounds and reasons")
    _add_settings(settings)
    settings.add_argument("--method", action="store_true", help="show what decides the method instead: presets set it")
    settings.set_defaults(run="flows.cli.corpus_commands:settings")
    return parser


def _add_ingest(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    ingest = verbs.add_parser(
        "ingest",
        parents=[common],
        help="read files, folders and object stores into a corpus",
        description="Reads files and folders, recursively, and what lies in object stores, into a corpus. Run it again at any "
        "time: what is unchanged costs one hash, what was interrupted goes on.",
    )
    ingest.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder, or s3://BUCKET/PREFIX/ of an object store")
    ingest.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="GLOB",
        help="only files whose name, or path below PATH, matches (repeatable; * matches / too)",
    )
    ingest.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="GLOB",
        help="no files whose name, or path below PATH, matches (repeatable)",
    )
    ingest.add_argument(
        "--password-file",
        type=Path,
        metavar="F",
        help="a line each of NAME, a tab, PASSWORD; or one line with one for all",
    )
    _add_settings(ingest)
    ingest.add_argument("--estimate", action="store_true", help="say how much there is to do, and do nothing")
    ingest.set_defaults(run="flows.cli.ingest_command:ingest")


def _add_ask(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    ask = verbs.add_parser(
        "ask",
        parents=[common],
        help="answer a question, with its proof",
        description="Answers a question from the documents of a corpus, with citations: by routing evidence through its graph. "
        "Without a chat model the answer is made of quotes.",
    )
    ask.add_argument("question", nargs="?", metavar="QUESTION", help="the question, in quotation marks")
    ask.add_argument(
        "--document",
        action="append",
        default=[],
        metavar="DOCUMENT",
        help="ask only this document: at least 8 digits of its id, or its exact file name (repeatable)",
    )
    ask.add_argument("--pages", metavar="3-7", help="ask only these pages")
    ask.add_argument("--modality", choices=MODALITIES, help="ask only text, tables or figures")
    ask.add_argument(
        "--reader",
        choices=READERS,
        default="flow",
        help=f"{READERS_HELP} (default: %(default)s)",
    )
    _add_settings(ask)
    ask.add_argument(
        "--batch",
        metavar="FILE",
        help='many questions: one a line, or JSON Lines with a "question"; - reads standard input; empty lines and lines that '
        "begin with # are skipped",
    )
    ask.add_argument("--report", type=Path, metavar="FILE.html", help="write the answer with its pages and its flow as a page")
    ask.add_argument(
        "--server",
        dest="run",
        action="store_const",
        const="flows.cli.ask_server_commands:ask",
        help="ask the query service that `make up` starts: it has everything loaded (FLOWREADER_ASK_ADDRESS says where it is)",
    )
    ask.set_defaults(run="flows.cli.ask_commands:ask")


def _add_answers(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    answers = verbs.add_parser("answers", help="list answers, or show one again")
    actions = answers.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)
    listed = actions.add_parser("list", parents=[common], help="all answers, the newest first")
    listed.set_defaults(run="flows.cli.ask_commands:answers_list")
    named = Parser(add_help=False)
    named.add_argument("answer", metavar="ANSWER", help="at least 8 digits of its id")
    show = actions.add_parser("show", parents=[common, named], help="one answer, without asking again")
    show.set_defaults(run="flows.cli.ask_commands:answers_show")
    text = "write the report of an answer: its pages with the quoted places, and its flow"
    report = verbs.add_parser("report", parents=[common, named], help=text, description=text)
    report.add_argument("--output", type=Path, metavar="FILE.html", help="where to (default: answer-ID.html in this folder)")
    report.set_defaults(run="flows.cli.ask_commands:report")


def _add_lineage(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    text = "where an answer comes from, what a document was used for, what a run did"
    lineage = verbs.add_parser("lineage", parents=[common], help=text, description=f"Tells {text}, from the records of the runs.")
    lineage.add_argument(
        "named",
        metavar="ANSWER|DOCUMENT|RUN",
        help="at least 8 digits of an answer's or a document's id, 6 of a run's, or a document's exact file name",
    )
    lineage.set_defaults(run="flows.display.lineage_tables:lineage")


def _add_documents(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    documents = verbs.add_parser("documents", help="list, show, remove or export documents")
    actions = documents.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)
    actions.add_parser("list", parents=[common], help="all documents").set_defaults(run="flows.cli.corpus_commands:documents_list")
    named = Parser(add_help=False)
    named.add_argument("document", metavar="DOCUMENT", help="at least 8 digits of its id, or its exact file name")
    actions.add_parser("show", parents=[common, named], help="one document: its outline, pages and notes").set_defaults(
        run="flows.cli.corpus_commands:documents_show"
    )
    remove = actions.add_parser("remove", parents=[common, named], help="unpublish a document and delete what it left")
    remove.add_argument("--now", action="store_true", help="wait until no reader can see it, then delete it")
    remove.set_defaults(run="flows.cli.corpus_commands:documents_remove")
    export = actions.add_parser("export", parents=[common], help="canonical JSON, the same for the same documents and settings")
    export.add_argument("document", nargs="?", metavar="DOCUMENT", help="one document (default: all)")
    export.add_argument("--output", type=Path, metavar="FILE", help="write to a file instead of standard output")
    export.set_defaults(run="flows.cli.corpus_commands:documents_export")


def _add_corpora(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    corpora = verbs.add_parser("corpora", help="list, remove, push or pull corpora")
    actions = corpora.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)
    actions.add_parser("list", parents=[common], help="all corpora").set_defaults(run="flows.cli.corpus_commands:corpora_list")
    remove = actions.add_parser("remove", parents=[common], help="delete a corpus and what only it used")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(run="flows.cli.corpus_commands:corpora_remove")
    text = "send the published snapshot of a corpus to an object store; again sends only what is new"
    push = actions.add_parser("push", parents=[common], help=text, description=text)
    push.add_argument("name", metavar="NAME")
    text = "fetch a pushed corpus as a read-only one that can be asked; again fetches only what is new"
    pull = actions.add_parser("pull", parents=[common], help=text, description=text)
    for action, command in ((push, "corpora_push"), (pull, "corpora_pull")):
        action.add_argument("address", metavar="s3://BUCKET/PREFIX", help="where it lies; credentials as boto3 finds them")
        action.set_defaults(run=f"flows.cli.transfer_commands:{command}")
    pull.add_argument("--as", dest="name", metavar="NAME", help="the corpus's name here (default: as it was pushed)")
