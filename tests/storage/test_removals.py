import pytest

from storage.removals import note_removal, noted_removals
from tests.storage.worlds import corpus_in, document_id

FIRST, SECOND = document_id("report"), document_id("paper")


@pytest.fixture
def location(tmp_path):
    return corpus_in(tmp_path)


def test_removals_are_noted_until_the_purge(location):
    assert noted_removals(location) == set()
    for document in (FIRST, SECOND, FIRST):
        note_removal(location, document)
    assert noted_removals(location) == {FIRST, SECOND}
    location.purge_due.unlink()
    assert noted_removals(location) == set()


@pytest.mark.parametrize("said", [b"", b"\xff\x00", b"report.pdf\n" + FIRST[:9].encode()])
def test_a_note_without_ids_names_no_document(location, said):
    location.folder.mkdir(parents=True)
    location.purge_due.write_bytes(said)
    assert noted_removals(location) == set()
    note_removal(location, FIRST)
    assert noted_removals(location) == {FIRST}
