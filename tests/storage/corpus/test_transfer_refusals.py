"""What lies in the way of a push or a pull is named, and what was there stays."""

import shutil

import pytest

from storage.artifacts import ArtifactDamagedError, ArtifactStore, hash_bytes
from storage.catalog.catalog import StoreVersionError
from storage.catalog.current import read_current, read_pull_address
from storage.corpus.doctor import examine
from storage.corpus.snapshot import UnknownCorpusError
from storage.corpus.transfer import file_list_path
from storage.errors import ExpectedError
from storage.graph.store import GraphDamagedError
from storage.object_client import StoreError
from tests.storage.transfer_worlds import add, alter, body, objects, pulling, pushing
from tests.storage.worlds import corpus_in, exports


def test_a_store_without_conditional_puts_is_refused_by_name(store, one):
    store.ignores_conditions = True
    for refusals in ({}, {"kept/papers/CONDITIONAL-PUTS": "NotImplemented"}):
        store.refusals = refusals
        with pytest.raises(
            StoreError, match=r"kept/papers.*\(NotImplemented\); take a store that knows conditional puts \(If-None"
        ):
            pushing(store, one)
    assert objects(store) <= {"CONDITIONAL-PUTS"}


def test_another_format_and_damage_are_refused_by_name(store, one, two):
    pushing(store, one)
    pulling(store)
    old, good = read_current(two), body(store, "CURRENT")
    for change, error, told in (
        (
            lambda said: said.update(format=3),
            ExpectedError,
            "has format 3, this FlowReader knows 2; take the FlowReader",
        ),
        (lambda said: said.clear(), ExpectedError, "CURRENT' is damaged"),
        (lambda said: said.update(machine=3), ExpectedError, "CURRENT' is damaged"),
        (lambda said: said["current"].update(schema_version=9), StoreVersionError, "has schema version 9"),
        (lambda said: said["files"][0].update(path="../x"), ExpectedError, "which is no file of a corpus"),
        (lambda said: said["files"][0].update(path=f"artifacts/{'0' * 64}"), ExpectedError, "which is no file"),
        (lambda said: said["files"][0].update(path="lance/a/../../x"), ExpectedError, "which is no file"),
    ):
        store.put("kept/papers/CURRENT", good)
        alter(store, change)
        with pytest.raises(error, match=told):
            pulling(store)
        assert read_current(two) == old and read_pull_address(two)
    alter(store, lambda said: said.update(format=3))
    with pytest.raises(ExpectedError, match="has format 3"):
        pushing(store, one)


def test_an_object_that_is_altered_or_gone_is_named(store, one, two):
    pushing(store, one)
    name = next(name for name in objects(store) if body(store, name) == b"a picture")
    store.put(f"kept/papers/{name}", b"a forgery")
    with pytest.raises(StoreError, match=rf"cannot read '.*{name}': it does not match its hash"):
        pulling(store)
    store.delete(f"kept/papers/{name}")
    with pytest.raises(ExpectedError, match=rf"{name}': .* does not exist .*; push the corpus to another prefix"):
        pulling(store)
    with pytest.raises(UnknownCorpusError):
        exports(two)
    assert not list(two.home.rglob(".partial-*"))


def test_a_pull_mends_what_a_disk_altered(store, one, two):
    pushing(store, one)
    pulling(store)
    (part,) = two.lance.glob("nodes.lance/data/*.lance")
    part.write_bytes(part.read_bytes()[:-64])
    (finding, *_) = examine(two)
    assert f"flowreader corpora pull {store.address('kept/papers')} --as papers" in finding.remedy
    assert pulling(store).files == 1 and examine(two) == []
    for damaged in (two.current, file_list_path(two, 2), two.snapshots / "2.duckdb"):
        damaged.write_bytes(b"{")
        pulling(store)
        assert exports(two) == exports(one)


def test_a_corpus_that_was_not_pulled_from_there_is_not_overwritten(store, one, two):
    pushing(store, one)
    add(two, "own")
    own = exports(two)
    with pytest.raises(ExpectedError, match="corpus 'papers' was made here and is not overwritten; take another name with --as"):
        pulling(store)
    assert exports(two) == own
    pulling(store, "other")
    pushing(store, one, "elsewhere")
    with pytest.raises(ExpectedError, match=r"'other' was pulled from s3://.*/kept/papers, not from s3://.*/elsewhere; .*--as"):
        pulling(store, "other", prefix="elsewhere")


@pytest.mark.torture
def test_a_corpus_that_was_made_anew_is_another_one(store, one, two, tmp_path):
    pushing(store, one)
    pulling(store)
    old = exports(two)
    anew = corpus_in(tmp_path / "anew", "papers")
    add(anew)
    pushing(store, anew)
    with pytest.raises(
        ExpectedError, match=r"was removed and made anew where it was pushed.*; run `flowreader corpora remove papers`"
    ):
        pulling(store)
    assert exports(two) == old
    add(anew, "note")
    pushing(store, anew)
    with pytest.raises(ExpectedError, match=r"holds snapshot \d of corpus 'papers', pushed by .*, which is later than snapshot 2"):
        pushing(store, one)
    other = corpus_in(anew.home, "other")
    add(other)
    with pytest.raises(ExpectedError, match="holds corpus 'papers', not 'other'; push to another prefix"):
        pushing(store, other)


def test_what_cannot_be_pushed_or_pulled_is_named(store, one, two):
    with pytest.raises(UnknownCorpusError):
        pushing(store, two)
    with pytest.raises(ExpectedError, match=r"nothing was pushed to 's3://.*/kept/papers'"):
        pulling(store)
    assert not two.folder.exists()
    picture = ArtifactStore(one.home / "artifacts").path(hash_bytes(b"a picture"))
    picture.write_bytes(b"torn")
    with pytest.raises(ArtifactDamagedError, match="flowreader doctor"):
        pushing(store, one)
    picture.unlink()
    with pytest.raises(ArtifactDamagedError):
        pushing(store, one)
    shutil.rmtree(one.lance / "nodes.lance" / "_versions")
    with pytest.raises(GraphDamagedError, match="is missing; run `flowreader doctor`"):
        pushing(store, one)
    assert "CURRENT" not in objects(store)
