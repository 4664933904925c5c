"""Texts are coded once, and counted as they stand."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from storage.corpus.snapshot import open_for_reading
from tasks.algorithms.text.counting import count_stems
from tasks.asking import relevance as module
from tasks.asking.relevance import ReadTexts, read_texts
from tests.asking_worlds import Passage, published, written


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    return published(tmp_path_factory.mktemp("world"), written("report", Passage("the tide turns")))


def test_a_text_is_coded_once_for_its_node_and_kind():
    known = ReadTexts()
    first = known.coded("content", ["a"], ["the tide turns"])
    assert first.words.tolist() == [3] and known.coded("content", ["a"], ["never looked at all"]).words.tolist() == [3]
    assert known.coded("paper", ["a"], ["steel"]).words.tolist() == [1]


def test_counts_are_of_the_texts_whatever_was_read_before():
    known = ReadTexts()
    texts = known.coded("content", ["a", "b"], ["tides and tides", "steel"])
    assert count_stems(texts, ["tide", "steel", "storm"]).tolist() == [[2, 0, 0], [0, 1, 0]]
    later = known.coded("content", ["b", "c", "b"], ["steel", "a storm of tides", "steel"])
    assert count_stems(later, ["tide", "steel", "storm"]).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_texts_that_others_keep_are_not_kept():
    known = ReadTexts()
    assert count_stems(known.coded_once(["tides and tides"]), ["tide"]).tolist() == [[2]] and not known._texts


def test_no_more_texts_are_kept_than_the_bound(monkeypatch):
    monkeypatch.setattr(module, "KEPT_TEXTS", 2)
    known = ReadTexts()
    names = ["a", "b", "c", "d"]
    for _ in range(2):
        texts = known.coded("content", names, names)
        assert count_stems(texts, names).tolist() == np.eye(4).tolist() and len(known._texts) == 2


def test_a_vocabulary_that_has_grown_too_large_is_begun_anew_and_what_was_coded_by_it_still_counts(monkeypatch):
    monkeypatch.setattr(module, "KEPT_CHUNKS", 3)
    known = ReadTexts()
    before = known.coded("content", ["a"], ["one two steel four"])
    after = known.coded("content", ["a"], ["tides of steel"])
    assert [count_stems(texts, ["steel", "tide"]).tolist() for texts in (before, after)] == [[[1, 0]], [[1, 1]]]


def test_many_threads_count_alike():
    known, names = ReadTexts(), [f"word{number}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        rounds = list(pool.map(lambda turn: known.coded(f"kind {turn}", names, names), range(8)))
    assert all(count_stems(texts, names).tolist() == np.eye(200).tolist() for texts in rounds)


def test_a_snapshot_has_one_vocabulary_whatever_else_is_remembered_and_whichever_comes_first(location):
    with open_for_reading(location) as snapshot, open_for_reading(location) as other:
        gate = threading.Barrier(8)

        def ask(_turn):
            gate.wait()
            return read_texts(snapshot)

        with ThreadPoolExecutor(8) as pool:
            found = {id(each) for each in pool.map(ask, range(8))}
        for number in range(50):
            snapshot.view.remembered(number, object)
        assert found == {id(read_texts(snapshot))}
        assert read_texts(other) is not read_texts(snapshot)
