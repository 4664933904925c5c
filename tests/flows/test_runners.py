"""A cluster: which one computes, what its processes do and send back, and the error for one that cannot be reached."""

import asyncio
import importlib.util
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from prefect.states import Failed

from flows.cluster import Workers, do_cluster_job, read_apart, require_runner
from storage.locations import corpora_folder, corpus_location
from storage.records.documents import DocumentState, EmbedderIdentity
from storage.runs.log import RunLog
from storage.runs.views import read_run
from tasks.ingest.cluster_jobs import Account, ClusterJob, WorkersError
from tasks.ingest.remembered import recall_graph
from tasks.ingest.request import IngestRequest, look, survey
from tasks.lineage.writing import working_at, workplace_of
from tasks.models.embedding.embedder import default_identity
from tasks.parsing.parse import ParseError
from tasks.progress import StoppedError, forget_stop, request_stop
from tasks.settings.ingest import IngestSettings, WorkSettings

PAGE = "<h1>Tides</h1><p>The tide turns twice a day and never asks the harbour master why.</p>"


def planned(path, settings: IngestSettings | None = None, embedder: EmbedderIdentity | None = None):
    """The work that an ingest of one file would do."""
    request = IngestRequest(paths=(str(path),), settings=settings or IngestSettings())
    (work,) = survey(request, look(request), (), embedder or default_identity(), "").plan.work
    return work


def cluster_job_for(path, settings: IngestSettings | None = None) -> ClusterJob:
    """The job that reads one file."""
    settings = settings or IngestSettings()
    return ClusterJob(planned(path, settings), settings.model_dump_json(), default_identity(), "", "run")


def place_of_run():
    """Where the run that sent it works."""
    return workplace_of("run", RunLog(corpus_location("default").runs / "run.jsonl"))


REFUSED = Account((), ParseError(DocumentState.NEEDS_PASSWORD, "it is locked"))
BUSY = Account((), OSError(11, "try again"))


class Future:
    """As much of a Prefect future as is used, of what a thread returns."""

    def __init__(self, future):
        self.future, self.add_done_callback = future, future.add_done_callback

    def result(self, raise_on_failure):
        told = self.future.result()
        return told.data if hasattr(told, "is_failed") else told


class Cluster:
    """A cluster of one thread; the first jobs get the accounts that are given, the others are done."""

    def __init__(self, *accounts):
        self.accounts, self.threads, self.names = list(accounts), ThreadPoolExecutor(1), []

    def submit(self, task, parameters):
        self.names.append(task.task_run_name)
        told = self.accounts.pop(0) if self.accounts else None
        if callable(told):
            return Future(self.threads.submit(told))
        if told is not None:
            return Future(self.threads.submit(lambda: Failed(data=told) if told.error else told))
        return Future(self.threads.submit(task.fn, **parameters))


@pytest.fixture
def work(home, tmp_path):
    (tmp_path / "tides{1}.html").write_text(PAGE)
    return planned(tmp_path / "tides{1}.html")


def read(cluster, work):
    workers = Workers(cluster, IngestSettings(), default_identity(), "", place_of_run())
    try:
        asyncio.run(workers.read(work))
    finally:
        cluster.threads.shutdown()
    return workers.place


def test_what_a_process_did_is_in_the_log_of_the_run(work):
    cluster = Cluster()
    place = read(cluster, work)
    assert [record.step for record in read_run(place.log.path).steps()][-1] == "evolve"
    assert cluster.names == ["read tides(1).html"]


@pytest.mark.parametrize(("accounts", "error"), [((REFUSED,), ParseError), ((BUSY,), OSError)])
def test_what_ended_the_reading_there_is_raised_here(work, accounts, error):
    with pytest.raises(error, match=r"it is locked|try again"):
        read(Cluster(*accounts), work)


def test_a_process_with_a_home_of_its_own_is_found_out(work, home):
    done = read(Cluster(), work)
    told = Account(tuple(read_run(done.log.path).steps()))
    elsewhere = Account((*told.steps[:-1], replace(told.steps[-1], key="0" * 64)))
    with pytest.raises(WorkersError, match="FLOWREADER_HOME"):
        read(Cluster(elsewhere), work)


def test_a_process_that_is_lost_for_good_fails_its_document(work):
    with pytest.raises(ZeroDivisionError):
        read(Cluster(lambda: ZeroDivisionError("lost")), work)


def test_a_request_to_stop_is_met_while_the_cluster_works(work):
    began, over = time.monotonic(), threading.Event()

    async def stopped():
        cluster = Cluster(lambda: over.wait(60))
        reading = asyncio.create_task(Workers(cluster, IngestSettings(), default_identity(), "", place_of_run()).read(work))
        await asyncio.sleep(0.1)
        request_stop()
        with pytest.raises(StoppedError):
            await reading
        seconds = time.monotonic() - began
        over.set()
        # The job ends while there is a loop to tell.
        await asyncio.sleep(0.1)
        return seconds

    try:
        assert asyncio.run(stopped()) < 20
    finally:
        forget_stop()


def test_a_runner_that_is_not_installed_names_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(WorkersError, match=r'prefect-dask; run `pip install "flowreader\[dask\]"`'):
        require_runner(WorkSettings(runner="dask"))
    require_runner(WorkSettings())


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tls://[::1]:1", "127.0.0.1:99999"])
def test_an_address_where_nothing_listens_is_refused_at_once(monkeypatch, address):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    began = time.monotonic()
    with pytest.raises(WorkersError, match=r"there is no dask cluster at .*; start it"):
        require_runner(WorkSettings(runner="dask", runner_address=address))
    assert time.monotonic() - began < 6


STEPS = ["parse", "read-words", "structure", "analyze", "embed", "evolve-round", "evolve-round", "evolve-round", "evolve"]


@pytest.fixture
def page(tmp_path):
    (tmp_path / "tides.html").write_text(PAGE)
    return tmp_path / "tides.html"


def test_the_graph_is_remembered_every_step_recorded_and_no_corpus_touched(home, page):
    cluster_job = cluster_job_for(page)
    account = do_cluster_job(cluster_job)
    assert isinstance(account, Account) and account.error is None
    assert [(record.step, record.cache_hit, record.run_id) for record in account.steps] == [(name, False, "run") for name in STEPS]
    assert not corpora_folder().exists()
    with working_at(place_of_run()):
        graph = recall_graph(cluster_job.work)
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
    assert account.steps == () and isinstance(account.error, WorkersError) and "same versions" in str(account.error)


def test_the_password_of_a_document_is_in_no_words_about_a_job(page):
    cluster_job = cluster_job_for(page)
    locked = replace(cluster_job, work=replace(cluster_job.work, password="open sesame"))
    assert "sesame" not in repr(locked) and pickle.loads(pickle.dumps(locked)).work.password == "open sesame"
