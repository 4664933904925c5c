from dataclasses import replace

import pytest

from storage.artifacts import ArtifactStore
from storage.memo import StepMemo, asked_steps
from tests.storage.worlds import corpus_in, document_id

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
    kept = asked_steps(corpus_in(tmp_path), 7)
    kept.remember(DOCUMENT, "answer", KEY, {"0": kept.artifacts.put(b"answer")})
    assert kept.artifacts.read(kept.lookup(DOCUMENT, "answer", KEY)["0"]) == b"answer"
    assert asked_steps(corpus_in(tmp_path), 8).lookup(DOCUMENT, "answer", KEY) is None


def test_a_spare_memory_that_cannot_be_read_or_written_has_nothing(tmp_path):
    memo = asked_steps(corpus_in(tmp_path), 1)
    with memo.sparing():
        memo.remember(DOCUMENT, "step", KEY, {"0": memo.artifacts.put(b"kept")})
    (artifact,) = (path for path in memo.artifacts.folder.rglob("*") if path.is_file())
    assert memo.lookup(DOCUMENT, "step", KEY)
    artifact.unlink()
    artifact.mkdir()
    assert memo.lookup(DOCUMENT, "step", KEY) is None
    with pytest.raises(IsADirectoryError):
        replace(memo, spare=False).lookup(DOCUMENT, "step", KEY)
