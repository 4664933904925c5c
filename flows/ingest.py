"""The ingest flow: from a folder of documents to a published content graph.

discover -> parse -> read words -> structure -> analyze -> embed -> T rounds -> evolve -> publish -> index -> report
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Cancelled, Failed

from flows.cluster import Workers, runner_at_work
from flows.document_graph import make_graph
from flows.prefect_runs.interruption import end_all_work, end_in_order
from flows.prefect_runs.labels import begin_again, name_reading_run, tag_run
from flows.prefect_runs.pages import leave_ingest_pages, reading_key, show_bar
from storage.corpus.writer import CorpusWriter, open_for_writing
from storage.locations import corpus_location, home
from storage.records.documents import DocumentState
from storage.system import check_writable
from tasks.finding.files import Discovery
from tasks.finding.mirror import copies_in_use
from tasks.finding.plan import DocumentWork
from tasks.ingest.batches import as_they_finish
from tasks.ingest.keys import IngestTools
from tasks.ingest.model import reader_identity, reading_model
from tasks.ingest.outcomes import DocumentOutcome, failed_outcome, outcome_of_error, ready_outcome, watch_document
from tasks.ingest.publishing import index, publish, rename
from tasks.ingest.remembered import is_remembered, recall_graph, recall_outcomes
from tasks.ingest.report import IngestReport, ingest_report
from tasks.ingest.request import IngestRequest, ReadingRequest, Survey, embedder_for, look, recorded_parameters, survey
from tasks.ingest.steps import NotKeptError, TooFewRepliesError
from tasks.lineage.at_work import rest_of
from tasks.lineage.writing import lineage_of_run, working_at, writing_calls
from tasks.models.chat.errors import ChatEndedError
from tasks.models.chat.model import ChatModel
from tasks.models.embedding.embedder import UnopenedEmbedder, unopened_embedders
from tasks.parsing.parse import ParseError
from tasks.progress import StoppedError, report, request_stop
from tasks.step import Workplace, chain_steps

if TYPE_CHECKING:
    from prefect.task_runners import TaskRunner


@dataclass(frozen=True, slots=True)
class IngestContext:
    """What the steps of a run share; without a model `chat` is None, without a cluster `runner`."""

    request: ReadingRequest
    corpus: CorpusWriter
    place: Workplace
    tools: IngestTools
    embedder: UnopenedEmbedder
    chat: ChatModel | None
    runner: TaskRunner[Any] | None

    @property
    def reader(self) -> str:
        return reader_identity(self.request.settings, self.chat.name if self.chat else "")

    def survey(self, discovery: Discovery) -> Survey:
        return survey(self.request, discovery, self.corpus.documents(), self.corpus.embedder, self.reader)

    def workers(self) -> Workers | None:
        """Return the workers that read elsewhere, None where this process reads."""
        if self.runner is None:
            return None
        return Workers(self.runner, self.request.settings, self.corpus.embedder, self.reader, self.place)


@contextmanager
def ingest_context(request: ReadingRequest, run_id: str) -> Iterator[IngestContext]:
    """Hold the corpus, write the run's lineage, and have the model and the workers, while the block runs.

    Raise as `open_for_writing`, `reading_model` and `runner_at_work` do.
    """
    location, work = corpus_location(request.corpus), request.settings.work
    embedder = partial(embedder_for, embedding=request.settings.reading.embedding)
    if not location.folder.exists():
        embedder(None)  # what cannot be had is refused before a corpus is made
    with (
        open_for_writing(location, embedder=embedder, wait_seconds=work.lock_wait_seconds) as corpus,
        lineage_of_run(
            location,
            parameters=recorded_parameters(request),
            settings=request.settings.model_dump(mode="json"),
            run_id=run_id,
            snapshot=lambda: corpus.snapshot,
            took_over=rest_of(location, request),
        ) as place,
        working_at(place),
        reading_model(request.settings, writing_calls(place)) as chat,
        runner_at_work(work) as runner,
    ):
        model, second = unopened_embedders(corpus.embedder, request.settings.models)
        tools = IngestTools(settings=request.settings, artifacts=place.artifacts, embedder=model, chat=chat, second=second)
        yield IngestContext(request, corpus, place, tools, model, chat, runner)


@flow(
    name="ingest",
    flow_run_name=name_reading_run,
    persist_result=False,
    on_crashed=[begin_again],
)
async def ingest(request: IngestRequest) -> IngestReport | State[None]:
    """Read documents into a corpus and publish them as they finish; continue what an earlier run left undone."""
    check_writable(home())
    await tag_run(request.corpus)
    with end_in_order(), ExitStack() as held:
        try:
            # Held to the end: documents are read from the copies.
            held.enter_context(copies_in_use(request.paths))
            # In a thread: an object store may take its time, and a cancelled run must end meanwhile.
            found = await asyncio.to_thread(look, request)
        except StoppedError:
            return Cancelled(message="stopped before anything was read; the same command goes on")
        return await read_in(request, found)


async def read_in(request: ReadingRequest, discovery: Discovery) -> IngestReport | State[None]:
    """Read what was found into the corpus, or rebuild what is there, publish it, and leave its pages."""
    with ingest_context(request, str(flow_run.id)) as context:
        await publish_what_was_lost(context)
        found = context.survey(discovery)
        context.place.log.plan(documents=len(found.plan.work))
        if context.runner is None and not all(is_remembered(work, context.place.memo) for work in found.plan.work):
            # It loads while the first document is parsed; with workers, the first text opens it.
            context.embedder.open()
        if found.plan.renamed or found.plan.outdated:
            await rename.submit(context.corpus, found.plan)
        ended = await read_and_publish(found, context)
        if ended is not None:
            return ended
        summary = ingest_report(request.corpus, context.corpus, found, context.place)
    await leave_ingest_pages(request, summary)
    return summary


async def publish_what_was_lost(context: IngestContext) -> None:
    """Publish documents again, from their artifacts, whose part of the graph was damaged."""
    settings = context.request.settings
    for batch in recall_outcomes(context.corpus.lost(), at_once=settings.work.publish_documents):
        await publish.submit(context.corpus, batch, {}, settings.reading.evolution)


async def read_and_publish(found: Survey, context: IngestContext) -> State[None] | None:
    """Read the documents and publish them as they finish; return the state of a run that was stopped or lost its model."""
    corpus, request = context.corpus, context.request
    published: tuple[UUID, ...] = ()
    try:
        async with (
            show_bar(found.plan.work, request.settings.reading, key=reading_key(request)),
            aclosing(read_documents(found.plan.work, context)) as finished,
        ):
            async for outcomes in finished:
                with chain_steps(one for outcome in outcomes for one in outcome.task_runs) as batch:
                    await publish.submit(corpus, outcomes, found.plan.superseded, request.settings.reading.evolution)
                published += batch.last
        with chain_steps(published):
            await index.submit(corpus)
    except StoppedError:
        return Cancelled(message=f"stopped; {len(corpus.documents())} documents are published, the same command goes on")
    except ChatEndedError as error:
        request_stop()
        return Failed(message=f"{error}; {len(corpus.documents())} documents are published")
    return None


def read_documents(work: Sequence[DocumentWork], context: IngestContext) -> AsyncGenerator[list[DocumentOutcome], None]:
    """Yield what came of the documents, in batches that are to be published."""
    settings = context.request.settings.work
    return as_they_finish(
        work,
        partial(read_document, tools=context.tools, workers=context.workers()),
        at_once=settings.documents_in_work,
        batch_seconds=settings.publish_seconds,
        batch_items=settings.publish_documents,
        stop=end_all_work,
    )


async def read_document(work: DocumentWork, *, tools: IngestTools, workers: Workers | None = None) -> DocumentOutcome:
    """Make the graph of one document, or say why there is none; steps done by workers are recalled here."""
    with watch_document(work) as ended, chain_steps() as steps:
        try:
            graph, unfinished = recall_graph(work), False
            if graph is None and workers is not None:
                await workers.read(work)
                graph = recall_graph(work)
            if graph is None:
                graph, unfinished = await make_graph(work, tools)
            outcome = ready_outcome(work, graph, unfinished=unfinished)
        except ParseError as error:
            outcome = failed_outcome(work, error.state, error.reason)
        except (TooFewRepliesError, NotKeptError) as error:
            outcome = failed_outcome(work, DocumentState.FAILED, str(error), for_good=False, logged=type(error).__name__)
        except Exception as error:
            outcome = outcome_of_error(work, error)
        ended(outcome)
    report(work.document_id, "done", 1, outcome.record.pages)
    return replace(outcome, task_runs=steps.last)
