"""What a process of a cluster does: all steps up to artifacts, remembered, and an account that can be sent."""

import pickle
from dataclasses import replace

import pytest

from flows.cluster_job import do_cluster_job, read_apart
from storage.locations import corpora_folder
from storage.records.documents import DocumentState
from tasks.ingest.cluster_jobs import Account, WorkersError
from tasks.ingest.remembered import remembered_graph
from tasks.lineage.writing import working_at
from tasks.parsing.parse import ParseError
from tasks.settings.ingest import IngestSettings
from tests.flows.cluster_jobs import PAGE, cluster_job_for, place_of_run

STEPS = ["parse", "read-words", "structure", "analyze", "embed", "evolve"]


@pytest.fixture
def page(tmp_path):
    (tmp_path / "tides.html").write_text(PAGE)
    return tmp_path / "tides.html"


def test_the_graph_is_remembered_every_step_told_and_no_corpus_touched(home, page):
    cluster_job = cluster_job_for(page)
    account = do_cluster_job(cluster_job)
    assert isinstance(account, Account) and account.error is None
    assert [(record.step, record.cache_hit, record.run_id) for record in account.steps] == [(name, False, "run") for name in STEPS]
    assert not corpora_folder().exists()
    with working_at(place_of_run()):
        graph = remembered_graph(cluster_job.work)
    assert graph is not None and "harbour" in graph.nodes[-1].content
    again = read_apart(cluster_job)
    assert {record.step for record in again.steps if record.cache_hit} == {"parse", "read-words", "embed", "evolve"}


def test_where_a_model_describes_only_pages_and_pictures_are_read(home, page):
    cluster_job = cluster_job_for(page, IngestSettings.model_validate({"reading": {"analysis": {"by": "model"}}}))
    assert [record.step for record in read_apart(cluster_job).steps] == ["parse", "read-words"]


def test_a_document_that_cannot_be_read_is_a_failed_task_whose_account_can_be_sent(home, tmp_path):
    (tmp_path / "empty.pdf").write_bytes(b"")
    state = do_cluster_job(cluster_job_for(tmp_path / "empty.pdf"))
    assert state.is_failed() and "empty" in state.message
    account = pickle.loads(pickle.dumps(state.data))
    assert isinstance(account.error, ParseError) and account.error.state is DocumentState.FAILED
    assert str(account.error) == state.message and [bool(record.error) for record in account.steps] == [True]


def test_an_installation_that_would_make_something_else_is_refused(home, page):
    cluster_job = cluster_job_for(page)
    account = read_apart(replace(cluster_job, work=replace(cluster_job.work, version="0" * 64)))
    assert account.steps == () and isinstance(account.error, WorkersError) and "constraints.txt" in str(account.error)


def test_the_password_of_a_document_is_in_no_words_about_an_errand(page):
    cluster_job = cluster_job_for(page)
    locked = replace(cluster_job, work=replace(cluster_job.work, password="open sesame"))
    assert "sesame" not in repr(locked) and pickle.loads(pickle.dumps(locked)).work.password == "open sesame"
