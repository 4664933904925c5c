import fcntl
import os
import time

import pytest

from storage.catalog.current import snapshot_numbers, snapshot_path
from storage.cleaning import garbage
from storage.cleaning.garbage import KEEP_UNNAMED_SECONDS, AgedOut, Garbage, age_out, collect, delete_files, is_older
from storage.cleaning.snapshots import without_readers
from storage.corpus.doctor import examine
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location, mirrors_folder, reports_folder
from storage.lock import lock_file, try_lock
from storage.memo import home_memo
from storage.object_copies import copies_lock
from storage.runs.answer_json import answer_json
from storage.runs.log import ASKING, RunLog
from storage.runs.replies import CachedReply, CallCache, questions_owner
from tests.storage.answer_worlds import answer
from tests.storage.worlds import corpus_in, document_id, graph, publish, writing

KEY = document_id("key")


@pytest.fixture
def memo(tmp_path):
    return home_memo(tmp_path)


def finish(memo, name, *artifacts):
    memo.remember(document_id(name), "parse", KEY, {data: memo.artifacts.put(data.encode()) for data in artifacts})


def test_nobody_opens_a_snapshot_while_its_corpus_is_removed(tmp_path):
    place = corpus_in(tmp_path)
    with writing(place) as corpus:
        publish(corpus, graph("report"))
    (*_, newest) = snapshot_numbers(place)
    with lock_file(snapshot_path(place, newest)) as late:
        with without_readers(place, wait_seconds=1.0):
            assert not try_lock(late, fcntl.LOCK_SH)
        assert try_lock(late, fcntl.LOCK_SH)


def test_what_is_shown_is_asked_while_no_ingest_reads_copies(tmp_path, monkeypatch):
    place, looked = corpus_in(tmp_path), []
    mirrors_folder(place.home).mkdir(parents=True)

    def paths_in_use(_locations):
        with copies_lock(place.home) as another:
            looked.append(try_lock(another, fcntl.LOCK_SH))
        return set()

    monkeypatch.setattr(garbage, "paths_in_use", paths_in_use)
    with writing(place) as corpus:
        publish(corpus, graph("report"))
        collect(place, keep_seconds=0)
    assert looked == [False]


def test_what_only_a_removed_document_needed_goes(tmp_path, memo):
    place, picture = corpus_in(tmp_path), memo.artifacts.put(b"picture")
    finish(memo, "report", "shared", "own")
    finish(memo, "letter", "shared")
    with writing(place) as corpus:
        publish(corpus, graph("report", picture=picture), graph("letter"))
        assert collect(place, keep_seconds=0) == Garbage()
        corpus.publish(removed=[document_id("report")])
        assert collect(place, keep_seconds=0) == Garbage(), "older snapshots still show it"
        corpus.tidy(keep_seconds=0)
        gone = collect(place, keep_seconds=0)
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
        assert collect(one, keep_seconds=0) == Garbage()


def test_nothing_goes_while_another_corpus_is_written(tmp_path, memo):
    one, two = corpus_in(tmp_path, "one"), corpus_in(tmp_path, "two")
    memo.artifacts.put(b"of an ingest that goes on")
    with writing(one), writing(two):
        assert collect(one, keep_seconds=0) == Garbage(postponed="corpus 'two' is being written")


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
        gone = collect(place, keep_seconds=600)
    assert set(gone.artifacts) == {orphan, ".partial-x"}
    assert gone.documents == ()


def test_nothing_goes_where_a_snapshot_cannot_be_asked(tmp_path, memo):
    place = corpus_in(tmp_path)
    memo.artifacts.put(b"orphan")
    with writing(place) as corpus:
        snapshot_path(place, corpus.snapshot).write_bytes(b"x" * 9000)
        assert "cannot be opened" in collect(place, keep_seconds=0).postponed
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
        collect(place, keep_seconds=0)
    assert set(calls.subjects()) == {known, young, questions}


REPORT = graph("report")


def test_young_snapshots_stay(place):
    with writing(place) as corpus:
        publish(corpus, REPORT)
        before = snapshot_numbers(place)
        kept = corpus.tidy(keep_seconds=3600)
        assert 1 in kept and set(before) <= set(snapshot_numbers(place))


