import duckdb
import pytest

from storage.catalog import catalog
from tests.storage import worlds

VERSIONS = {"nodes": 1, "rows": 1, "edges": 1, "pages": 1}


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "catalog.duckdb"
    catalog.create(made, worlds.EMBEDDER, VERSIONS, 1)
    return made


def test_a_moment_without_memory_is_no_damage(path, monkeypatch):
    def no_memory(*_, **__):
        raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate")

    with monkeypatch.context() as short:
        short.setattr(duckdb, "connect", no_memory)
        with pytest.raises(duckdb.OutOfMemoryException):
            catalog.head(path)
    assert catalog.head(path).snapshot == 1
