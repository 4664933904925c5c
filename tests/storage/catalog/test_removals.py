import time

import pytest

from storage.catalog.removals import Removals, note_removals, noted_removals
from tests.storage.worlds import corpus_in

REPORT, PAPER = "a" * 64, "b" * 64


@pytest.fixture
def location(tmp_path):
    return corpus_in(tmp_path)


def test_removals_are_noted_with_all_their_paths_and_a_later_one_does_not_change_since_when(location):
    assert noted_removals(location) == Removals(0.0, {})
    before = time.time()
    note_removals(location, {REPORT: ["/in/report.pdf"]})
    first = noted_removals(location)
    assert before <= first.since <= time.time()
    note_removals(location, {PAPER: (), REPORT: ["/in/a\nb\x85\u2028.pdf", "/in/\udcff.pdf"]})
    paths = {REPORT: ("/in/\\udcff.pdf", "/in/a\nb\x85\u2028.pdf", "/in/report.pdf"), PAPER: ()}
    assert noted_removals(location) == Removals(first.since, paths)


@pytest.mark.parametrize("said", [b"", b"\xff\x00", b'{"since": 3}'])
def test_a_damaged_note_names_no_document_and_is_due(location, said):
    location.folder.mkdir(parents=True)
    location.purge_due.write_bytes(said)
    assert noted_removals(location) == Removals(0.0, {})
    note_removals(location, {REPORT: ()})
    assert list(noted_removals(location).paths) == [REPORT]
