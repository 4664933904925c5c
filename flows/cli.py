"""The command line: `flowreader --help` tells everything. It runs a command and says how it ended; the work is elsewhere.

Exit codes: 0 well; 1 some documents are not ready, or doctor found something; 2 nothing was done; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Sequence

from flows.arguments import USAGE_EXIT, build_parser
from flows.loading import INTERRUPT_EXIT
from flows.prefect_environment import PrefectServerError
from flows.showing import CommandError, Output
from storage.answers import AmbiguousAnswerError, UnknownAnswerError
from storage.artifacts import ArtifactDamagedError
from storage.catalog import CatalogBusyError, CatalogDamagedError, StoreTooNewError
from storage.codec import CodecError
from storage.current import CurrentDamagedError
from storage.disk import DiskFullError, NotWritableError
from storage.evaluations import AmbiguousEvaluationError, UnknownEvaluationError
from storage.graph_checks import GraphError
from storage.graph_store import GraphDamagedError
from storage.lineage_search import AmbiguousLineageError, UnknownLineageError
from storage.locations import LocationError
from storage.lock import CorpusBusyError, FencedError
from storage.reconciling import EmbedderMismatchError
from storage.runs import RunGoneError
from storage.snapshot import AmbiguousDocumentError, UnknownCorpusError, UnknownDocumentError
from tasks.ask_request import QuestionError
from tasks.discovery import DiscoveryError
from tasks.models.chat_errors import ChatEndedError
from tasks.models.endpoints import EndpointError
from tasks.models.ocr import OcrError
from tasks.models.vector_checks import EmbeddingError
from tasks.parsers.supervisor import ParserStartError
from tasks.settings import SettingsError

EXIT_SECONDS = 3.0
STAYS = {
    "ingest": "; what was published stays, and the same command goes on",
    "evaluate": "; what was asked is kept, and the same command goes on",
}
EXPECTED = (
    AmbiguousAnswerError,
    AmbiguousDocumentError,
    AmbiguousEvaluationError,
    AmbiguousLineageError,
    ArtifactDamagedError,
    CatalogBusyError,
    CatalogDamagedError,
    ChatEndedError,
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
    QuestionError,
    RunGoneError,
    SettingsError,
    StoreTooNewError,
    UnknownAnswerError,
    UnknownCorpusError,
    UnknownDocumentError,
    UnknownEvaluationError,
    UnknownLineageError,
)
"""What the world, not the program, did wrong: said in words, without a traceback."""


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
        output.side.print(f"stopped{STAYS.get(parsed.command, '')}", markup=False)
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
