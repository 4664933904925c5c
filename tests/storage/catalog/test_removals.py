import os
import time
from dataclasses import replace

import pytest

from storage.catalog.removals import Removal, first_removal, note_removals, noted_removals, removal_of
from tests.storage.worlds import corpus_in, graph, record

REPORT, PAPER = (record(graph(name)) for name in ("report", "paper"))


@pytest.fixture
def location(tmp_path):
    return corpus_in(tmp_path)


def test_removals_are_noted_until_the_purge(location):
    assert (noted_removals(location), first_removal(location)) == ((), None)
    for document in (REPORT, PAPER, REPORT):
        note_removals(location, [removal_of(document)])
    assert {removal.document_id for removal in noted_removals(location)} == {REPORT.id, PAPER.id}
    assert len(noted_removals(location)) == 2
    location.purge_due.unlink()
    assert noted_removals(location) == ()


def test_each_keeps_its_own_time_and_a_later_one_puts_none_off(location):
    before = time.time()
    note_removals(location, [removal_of(REPORT)])
    (first,) = noted_removals(location)
    assert before <= first.moment <= time.time()
    note_removals(location, [removal_of(PAPER)])
    note_removals(location, [removal_of(replace(REPORT, paths=("/elsewhere/copy.pdf",)))])
    noted = {removal.document_id: removal for removal in noted_removals(location)}
    assert noted[REPORT.id] == Removal(REPORT.id, first.moment, tuple(sorted(("/elsewhere/copy.pdf", *REPORT.paths))))
    assert noted[REPORT.id].names == {"copy.pdf", "report.pdf"}
    assert first_removal(location) == first.moment < noted[PAPER.id].moment


def test_the_names_are_those_that_answers_say_whatever_stands_in_them(location):
    note_removals(location, [removal_of(replace(REPORT, paths=("/in/a\nb\x85\u2028.pdf", "/in/\udcff.pdf")))])
    note_removals(location, [removal_of(replace(PAPER, paths=()))])
    noted = {removal.document_id: removal.names for removal in noted_removals(location)}
    assert noted == {REPORT.id: {"\\udcff.pdf", "a\nb\x85\u2028.pdf"}, PAPER.id: set()}


def test_what_an_older_program_noted_is_purged_too(location):
    location.folder.mkdir(parents=True)
    older = {"document_id": REPORT.id, "moment": 1.5, "names": ["a" * 64], "snapshot": 3, "copies": ["b" * 40]}
    location.purge_due.write_text(f"{older}\n".replace("'", '"'))
    assert noted_removals(location) == (Removal(REPORT.id, 1.5),)


@pytest.mark.parametrize("said", [b"", b"\xff\x00", b"report.pdf\n" + REPORT.id[:9].encode(), b'{"moment": 3}'])
def test_a_note_without_ids_names_no_document_and_waits_since_it_was_written(location, said):
    location.folder.mkdir(parents=True)
    location.purge_due.write_bytes(said)
    os.utime(location.purge_due, (5, 5))
    assert (noted_removals(location), first_removal(location)) == ((), 5.0)
    note_removals(location, [removal_of(REPORT)])
    assert [removal.document_id for removal in noted_removals(location)] == [REPORT.id]
