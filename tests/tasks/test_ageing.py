"""What is old and nobody's goes, counted; what is young, or an answer's that a corpus keeps, stays."""

import os
import time

import pytest

from storage.answer_json import answer_json
from storage.garbage import KEEP_UNNAMED_SECONDS
from storage.locations import called_with_folder, corpus_location, reports_folder
from storage.runs import ASKING, RunLog
from tasks.ageing import AgedOut, age_out
from tests.storage.answer_worlds import answer


def left(path, *, old=True):
    """A file of five bytes, a month and an hour old unless said otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"words")
    if old:
        os.utime(path, (0, time.time() - KEEP_UNNAMED_SECONDS - 3600))
    return path


@pytest.fixture
def kept(home):
    """An answer that the ledger of a corpus names."""
    told = answer("report")
    RunLog(corpus_location("small").runs / f"{ASKING}1.jsonl").answer(answer_json(told))
    return told.answer_id


def test_an_empty_home_has_nothing_to_lose(home):
    assert age_out() == AgedOut()


def test_what_is_old_and_nobodys_goes_and_is_counted(kept):
    page = left(reports_folder() / f"{'f' * 32}.html")
    result, partial = left(reports_folder() / "0b7c0f6a"), left(reports_folder() / ".partial-x")
    called = left(called_with_folder() / "5c1b")
    assert age_out() == AgedOut(reports=1, results=2, called_with=1, bytes_freed=20)
    assert not any(path.exists() for path in (page, result, partial, called)) and age_out() == AgedOut()


def test_the_page_of_an_answer_that_a_corpus_keeps_stays_however_old(kept):
    page = left(reports_folder() / f"{kept}.html")
    assert age_out() == AgedOut() and page.exists()


def test_what_is_young_stays(kept):
    young = [left(folder / name, old=False) for folder in (reports_folder(), called_with_folder()) for name in ("a.html", "b")]
    assert age_out() == AgedOut() and all(path.exists() for path in young)


def test_what_goes_meanwhile_is_not_counted_and_stops_nothing(kept, monkeypatch):
    page, result = left(reports_folder() / f"{'f' * 32}.html"), left(reports_folder() / "0b7c0f6a")

    def goes_meanwhile(corpus):
        page.unlink()
        return set()

    monkeypatch.setattr("tasks.ageing.answer_ids", goes_meanwhile)
    assert age_out() == AgedOut(results=1, bytes_freed=5) and not result.exists()
