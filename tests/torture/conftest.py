"""What the campaigns share: one Prefect server, and a home in which the cheap documents were read without interruption."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.program import CHEAP
from tests.torture.lab import copies, export, findings, ingest, start_server


@dataclass(frozen=True)
class Reference:
    """An uninterrupted ingest: its documents, its home, its export, and how long it took."""

    documents: Path
    home: Path
    export: bytes
    seconds: float


def make_reference(folder: Path, server: str, names: tuple[str, ...] | None, words: Path | None = None) -> Reference:
    """Read copies of the documents in, uninterrupted."""
    documents = copies(folder / "documents", names)
    began = time.monotonic()
    done = ingest(documents, home=folder / "home", server=server).ended(0)
    seconds = time.monotonic() - began
    assert done.said["totals"]["states"] == {"ready": len(list(documents.iterdir()))}
    assert findings(folder / "home") == []
    return Reference(documents, folder / "home", export(folder / "home"), seconds)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The address of a Prefect server: most runs share it, for its start takes longer than the ingest."""
    process, address = start_server(tmp_path_factory.mktemp("server") / "home")
    yield address
    process.kill()
    process.wait()


@pytest.fixture(scope="session")
def cheap(tmp_path_factory, server):
    """The cheap documents, read in."""
    return make_reference(tmp_path_factory.mktemp("cheap"), server, CHEAP)


@pytest.fixture(scope="session")
def whole(tmp_path_factory, server):
    """The whole corpus, read in."""
    return make_reference(tmp_path_factory.mktemp("whole"), server, None)


@pytest.fixture
def tell(capsys):
    """Say a line on the terminal, whether or not the test passes: how many cases there were, and what that bounds."""

    def say(line: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n    {line}\n")

    return say
