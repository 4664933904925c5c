"""A corpus that can be pushed, and the home that it is pulled to."""

import shutil

import pytest

from storage.artifacts import ArtifactStore
from tests.storage.worlds import corpus_in, graph, publish, writing


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A home with a report that has a picture; nobody may change it."""
    folder = tmp_path_factory.mktemp("made")
    picture = ArtifactStore(folder / "artifacts").put(b"a picture")
    with writing(corpus_in(folder, "papers")) as corpus:
        publish(corpus, graph("report", picture=picture))
    return folder


@pytest.fixture
def one(made, tmp_path):
    """The corpus, of which the report is published and can be pushed."""
    return corpus_in(shutil.copytree(made, tmp_path / "one"), "papers")


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Where the corpus is pulled to: this process's home."""
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path / "two"))
    return corpus_in(tmp_path / "two", "papers")
