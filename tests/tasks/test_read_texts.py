"""Texts are coded once, and every code of a snapshot means the same stem."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from storage.snapshot import open_for_reading
from tasks import read_texts as module
from tasks.algorithms.coded_texts import UNKNOWN, count_codes
from tasks.read_texts import ReadTexts, read_texts
from tests.asking_worlds import Passage, published, written


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    return published(tmp_path_factory.mktemp("world"), written("report", Passage("the tide turns")))


def test_a_text_is_coded_once_for_its_node_and_kind():
    known = ReadTexts()
    first = known.coded("content", ["a"], ["the tide turns"])
    assert first.words.tolist() == [3] and known.coded("content", ["a"], ["never looked at all"]).words.tolist() == [3]
    assert known.coded("paper", ["a"], ["steel"]).words.tolist() == [1]


def test_a_stem_has_a_code_from_the_first_text_that_holds_it():
    known = ReadTexts()
    assert known.code("tide") == UNKNOWN
    texts = known.coded("content", ["a", "b"], ["tides and tides", "steel"])
    assert count_codes(texts, [known.code("tide"), known.code("steel"), known.code("storm")]).tolist() == [[2, 0, 0], [0, 1, 0]]


def test_texts_that_others_keep_share_the_codes_and_are_not_kept():
    known = ReadTexts()
    texts = known.coded_once(["tides and tides"])
    assert count_codes(texts, [known.code("tide")]).tolist() == [[2]] and not known._texts


def test_no_more_texts_are_kept_than_the_bound_and_codes_outlive_them(monkeypatch):
    monkeypatch.setattr(module, "KEPT_TEXTS", 2)
    known = ReadTexts()
    names = ["a", "b", "c", "d"]
    texts = known.coded("content", names, names)
    assert texts.words.tolist() == [1] * 4 and len(known._texts) == 2
    assert known.coded("content", names, names).stems.tolist() == texts.stems.tolist()


def test_many_threads_give_a_stem_one_code():
    known, names = ReadTexts(), [f"word{number}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        rounds = list(pool.map(lambda turn: known.coded(f"kind {turn}", names, names), range(8)))
    assert all(texts.stems.tolist() == rounds[0].stems.tolist() for texts in rounds)
    assert len({known.code(name) for name in names}) == len(names)


def test_a_snapshot_has_one_vocabulary_whatever_else_is_remembered_and_whoever_comes_first(location):
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
