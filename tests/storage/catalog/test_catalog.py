"""The catalog: one transaction a publish, refused to zombies and to newer stores."""

import duckdb
import pytest

from storage.catalog import catalog
from storage.catalog.catalog import Change
from storage.lock import FencedError
from tests.storage import worlds

VERSIONS = {"nodes": 1, "rows": 1, "edges": 1, "pages": 1}


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "catalog.duckdb"
    catalog.create(made, worlds.EMBEDDER, VERSIONS, 1, 1)
    return made


def test_a_zombie_changes_nothing(path):
    catalog.take_over(path, 2)
    with pytest.raises(FencedError, match="run it again"):
        catalog.commit(path, Change(frozenset(), (), (), ()), fence=1, snapshot=2, lance_versions=VERSIONS)
    assert catalog.head(path).snapshot == 1


def test_a_moment_without_memory_is_no_damage(path, monkeypatch):
    def no_memory(*_, **__):
        raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate")

    with monkeypatch.context() as short:
        short.setattr(duckdb, "connect", no_memory)
        with pytest.raises(duckdb.OutOfMemoryException):
            catalog.head(path)
    assert catalog.head(path).snapshot == 1
