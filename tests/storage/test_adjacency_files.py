import os
import shutil
import time
from dataclasses import fields
from datetime import timedelta

import numpy as np
import pytest

from storage.adjacency import Adjacency, derive
from storage.adjacency_files import drop_others, load, place_of, save
from storage.corpus import open_for_writing
from storage.graph_store import create_graph, open_graph
from storage.snapshot import open_for_reading
from tests.storage.graph_worlds import published
from tests.storage.worlds import DIMENSION, EMBEDDER, graph, publish


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
    nothing = derive(create_graph(tmp_path / "lance", DIMENSION))
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


def test_a_failed_write_leaves_nothing(adjacency, tmp_path, monkeypatch):
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="No space left"):
        save(adjacency, tmp_path / "place")
    assert list(tmp_path.iterdir()) == []


def test_only_what_is_old_and_not_the_kept_one_goes(adjacency, tmp_path):
    kept, old, young = (tmp_path / "adjacency" / name for name in ("kept", "old", "young"))
    for place in (kept, old, young):
        save(adjacency, place)
    for place in (kept, old):
        os.utime(place, (time.time() - 100, time.time() - 100))
    drop_others(kept, timedelta(seconds=50))
    assert {place.name for place in kept.parent.iterdir()} == {"kept", "young"}
    drop_others(tmp_path / "elsewhere" / "place", timedelta(0))


def test_an_indexed_corpus_has_its_own_and_after_cleaning_no_other(tmp_path):
    location = published(tmp_path)
    with open_for_writing(location, embedder=EMBEDDER, wait_seconds=0) as corpus:
        publish(corpus, graph("later"))
        with open_for_reading(location) as snapshot:
            assert not place_of(location.lance, snapshot.graph_store.versions()).exists()
            derived = snapshot.graph_store.adjacency()
        corpus.index()
        corpus.tidy(keep_seconds=0)
    with open_for_reading(location) as snapshot:
        place = place_of(location.lance, snapshot.graph_store.versions())
        loaded = snapshot.graph_store.adjacency()
    assert list(place.parent.iterdir()) == [place]
    assert sorted(loaded.ids) == sorted(derived.ids)


def test_a_damaged_one_is_made_again_by_the_next_indexing(tmp_path):
    location = published(tmp_path)
    store = open_graph(location.lance)
    place = place_of(location.lance, store.versions())
    shutil.rmtree(place)
    place.mkdir()
    assert store.adjacency() is not None
    assert load(place) is None
    store.index()
    assert load(place) is not None
