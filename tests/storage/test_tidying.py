import threading
import time

import pytest

from storage.corpus import open_for_writing
from storage.current import snapshot_numbers
from storage.doctor import examine
from storage.snapshot import open_for_reading
from storage.tidying import wait_for_readers
from tests.storage.worlds import EMBEDDER, corpus_in, graph, memo_in, publish

REPORT = graph("report")


@pytest.fixture
def place(tmp_path):
    return corpus_in(tmp_path)


def writing(place):
    return open_for_writing(place, embedder=EMBEDDER, wait_seconds=0)


def test_young_snapshots_stay(place):
    with writing(place) as corpus:
        publish(corpus, REPORT)
        report = corpus.tidy(keep_seconds=3600)
        assert report.dropped == ()
        assert set(report.kept) >= {1}


def test_old_snapshots_and_table_versions_go_and_the_published_stays(place):
    with writing(place) as corpus:
        for settings in "abc":
            publish(corpus, graph("report", settings=settings))
        corpus.tidy(keep_seconds=0)
        assert all(len(table.list_versions()) == 1 for table in corpus._graph.tables.values())
    assert len(snapshot_numbers(place)) == 1
    with open_for_reading(place) as snapshot:
        assert snapshot.nodes(REPORT.document_id) == list(graph("report", settings="c").nodes)
    assert examine(place, memo_in(place.folder)) == []


def test_a_pinned_snapshot_stays_readable_through_clean_up(place):
    with writing(place) as corpus:
        publish(corpus, REPORT)
        corpus.index()
        with open_for_reading(place) as reader:
            publish(corpus, graph("report", settings="b"))
            corpus.publish(removed=[REPORT.document_id])
            report = corpus.tidy(keep_seconds=0)
            assert reader.number in report.kept
            assert reader.nodes(REPORT.document_id) == list(REPORT.nodes)
        assert corpus.tidy(keep_seconds=0).kept == ()


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
        assert corpus.purge(wait_seconds=0).kept == ()
    assert words_in(place.folder, b"zanzibar") == []
    assert words_in(place.folder, secret.nodes[3].id.encode()) == []
    assert examine(place, memo_in(place.folder)) == []
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


def test_clean_up_can_wait_for_readers(place):
    ready = threading.Event()

    def read():
        with open_for_reading(place):
            ready.set()
            time.sleep(0.5)

    with writing(place) as corpus:
        publish(corpus, REPORT)
        reader = threading.Thread(target=read)
        reader.start()
        ready.wait()
        corpus.publish(removed=[REPORT.document_id])
        assert corpus.tidy(keep_seconds=0, wait_seconds=30).kept == ()
        reader.join()


def test_a_snapshot_whose_reader_takes_too_long_stays_and_the_others_go(place):
    with writing(place) as corpus:
        publish(corpus, REPORT)
    with open_for_reading(place) as snapshot:
        wait_for_readers(place, wait_seconds=0.3)
        assert snapshot_numbers(place) == [snapshot.number]
    wait_for_readers(place, wait_seconds=0)
    assert snapshot_numbers(place) == []
