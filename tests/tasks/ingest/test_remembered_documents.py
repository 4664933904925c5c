"""What an earlier run finished is found by the names in the catalog alone; what is gone is left out."""

from dataclasses import replace

import pytest

from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.runs.log import RunLog
from tasks.ingest.remembered import is_remembered, remembered_graph, remembered_outcomes, work_of
from tasks.lineage.writing import working_at, workplace_of
from tests.program import CHEAP


@pytest.fixture
def place(in_library, tmp_path):
    return workplace_of("run", RunLog(tmp_path / "run.jsonl"))


@pytest.fixture
def records(in_library):
    with open_for_reading(corpus_location("small")) as snapshot:
        return snapshot.documents()


def test_every_published_document_is_remembered_under_its_version_alone(records, place):
    work = work_of(records[0])
    assert is_remembered(work, place.memo) and not is_remembered(replace(work, version="0" * 64), place.memo)
    with working_at(place):
        graph = remembered_graph(work)
        assert graph is not None and (graph.document_id, graph.version) == (records[0].id, records[0].version)
        assert remembered_graph(replace(work, version="0" * 64)) is None


def test_documents_come_a_few_at_a_time_and_what_is_forgotten_is_left_out(records, place):
    forgotten = [replace(records[0], version="0" * 64), *records[1:]]
    with working_at(place):
        batches = list(remembered_outcomes(forgotten, at_once=2))
    assert [len(batch) for batch in batches] == [1, 2]
    assert {outcome.record.id for batch in batches for outcome in batch} == {record.id for record in records[1:]}
    assert len(records) == len(CHEAP)
