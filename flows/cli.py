"""The command line: `flowreader --help` tells everything. It parses and shows; the work is elsewhere.

Exit codes: 0 well; 1 some documents are not ready, or doctor found something; 2 nothing was done; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from flows import commands
from flows.prefect_environment import PrefectServerError
from flows.showing import CommandError, Output
from storage.artifacts import ArtifactDamagedError
from storage.catalog import CatalogBusyError, CatalogDamagedError, StoreTooNewError
from storage.codec import CodecError
from storage.current import CurrentDamagedError
from storage.disk import DiskFullError, NotWritableError
from storage.graph_checks import GraphError
from storage.graph_store import GraphDamagedError
from storage.locations import LocationError
from storage.lock import CorpusBusyError, FencedError
from storage.reconciling import EmbedderMismatchError
from storage.snapshot import AmbiguousDocumentError, UnknownCorpusError, UnknownDocumentError
from tasks.discovery import DiscoveryError
from tasks.models.endpoints import EndpointError
from tasks.models.ocr import OcrError
from tasks.models.vector_checks import EmbeddingError
from tasks.parsers.supervisor import ParserStartError
from tasks.settings import SettingsError

USAGE_EXIT = 2
INTERRUPT_EXIT = 130
EXIT_SECONDS = 3.0
EXPECTED = (
    AmbiguousDocumentError,
    ArtifactDamagedError,
    CatalogBusyError,
    CatalogDamagedError,
    CodecError,
    CorpusBusyError,
    CurrentDamagedError,
    DiscoveryError,
    DiskFullError,
    EmbedderMismatchError,
    EmbeddingError,
    EndpointError,
    FencedError,
    GraphDamagedError,
    GraphError,
    LocationError,
    NotWritableError,
    OSError,
    OcrError,
    ParserStartError,
    PrefectServerError,
    SettingsError,
    StoreTooNewError,
    UnknownCorpusError,
    UnknownDocumentError,
)
"""What the world, not the program, did wrong: said in words, without a traceback."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors follow the house: what, value, remedy; JSON where it was asked for."""

    def error(self, message: str) -> Any:  # noqa: ANN401 - argparse says NoReturn, SystemExit does it
        """Say what is wrong with the call and leave with 2."""
        Output(as_json="--json" in sys.argv).error(CommandError(message, " ".join(sys.argv[1:]), f"see `{self.prog} --help`"))
        raise SystemExit(USAGE_EXIT)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    common = Parser(add_help=False)
    common.add_argument("--corpus", default="default", metavar="NAME", help="the corpus to work on (default: %(default)s)")
    common.add_argument("--json", action="store_true", help="print JSON for programs, and nothing else")
    parser = Parser(
        prog="flowreader",
        description="Reads long documents into a content graph and answers questions by routing evidence through it.",
        epilog="Begin with: flowreader ingest FOLDER",
    )
    parser.add_argument("--version", action="version", version=f"flowreader {metadata.version('flowreader')}")
    verbs = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    _add_ingest(verbs, common)
    _add_documents(verbs, common)
    _add_corpora(verbs, common)
    for name, run, text in (
        ("status", commands.status, "what a corpus holds"),
        ("doctor", commands.doctor, "check every promise of the store; names what is broken and the remedy"),
    ):
        verbs.add_parser(name, parents=[common], help=text, description=text).set_defaults(run=run)
    settings = verbs.add_parser("settings", parents=[common], help="all settings with their bounds and reasons")
    settings.add_argument("--settings", type=Path, metavar="FILE.toml", help="show them as this file changes them")
    settings.set_defaults(run=commands.settings)
    return parser


def _add_ingest(verbs: Any, common: Parser) -> None:  # noqa: ANN401 - argparse keeps the type private
    ingest = verbs.add_parser(
        "ingest",
        parents=[common],
        help="read files and folders into a corpus",
        description="Reads files and folders, recursively, into a corpus. Run it again at any time: what is unchanged costs "
        "one hash, what was interrupted goes on.",
    )
    ingest.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file or a folder")
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
    ingest.add_argument("--settings", type=Path, metavar="FILE.toml", help="settings that differ from the defaults")
    ingest.add_argument("--estimate", action="store_true", help="say how much there is to do, and do nothing")
    ingest.set_defaults(run=commands.ingest)


def _add_documents(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    documents = verbs.add_parser("documents", help="list, show, remove or export documents")
    actions = documents.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)
    actions.add_parser("list", parents=[common], help="all documents").set_defaults(run=commands.documents_list)
    named = Parser(add_help=False)
    named.add_argument("document", metavar="DOCUMENT", help="at least 8 digits of its id, or its exact file name")
    actions.add_parser("show", parents=[common, named], help="one document: its outline, pages and notes").set_defaults(
        run=commands.documents_show
    )
    remove = actions.add_parser("remove", parents=[common, named], help="unpublish a document and delete what it left")
    remove.add_argument("--now", action="store_true", help="wait until no reader can see it, then delete it")
    remove.set_defaults(run=commands.documents_remove)
    export = actions.add_parser("export", parents=[common], help="canonical JSON, the same for the same documents and settings")
    export.add_argument("document", nargs="?", metavar="DOCUMENT", help="one document (default: all)")
    export.add_argument("--output", type=Path, metavar="FILE", help="write to a file instead of standard output")
    export.set_defaults(run=commands.documents_export)


def _add_corpora(verbs: Any, common: Parser) -> None:  # noqa: ANN401
    corpora = verbs.add_parser("corpora", help="list or remove corpora")
    actions = corpora.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)
    actions.add_parser("list", parents=[common], help="all corpora").set_defaults(run=commands.corpora_list)
    remove = actions.add_parser("remove", parents=[common], help="delete a corpus and what only it used")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(run=commands.corpora_remove)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    parsed = build_parser().parse_args(arguments)
    output = Output(as_json=parsed.json)
    run: Callable[[argparse.Namespace, Output], int] = parsed.run
    try:
        code = run(parsed, output)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read our output left, as `head` does; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except CommandError as error:
        output.error(error)
    except EXPECTED as error:
        output.error(CommandError.from_error(error))
    except KeyboardInterrupt:
        output.side.print("stopped; what was published stays, and the same command goes on", markup=False)
        return INTERRUPT_EXIT
    return USAGE_EXIT


def program() -> None:
    """Run a command as a process of its own, and end with it."""
    code = main()
    # Prefect's threads may wait at the end for a server that was killed; nothing of ours is left to do.
    end = threading.Timer(EXIT_SECONDS, os._exit, [code])
    end.daemon = True
    end.start()
    sys.exit(code)


if __name__ == "__main__":
    program()
