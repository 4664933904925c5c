import os
import shutil
import stat
import time
from dataclasses import fields
from datetime import timedelta

import numpy as np
import pytest

from storage.corpus.snapshot import open_for_reading
from storage.graph.adjacency import Adjacency, derive
from storage.graph.adjacency_files import (
    CHECKSUMS,
    NAMES,
    adjacency_of,
    drop_old,
    keep_adjacency,
    load,
    place_of,
    save,
)
from storage.graph.store import create_graph, open_graph
from storage.graph.tables import TableName
from tests.storage.graph_worlds import published
from tests.storage.worlds import EMBEDDER, graph, publish, writing


def same(one: Adjacency, other: Adjacency) -> bool:
    return all(np.array_equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(Adjacency))


@pytest.fixture(scope="module")
def adjacency(tmp_path_factory):
    return derive(open_graph(published(tmp_path_factory.mktemp("home"), indexed=False).lance))


def test_what_is_saved_is_loaded_mapped(adjacency, tmp_path):
    save(adjacency, tmp_path / "a" / "place")
    loaded = load(tmp_path / "a" / "place")
    assert same(adjacency, loaded)
    assert isinstance(loaded.heads, np.memmap)


def test_an_empty_corpus_is_saved_and_loaded(tmp_path):
    nothing = derive(create_graph(tmp_path / "lance", EMBEDDER))
    save(nothing, tmp_path / "place")
    assert same(nothing, load(tmp_path / "place"))


def test_what_is_missing_cut_or_of_another_place_is_not_loaded(adjacency, tmp_path):
    assert load(tmp_path / "nowhere") is None
    for name, keep in (("heads", 100), ("ids", 0), ("kinds", None), ("starts", "shorter"), ("weights", "shorter")):
        place = tmp_path / name
        save(adjacency, place)
        path = place / f"{name}.npy"
        if keep is None:
            path.unlink()
        elif keep == "shorter":
            np.save(path, getattr(adjacency, name)[:-1])
        else:
            path.write_bytes(path.read_bytes()[:keep])
        assert load(place) is None
        save(adjacency, place)
        assert same(adjacency, load(place))


def flip(path, place, bit=0):
    """Turn one bit of the file over, as a disk may."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)


@pytest.mark.parametrize("name", [*(f"{name}.npy" for name in NAMES), CHECKSUMS])
def test_a_bit_that_turned_over_anywhere_is_found(adjacency, tmp_path, name):
    save(adjacency, tmp_path)
    for place in (0, 8, 60, -3):
        flip(tmp_path / name, place, bit=4)
        assert load(tmp_path) is None
        flip(tmp_path / name, place, bit=4)
    assert same(adjacency, load(tmp_path))


def test_a_question_over_altered_files_sees_what_the_tables_say(tmp_path):
    location = published(tmp_path)
    store = open_graph(location.lance)
    place = place_of(location.lance, store.versions())
    flip(place / "heads.npy", -1, bit=6)
    assert same(adjacency_of(store), derive(store))


def test_what_is_written_has_the_read_permissions_of_its_folder(adjacency, tmp_path):
    for mode in (0o755, 0o700, 0o2750):
        folder = tmp_path / oct(mode)
        folder.mkdir()
        folder.chmod(mode)
        save(adjacency, folder / "place")
        assert stat.S_IMODE((folder / "place").stat().st_mode) == mode


def test_a_failed_write_leaves_nothing(adjacency, tmp_path, monkeypatch):
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="No space left"):
        save(adjacency, tmp_path / "place")
    assert list(tmp_path.iterdir()) == []


def test_an_indexed_corpus_has_its_own_and_after_cleaning_no_other(tmp_path):
    location = published(tmp_path)
    with writing(location) as corpus:
        publish(corpus, graph("later"))
        with open_for_reading(location) as snapshot:
            assert not place_of(location.lance, snapshot.graph_store.versions()).exists()
            derived = adjacency_of(snapshot.graph_store)
        corpus.index()
        corpus.tidy(keep_seconds=0)
    with open_for_reading(location) as snapshot:
        place = place_of(location.lance, snapshot.graph_store.versions())
        loaded = adjacency_of(snapshot.graph_store)
    assert list(place.parent.iterdir()) == [place]
    assert sorted(loaded.ids) == sorted(derived.ids)


def test_one_goes_when_neither_table_has_a_reader_of_that_age(tmp_path):
    store = open_graph(published(tmp_path).lance)
    place, earlier = (place_of(store.folder, versions) for versions in (store.versions(), {"nodes": 1, "edges": 1}))
    shutil.copytree(place, earlier)
    os.utime(earlier, (time.time() - 100, time.time() - 100))
    at_once, hour = timedelta(milliseconds=1), timedelta(hours=1)
    for pinned in (TableName.NODES, TableName.EDGES):
        drop_old(store, {name: hour if name is pinned else at_once for name in TableName})
        assert earlier.exists()
    young = earlier.with_name("young")
    shutil.copytree(earlier, young)
    os.utime(young)
    drop_old(store, dict.fromkeys(TableName, timedelta(seconds=50)))
    assert sorted(place.parent.iterdir()) == sorted((place, young))


def test_an_altered_one_is_written_again_by_the_next_indexing(tmp_path):
    store = open_graph(published(tmp_path).lance)
    place = place_of(store.folder, store.versions())
    flip(place / "pages.npy", -4)
    assert load(place) is None
    keep_adjacency(store)
    assert load(place) is not None
