import os
import time
from dataclasses import replace

import pytest

from storage.answer_records import NamedDocument
from storage.mirrored_copies import copy_sign
from storage.removals import Removal, first_removal, hash_name, is_gone, note_removals, noted_removals, removal_of
from tests.storage.worlds import corpus_in, document_id, graph, record

REPORT, PAPER = (record(graph(name)) for name in ("report", "paper"))
EARLIER = NamedDocument(document_id("report before"), "report.pdf")
SHOWN = ("/elsewhere/copy.pdf", *REPORT.paths)
NAMES = tuple(sorted(map(hash_name, ("copy.pdf", "report.pdf"))))
REMOVED = Removal(REPORT.id, 1.5, NAMES, 7)


@pytest.fixture
def location(tmp_path):
    return corpus_in(tmp_path)


def test_removals_are_noted_until_the_purge(location):
    assert (noted_removals(location), first_removal(location)) == ((), None)
    for document in (REPORT, PAPER, REPORT):
        note_removals(location, [removal_of(document, snapshot=3)])
    assert {removal.document_id for removal in noted_removals(location)} == {REPORT.id, PAPER.id}
    assert len(noted_removals(location)) == 2
    location.purge_due.unlink()
    assert noted_removals(location) == ()


def test_each_keeps_its_own_time_and_a_later_one_puts_none_off(location):
    before = time.time()
    note_removals(location, [removal_of(REPORT, snapshot=3)])
    (first,) = noted_removals(location)
    assert before <= first.moment <= time.time() and first.snapshot == 3
    note_removals(location, [removal_of(PAPER, snapshot=4)])
    note_removals(location, [removal_of(replace(REPORT, paths=SHOWN[:1]), snapshot=5)])
    noted = {removal.document_id: removal for removal in noted_removals(location)}
    assert noted[REPORT.id] == Removal(REPORT.id, first.moment, NAMES, 5, tuple(sorted(map(copy_sign, SHOWN))))
    assert first_removal(location) == first.moment < noted[PAPER.id].moment


def test_the_names_are_those_that_answers_say_whatever_stands_in_them(location):
    note_removals(location, [removal_of(replace(REPORT, paths=("/in/a\nb\x85\u2028.pdf", "/in/\udcff.pdf")), snapshot=3)])
    note_removals(location, [removal_of(replace(PAPER, paths=()), snapshot=3)])
    noted = {removal.document_id: removal.names for removal in noted_removals(location)}
    assert noted == {REPORT.id: tuple(sorted(map(hash_name, ("\\udcff.pdf", "a\nb\x85\u2028.pdf")))), PAPER.id: ()}


def test_the_bare_ids_of_an_older_program_have_the_time_of_the_file(location):
    location.folder.mkdir(parents=True)
    location.purge_due.write_text(f"{REPORT.id}\n")
    os.utime(location.purge_due, (5, 5))
    assert noted_removals(location) == (Removal(REPORT.id, 5.0),)
    note_removals(location, [removal_of(PAPER, snapshot=3)])
    assert first_removal(location) == 5.0


@pytest.mark.parametrize("said", [b"", b"\xff\x00", b"report.pdf\n" + REPORT.id[:9].encode(), b'{"moment": 3}'])
def test_a_note_without_ids_names_no_document_and_waits_since_it_was_written(location, said):
    location.folder.mkdir(parents=True)
    location.purge_due.write_bytes(said)
    os.utime(location.purge_due, (5, 5))
    assert (noted_removals(location), first_removal(location)) == ((), 5.0)
    note_removals(location, [removal_of(REPORT, snapshot=3)])
    assert [removal.document_id for removal in noted_removals(location)] == [REPORT.id]


@pytest.mark.parametrize(
    ("document", "snapshot", "present", "gone"),
    [
        (NamedDocument(REPORT.id, "report.pdf"), 9, set(), True),
        (NamedDocument(REPORT.id, "report.pdf"), 7, {REPORT.id}, False),
        (EARLIER, 7, set(), True),
        (replace(EARLIER, name="copy.pdf"), 7, set(), True),
        (replace(EARLIER, name="other.pdf"), 7, set(), False),
        (EARLIER, 7, {EARLIER.id}, False),
        (EARLIER, 7, {REPORT.id}, False),
        (EARLIER, 8, set(), False),
    ],
)
def test_an_earlier_content_goes_with_its_file_unless_it_is_there_or_the_file_is_back_or_is_a_later_one(
    document, snapshot, present, gone
):
    assert is_gone(document, snapshot=snapshot, removals=(REMOVED,), present=present) is gone
    assert not is_gone(document, snapshot=snapshot, removals=(), present=present)
