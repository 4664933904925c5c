import os
import shutil
import stat
import time
from dataclasses import fields, replace
from datetime import timedelta

import numpy as np
import pytest

from storage.corpus.snapshot import open_for_reading
from storage.graph.adjacency import Adjacency, derive
from storage.graph.adjacency_files import (
    CHECKSUM,
    DTYPES,
    adjacency_of,
    drop_old,
    drop_others,
    intact,
    keep_adjacency,
    load,
    place_of,
    save,
)
from storage.graph.store import create_graph, open_graph
from storage.graph.tables import TableName
from storage.records.documents import EdgeKind, Modality, NodeKind
from tests.storage.graph_worlds import published
from tests.storage.worlds import DIMENSION, graph, publish, writing


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


def flip(path, place, bit=0):
    """Turn one bit of the file over, as a disk may."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)


@pytest.mark.parametrize("name", [*DTYPES, CHECKSUM])
def test_one_bit_that_turned_over_is_found_by_the_checksum(adjacency, tmp_path, name):
    save(adjacency, tmp_path)
    assert intact(tmp_path)
    flip(tmp_path / (name if name == CHECKSUM else f"{name}.npy"), -3)
    assert not intact(tmp_path)


def test_what_has_no_checksum_or_is_whole_and_of_no_use_is_not_intact(adjacency, tmp_path):
    save(adjacency, tmp_path / "bare")
    (tmp_path / "bare" / CHECKSUM).unlink()
    save(replace(adjacency, heads=adjacency.heads[:-1]), tmp_path / "cut")
    assert not any(intact(tmp_path / name) for name in ("bare", "cut", "nowhere"))


def test_a_header_with_a_bit_turned_over_is_no_array_or_the_same(adjacency, tmp_path):
    save(adjacency, tmp_path)
    path = tmp_path / "rows.npy"
    for place in range(path.stat().st_size - len(adjacency.rows) * 8):
        for bit in range(8):
            flip(path, place, bit)
            loaded = load(tmp_path)
            assert loaded is None or same(adjacency, loaded)
            flip(path, place, bit)


OUTSIDE = {
    "by_id": (-1, 120),
    "heads": (-1, 120),
    "documents": (-1, 3),
    "pages": (-1,),
    "ordinals": (-1,),
    "summary_words": (-1,),
    "kinds": (len(NodeKind),),
    "modalities": (len(Modality),),
    "arc_kinds": (len(EdgeKind), 128 + len(EdgeKind)),
    "weights": (np.nan, np.inf),
    "rows": (0, 2**63),
    "starts": (-1, 2**40),
    "document_ids": (b"\xff" * 32,),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in OUTSIDE.items() for value in values])
def test_what_leads_outside_or_out_of_order_is_not_loaded(adjacency, tmp_path, name, value):
    altered = getattr(adjacency, name).copy()
    altered[1] = value
    save(replace(adjacency, **{name: altered}), tmp_path)
    assert load(tmp_path) is None


@pytest.mark.parametrize("name", ["starts", "weights"])
def test_an_array_of_other_numbers_or_that_begins_elsewhere_is_not_loaded(adjacency, tmp_path, name):
    save(replace(adjacency, **{name: getattr(adjacency, name).astype(np.float32)}), tmp_path)
    assert load(tmp_path) is None
    starts = adjacency.starts.copy()
    starts[0] = 1
    save(replace(adjacency, starts=starts), tmp_path)
    assert load(tmp_path) is None


def test_a_truth_value_that_is_neither_is_not_loaded(adjacency, tmp_path):
    save(adjacency, tmp_path)
    flip(tmp_path / "meaningless.npy", -1, bit=4)
    assert load(tmp_path) is None


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
    earlier = place_of(store.folder, {"nodes": 1, "edges": 1})
    shutil.copytree(place_of(store.folder, store.versions()), earlier)
    os.utime(earlier, (time.time() - 100, time.time() - 100))
    at_once, hour = timedelta(milliseconds=1), timedelta(hours=1)
    for young in (TableName.NODES, TableName.EDGES):
        drop_old(store, {name: hour if name is young else at_once for name in TableName})
        assert earlier.exists()
    drop_old(store, dict.fromkeys(TableName, at_once))
    assert not earlier.exists()


def test_an_altered_one_is_written_again_by_the_next_indexing(tmp_path):
    store = open_graph(published(tmp_path).lance)
    place = place_of(store.folder, store.versions())
    flip(place / "pages.npy", -4)
    assert load(place) is not None
    keep_adjacency(store)
    assert intact(place)
