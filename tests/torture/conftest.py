"""What the campaigns share: one Prefect server, and a home in which the cheap documents were read without interruption."""

import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.browser import browser, find_browser
from tests.deployments.brought_up import brought_up
from tests.kept_worlds import locked
from tests.program import CHEAP
from tests.session_server import FOLDER
from tests.torture.lab import copies, export, findings, ingest, prefect_server_in, seeded_home

ROOM = 40
"""Questions that the query service of `serving` takes in."""

ASK_TOKEN = "sesame-0f4b"


@dataclass(frozen=True)
class Reference:
    """An uninterrupted ingest: its documents, its home, its export, and how long it took."""

    documents: Path
    home: Path
    export: bytes
    seconds: float


def reference(name: str, server: str, names: tuple[str, ...] | None, words: Path | None = None) -> Reference:
    """Return the reference of this session; the first worker reads copies of the documents in, uninterrupted."""
    folder = Path(os.environ[FOLDER]) / name
    with locked(folder.with_suffix(".lock")):
        if not (folder / "seconds").exists():
            documents = copies(folder / "documents", names)
            if words:
                seeded_home(folder / "home", words)
            began = time.monotonic()
            done = ingest(documents, home=folder / "home", server=server).ended(0)
            seconds = time.monotonic() - began
            assert done.said["totals"]["states"] == {"ready": len(list(documents.iterdir()))}
            assert findings(folder / "home") == []
            (folder / "seconds").write_text(str(seconds))
    return Reference(folder / "documents", folder / "home", export(folder / "home"), float((folder / "seconds").read_text()))


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The address of a Prefect server: most runs share it, for its start takes longer than the ingest."""
    with prefect_server_in(tmp_path_factory.mktemp("server") / "home") as address:
        yield address


@pytest.fixture(scope="session")
def cheap(server):
    """The cheap documents, read in."""
    return reference("cheap", server, CHEAP)


@pytest.fixture(scope="session")
def whole(server, whole_world):
    """The whole corpus, read in by a home that remembers the words in pictures, as those that are killed do."""
    return reference("whole", server, None, whole_world / "home")


@pytest.fixture(scope="session")
def serving(library, tmp_path_factory):
    """Everything up in a home with the corpus `small`; a folder of one page is to be read into `default` by schedule."""
    folder = tmp_path_factory.mktemp("serving")
    home = shutil.copytree(library, folder / "home")
    (folder / "in").mkdir()
    (folder / "in" / "tides.html").write_text("<h1>Tides</h1><p>The tide turns twice a day and never asks why.</p>")
    more = {"FLOWREADER_ASK_TOKEN": ASK_TOKEN, "FLOWREADER_ASK_QUEUE": str(ROOM), "FLOWREADER_INGEST_PATHS": str(folder / "in")}
    with brought_up(home, folder / "log", **more) as running:
        yield running


@pytest.fixture
def tell(capsys):
    """Say a line on the terminal, whether or not the test passes: how many cases there were, and what that bounds."""

    def say(line: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n    {line}\n")

    return say


@pytest.fixture(scope="module")
def chromium():
    """A browser; without one its tests are skipped, but where REQUIRE_BROWSER=1, as .ci/run sets it, they fail."""
    if not find_browser():
        assert os.environ.get("REQUIRE_BROWSER") != "1", "REQUIRE_BROWSER is set, and there is no chromium; install it"
        pytest.skip("no chromium on this machine; install it to look at the pages")
    with browser() as running:
        yield running
