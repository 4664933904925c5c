"""The ingest flow: from a folder of documents to a published content graph.

discover -> parse -> read words -> structure -> analyze -> embed -> (judge links) -> evolve -> publish -> index -> report
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from functools import partial

from prefect import flow
from prefect.artifacts import acreate_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Failed

from flows.beginning_again import begin_again
from flows.document_graph import make_graph
from flows.interruption import end_all_work, ending_in_order
from flows.lineage_pages import keep_run_page
from flows.progress_artifact import shown_in_prefect
from flows.run_labels import folder_read, tag_run
from flows.runners import runner_at_work
from flows.telling_others import stopped, tell_of_ingest
from flows.workers import Workers
from storage.corpus import open_for_writing
from storage.disk import check_writable
from storage.locations import corpus_location, home
from storage.records import DocumentState
from storage.snapshot import remembered_embedder
from tasks.batching import as_they_finish
from tasks.discovery import Discovery
from tasks.document_happenings import document_began, document_ended
from tasks.document_step_keys import Tools
from tasks.ingest_model import reader_identity, reading_model
from tasks.ingest_report import IngestReport, artifact_key, ingest_report, report_markdown
from tasks.ingest_request import IngestRequest, embedder_for, look, survey
from tasks.killed_runs import rest_of
from tasks.lineage import lineage_of_run, working_at, writing_calls
from tasks.models.chat_errors import ChatEndedError
from tasks.models.embedder import UnopenedEmbedder, open_embedder
from tasks.outcomes import Outcome, failed, ready, unexpected
from tasks.parsing import ParseError
from tasks.planning import DocumentWork
from tasks.progress import StoppedError, report, request_stop
from tasks.publishing import index, publish, rename
from tasks.remembered_documents import remembered_graph, remembered_outcomes
from tasks.unanswered import UnansweredError


@flow(
    name="ingest",
    flow_run_name=folder_read,
    persist_result=False,
    on_running=[tell_of_ingest],
    on_completion=[tell_of_ingest],
    on_failure=[tell_of_ingest],
    on_crashed=[begin_again, tell_of_ingest],
)
async def ingest(request: IngestRequest) -> IngestReport | State[None]:
    """Read documents into a corpus and publish them as they finish; what an earlier run left undone goes on."""
    check_writable(home())
    await tag_run(request.corpus)
    with ending_in_order():
        try:
            # Beside the loop: an object store may take its time, and who cancels the run is to be heard.
            found = await asyncio.to_thread(look, request)
        except StoppedError:
            return await stopped(tell_of_ingest, "stopped before anything was read; the same command goes on")
        return await read_in(request, found)


async def read_in(request: IngestRequest, discovery: Discovery) -> IngestReport | State[None]:
    """Read what was found into the corpus."""
    location, work = corpus_location(request.corpus), request.settings.work
    embedder = embedder_for(remembered_embedder(location))
    with (
        open_for_writing(location, embedder=embedder, wait_seconds=work.lock_wait_seconds) as corpus,
        lineage_of_run(
            location,
            parameters=request.model_dump(mode="json", exclude={"settings"}),
            settings=request.settings.model_dump(mode="json"),
            run_id=str(flow_run.id),
            snapshot=lambda: corpus.snapshot,
            took_over=rest_of(location, request),
        ) as place,
        working_at(place),
        reading_model(request.settings, writing_calls(place)) as chat,
        runner_at_work(work) as runner,
    ):
        model = (UnopenedEmbedder if runner else partial(open_embedder, apart=True))(embedder, models=request.settings.models)
        for batch in remembered_outcomes(corpus.lost(), at_once=work.publish_documents):
            await publish.submit(corpus, batch, {}, request.settings.reading.evolution)
        reader = reader_identity(request.settings, chat.name if chat else "")
        found = survey(request, discovery, corpus.documents(), embedder, reader)
        tools = Tools(settings=request.settings, artifacts=place.artifacts, embedder=model, chat=chat)
        workers = Workers(runner, request.settings, embedder, reader, place) if runner else None
        if found.plan.renamed or found.plan.outdated:
            await rename.submit(corpus, found.plan)
        finished = as_they_finish(
            found.plan.work,
            partial(read_document, tools=tools, workers=workers),
            at_once=work.documents_in_work,
            batch_seconds=work.publish_seconds,
            batch_items=work.publish_documents,
            stop=end_all_work,
        )
        try:
            async with (
                shown_in_prefect(found.plan.work, key=f"{artifact_key(request.corpus)}-progress", by_model=chat is not None),
                aclosing(finished),
            ):
                async for outcomes in finished:
                    await publish.submit(corpus, outcomes, found.plan.superseded, request.settings.reading.evolution)
            await index.submit(corpus)
        except StoppedError:
            told = f"stopped; {len(corpus.documents())} documents are published, the same command goes on"
            return await stopped(tell_of_ingest, told)
        except ChatEndedError as error:
            request_stop()
            return Failed(message=f"{error}; {len(corpus.documents())} documents are published")
        summary = ingest_report(request.corpus, corpus, found, place)
    await acreate_markdown_artifact(key=artifact_key(request.corpus), markdown=report_markdown(summary))
    await keep_run_page(location, str(flow_run.id))
    return summary


async def read_document(work: DocumentWork, *, tools: Tools, workers: Workers | None = None) -> Outcome:
    """Make the graph of one document, or the reason why there is none; the steps that workers do are recalled here."""
    began = document_began(work)
    try:
        graph, unfinished = remembered_graph(work), False
        if graph is None and workers is not None:
            await workers.read(work)
            graph = remembered_graph(work)
        if graph is None:
            graph, unfinished = await make_graph(work, tools)
        outcome = ready(work, graph, unfinished=unfinished)
    except ParseError as error:
        outcome = failed(work, error.state, error.reason)
    except UnansweredError as error:
        outcome = failed(work, DocumentState.FAILED, str(error), for_good=False, told=type(error).__name__)
    except Exception as error:
        outcome = unexpected(work, error)
    document_ended(work, outcome, began=began)
    report(work.document_id, "done", 1, outcome.record.pages)
    return outcome
