import os

import pytest

from storage.artifacts import ArtifactStore
from storage.call_cache import CachedReply, CallCache, questions_owner
from storage.corpus import open_for_writing
from storage.current import snapshot_path
from storage.garbage import KEEP_UNNAMED_SECONDS, Garbage, collect
from storage.in_use import paths_in_use
from storage.memo import StepMemo
from tests.storage.worlds import EMBEDDER, corpus_in, document_id, graph, publish, record

KEY = document_id("key")


@pytest.fixture
def memo(tmp_path):
    return StepMemo(tmp_path / "steps", ArtifactStore(tmp_path / "artifacts"))


def writing(place):
    return open_for_writing(place, embedder=EMBEDDER, wait_seconds=0)


def finish(memo, name, *artifacts):
    memo.remember(document_id(name), "parse", KEY, {data: memo.artifacts.put(data.encode()) for data in artifacts})


def sweep(tmp_path, place, memo, keep_seconds=0):
    return collect(tmp_path / "corpora", memo, CallCache(tmp_path / "calls"), keep_seconds=keep_seconds, own=place)


def test_what_only_a_removed_document_needed_goes(tmp_path, memo):
    place, picture = corpus_in(tmp_path), memo.artifacts.put(b"picture")
    finish(memo, "report", "shared", "own")
    finish(memo, "letter", "shared")
    with writing(place) as corpus:
        publish(corpus, graph("report", picture=picture), graph("letter"))
        assert sweep(tmp_path, place, memo) == Garbage()
        corpus.publish(removed=[document_id("report")])
        assert sweep(tmp_path, place, memo) == Garbage(), "older snapshots still show it"
        corpus.tidy(keep_seconds=0)
        gone = sweep(tmp_path, place, memo)
    assert gone.documents == (document_id("report"),)
    assert set(gone.artifacts) == {picture, memo.artifacts.put(b"own")}
    assert gone.bytes_freed == len(b"picture" + b"own")
    assert memo.artifacts.intact(memo.artifacts.path(memo.artifacts.put(b"shared")).name)
    assert memo.lookup(document_id("letter"), "parse", KEY)


def test_what_another_corpus_shows_stays(tmp_path, memo):
    one, two = corpus_in(tmp_path, "one"), corpus_in(tmp_path, "two")
    report = graph("report", picture=memo.artifacts.put(b"picture"))
    finish(memo, "report", "own")
    for place in (one, two):
        with writing(place) as corpus:
            publish(corpus, report)
    with writing(one) as corpus:
        corpus.publish(removed=[report.document_id])
        corpus.tidy(keep_seconds=0)
        assert sweep(tmp_path, one, memo) == Garbage()


def test_nothing_goes_while_another_corpus_is_written(tmp_path, memo):
    one, two = corpus_in(tmp_path, "one"), corpus_in(tmp_path, "two")
    memo.artifacts.put(b"of an ingest that goes on")
    with writing(one), writing(two):
        assert sweep(tmp_path, one, memo) == Garbage(postponed="corpus 'two' is being written")


def test_young_notes_and_artifacts_stay(tmp_path, memo):
    place = corpus_in(tmp_path)
    finish(memo, "unfinished", "parsed")
    orphan = memo.artifacts.put(b"orphan")
    partial = memo.artifacts.path(orphan).with_name(".partial-x")
    partial.write_bytes(b"y")
    for path in (memo.artifacts.path(orphan), partial):
        os.utime(path, (1, 1))
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "a file").write_bytes(b"")
    with writing(place):
        gone = sweep(tmp_path, place, memo, keep_seconds=600)
    assert set(gone.artifacts) == {orphan, ".partial-x"}
    assert gone.documents == ()


def test_nothing_goes_where_a_snapshot_cannot_be_asked(tmp_path, memo):
    place = corpus_in(tmp_path)
    memo.artifacts.put(b"orphan")
    with writing(place) as corpus:
        snapshot_path(place, corpus.snapshot).write_bytes(b"x" * 9000)
        assert "cannot be opened" in sweep(tmp_path, place, memo).postponed
    assert list(memo.artifacts.files())


def test_replies_that_belong_to_no_corpus_go_after_a_month(tmp_path, memo):
    place, calls = corpus_in(tmp_path), CallCache(tmp_path / "calls")
    known, unknown, young = document_id("report"), document_id("gone"), document_id("unfinished")
    questions, others = questions_owner(place.name), questions_owner("removed")
    for subject in (known, unknown, young, questions, others):
        calls.keep(subject, KEY, CachedReply("{}", "model", 1, 1))
        if subject != young:
            os.utime(calls.path(subject), (0, calls.path(subject).stat().st_mtime - KEEP_UNNAMED_SECONDS - 60))
    with writing(place) as corpus:
        publish(corpus, graph("report"))
        sweep(tmp_path, place, memo)
    assert set(calls.subjects()) == {known, young, questions}


def test_what_any_snapshot_shows_is_in_use(tmp_path):
    one, two = corpus_in(tmp_path, "one"), corpus_in(tmp_path, "two")
    for place, name in ((one, "report"), (two, "letter")):
        with writing(place) as corpus:
            publish(corpus, graph(name))
    with writing(one) as corpus:
        corpus.publish(removed=[document_id("report")])
    assert paths_in_use([one, two]) == {path for name in ("report", "letter") for path in record(graph(name)).paths}
