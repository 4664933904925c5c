"""One corpus and several machines (homes on this one), over a real S3 server."""

import pytest

from storage import lease
from storage.locations import shared_store
from storage.object_store import ObjectStore
from tests.object_server import fresh_prefix
from tests.storage.shared_worlds import GOOD_SECONDS, copied, machine, writing
from tests.storage.worlds import graph, publish


@pytest.fixture(scope="module")
def original(objects, tmp_path_factory):
    """A machine that published a report; nobody may change it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**objects.environment, "FLOWREADER_STORE": fresh_prefix()}.items():
            patch.setenv(name, value)
        place = machine(tmp_path_factory.mktemp("original"), shared_store())
        with writing(place) as corpus:
            publish(corpus, graph("report"))
        yield place


@pytest.fixture
def bare(shared, tmp_path, monkeypatch):
    """Two machines and an empty store."""
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD_SECONDS)
    return [machine(tmp_path / name, shared) for name in ("one", "two")]


@pytest.fixture
def machines(bare, original, shared, tmp_path):
    """Two machines of which the first published a report."""
    return [copied(original, tmp_path / "one", shared), bare[1]]


@pytest.fixture
def corpus_store(bare):
    return ObjectStore(bare[0].store)