def test_old_snapshots_and_table_versions_go_and_the_published_stays(place):
    with writing(place) as corpus:
        for settings in "abc":
            publish(corpus, graph("report", settings=settings))
        corpus.tidy(keep_seconds=0)
        assert all(len(table.list_versions()) == 1 for table in corpus.graph_store.tables.values())
    assert len(snapshot_numbers(place)) == 1
    with open_for_reading(place) as snapshot:
        assert snapshot.nodes(REPORT.document_id) == list(graph("report", settings="c").nodes)
    assert examine(place) == []


def test_a_pinned_snapshot_stays_readable_through_clean_up(place):
    with writing(place) as corpus:
        publish(corpus, REPORT)
        corpus.index()
        with open_for_reading(place) as reader:
            publish(corpus, graph("report", settings="b"))
            corpus.publish(removed=[REPORT.document_id])
            assert reader.number in corpus.tidy(keep_seconds=0)
            assert reader.nodes(REPORT.document_id) == list(REPORT.nodes)
        assert corpus.tidy(keep_seconds=0) == ()


def words_in(folder, word):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if word in path.read_bytes()]


def test_a_purge_leaves_no_word_of_a_removed_document_in_any_file(place):
    kept = [graph(f"kept {number}", nodes=20) for number in range(8)]
    secret = graph("zanzibar")
    with writing(place) as corpus:
        publish(corpus, *kept)
        corpus.index()
        publish(corpus, secret)
        corpus.index()
        corpus.publish(removed=[secret.document_id])
        assert words_in(place.folder, b"zanzibar")
        assert corpus.purge(wait_seconds=0) == ()
    assert words_in(place.folder, b"zanzibar") == []
    assert words_in(place.folder, secret.nodes[3].id.encode()) == []
    assert examine(place) == []
    with open_for_reading(place) as snapshot:
        assert all(snapshot.nodes(each.document_id) == list(each.nodes) for each in kept)
    with writing(place) as corpus:
        assert corpus.messages == ()


def test_an_empty_corpus_can_be_purged(place):
    with writing(place) as corpus:
        secret = graph("zanzibar")
        publish(corpus, secret)
        corpus.publish(removed=[secret.document_id])
        corpus.purge(wait_seconds=0)
    assert words_in(place.folder, b"zanzibar") == []


def test_words_of_pictures_that_are_gone_are_forgotten_and_the_others_stay(tmp_path, memo):
    place, words = corpus_in(tmp_path), tmp_path / "words"
    finish(memo, "report", "kept")
    names = [memo.artifacts.put(word) for word in (b"kept", b"gone")]
    for name in names:
        (words / name[:2] / name).mkdir(parents=True)
        (words / name[:2] / name / "engine.json").write_text("words")
    memo.artifacts.path(names[1]).unlink()
    with writing(place) as corpus:
        publish(corpus, graph("report"))
        collect(place, keep_seconds=0)
    assert [path.parent.name for path in words.rglob("*.json")] == names[:1]


def test_files_that_go_meanwhile_are_neither_old_nor_deleted_and_stop_nothing(tmp_path):
    paths = [tmp_path / name for name in ("went", "there")]
    paths[1].write_bytes(b"words")
    assert [is_older(path, time.time() + 60) for path in paths] == [False, True]
    assert not is_older(paths[1], 0)
    assert delete_files(paths) == (("there",), 5) and delete_files(paths) == ((), 0)


def left(path, *, old=True):
    """A file of five bytes, a month and an hour old by default."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"words")
    if old:
        os.utime(path, (0, time.time() - KEEP_UNNAMED_SECONDS - 3600))
    return path


@pytest.fixture
def kept(home):
    """An answer that the ledger of a corpus names."""
    given = answer("report")
    RunLog(corpus_location("small").runs / f"{ASKING}1.jsonl").answer(answer_json(given))
    return given.answer_id


def test_what_is_old_and_unused_goes_and_is_counted(kept):
    stays = [left(reports_folder() / name, old=False) for name in ("a.html", "b")]
    stays.append(left(reports_folder() / f"{kept}.html"))
    page = left(reports_folder() / f"{'f' * 32}.html")
    result, partial = left(reports_folder() / "0b7c0f6a"), left(reports_folder() / ".partial-x")
    assert age_out() == AgedOut(reports=1, results=2, bytes_freed=15)
    assert not any(path.exists() for path in (page, result, partial)) and age_out() == AgedOut()
    assert all(path.exists() for path in stays)
