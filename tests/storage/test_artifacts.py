"""Artifacts and steps that are kept: what is damaged is refused and made again."""

import os
from dataclasses import replace

import pytest

from storage.artifacts import ArtifactDamagedError, ArtifactStore, hash_bytes, home_artifacts, write_durably
from storage.memo import StepMemo, question_memo
from tests.storage.worlds import corpus_in, document_id


def damaged(store, name, how):
    path = store.path(name)
    data = bytearray(path.read_bytes())
    if how == "torn":
        data = data[: len(data) // 2]
    elif how == "zero":
        data = bytearray()
    else:
        data[3] ^= 1
    path.write_bytes(data)


def test_what_is_put_is_read(tmp_path):
    store = ArtifactStore(tmp_path)
    name = store.put(b"a picture")
    assert (name, store.read(name), store.intact(name)) == (hash_bytes(b"a picture"), b"a picture", True)


@pytest.mark.parametrize("how", ["torn", "zero", "flipped"])
def test_a_damaged_artifact_is_refused_and_put_again(tmp_path, how):
    store = ArtifactStore(tmp_path)
    name = store.put(b"a picture")
    damaged(store, name, how)
    assert not store.intact(name)
    with pytest.raises(ArtifactDamagedError, match="does not match its hash"):
        store.read(name)
    assert store.put(b"a picture") == name
    assert store.read(name) == b"a picture"


def test_an_artifact_put_again_is_young_again(tmp_path):
    store = ArtifactStore(tmp_path)
    path = store.path(store.put(b"x"))
    os.utime(path, (1, 1))
    inode = path.stat().st_ino
    store.put(b"x")
    assert path.stat().st_mtime > 1
    assert path.stat().st_ino == inode


def test_a_write_that_fails_leaves_the_old_bytes_and_no_partial_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_durably(path, b"old")
    with pytest.raises(TypeError):
        write_durably(path, "no bytes")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


def test_an_artifact_that_is_nowhere_is_missing(home):
    with pytest.raises(ArtifactDamagedError, match="is missing"):
        home_artifacts().read("0" * 64)
    assert home_artifacts().folder == home / "artifacts"


DOCUMENT, KEY = document_id("report"), document_id("key")


@pytest.fixture
def memo(tmp_path):
    return StepMemo(tmp_path / "steps", ArtifactStore(tmp_path / "artifacts"))


def test_a_finished_step_is_remembered(memo):
    outputs = {"parsed": memo.artifacts.put(b"parsed")}
    assert memo.lookup(DOCUMENT, "parse", KEY) is None
    memo.remember(DOCUMENT, "parse", KEY, outputs, [memo.artifacts.put(b"picture")])
    assert memo.lookup(DOCUMENT, "parse", KEY) == outputs
    assert memo.lookup(DOCUMENT, "parse", DOCUMENT) is None
    assert memo.documents() == [DOCUMENT]
    assert memo.artifacts_of(DOCUMENT) == {memo.artifacts.put(b"parsed"), memo.artifacts.put(b"picture")}


@pytest.mark.parametrize("which", [b"parsed", b"picture"])
def test_a_step_whose_artifact_is_damaged_is_done_again(memo, which):
    memo.remember(DOCUMENT, "parse", KEY, {"parsed": memo.artifacts.put(b"parsed")}, [memo.artifacts.put(b"picture")])
    memo.artifacts.path(memo.artifacts.put(which)).write_bytes(b"")
    assert memo.lookup(DOCUMENT, "parse", KEY) is None


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]", b'{"outputs": [], "within": []}', b'{"outputs": {"a": "b"', b"\xff"])
def test_a_damaged_note_means_the_step_is_done_again(memo, damage):
    memo.remember(DOCUMENT, "parse", KEY, {"parsed": memo.artifacts.put(b"parsed")})
    memo.path(DOCUMENT, "parse", KEY).write_bytes(damage)
    assert memo.lookup(DOCUMENT, "parse", KEY) is None
    assert memo.artifacts_of(DOCUMENT) == set()


def test_a_forgotten_step_leaves_those_of_the_others(memo):
    for step in ("embed", "embed-round", "evolve"):
        memo.remember(DOCUMENT, step, KEY, {"0": memo.artifacts.put(step.encode())})
    memo.forget_step(DOCUMENT, "embed-round")
    memo.forget_step(document_id("other"), "embed-round")
    assert memo.artifacts_of(DOCUMENT) == {memo.artifacts.put(b"embed"), memo.artifacts.put(b"evolve")}


def test_a_forgotten_document_has_no_notes(memo):
    memo.remember(DOCUMENT, "parse", KEY, {})
    memo.forget(DOCUMENT)
    memo.forget(DOCUMENT)
    assert memo.documents() == []


def test_what_questions_of_a_snapshot_made_is_written_without_waiting_for_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("storage.artifacts.os.fsync", None)
    kept = question_memo(corpus_in(tmp_path), 7)
    kept.remember(DOCUMENT, "answer", KEY, {"0": kept.artifacts.put(b"answer")})
    assert kept.artifacts.read(kept.lookup(DOCUMENT, "answer", KEY)["0"]) == b"answer"
    assert question_memo(corpus_in(tmp_path), 8).lookup(DOCUMENT, "answer", KEY) is None


def test_a_spare_memory_that_cannot_be_read_or_written_has_nothing(tmp_path):
    memo = question_memo(corpus_in(tmp_path), 1)
    with memo.sparing():
        memo.remember(DOCUMENT, "step", KEY, {"0": memo.artifacts.put(b"kept")})
    (artifact,) = (path for path in memo.artifacts.folder.rglob("*") if path.is_file())
    assert memo.lookup(DOCUMENT, "step", KEY)
    artifact.unlink()
    artifact.mkdir()
    assert memo.lookup(DOCUMENT, "step", KEY) is None
    with pytest.raises(IsADirectoryError):
        replace(memo, spare=False).lookup(DOCUMENT, "step", KEY)
