"""The pages of Prefect's UI: answers, ingests and their lineage."""

import asyncio
import base64
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from uuid import UUID

from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import ArtifactUpdate
from prefect.client.schemas.objects import ArtifactCollection
from prefect.events import emit_event
from prefect.runtime import flow_run as run_at_work

from flows.display.lineage_tables import Line, heading, history_lines, markdown_of, walk_lines
from flows.display.progress import WorkMeter
from flows.prefect_runs.corpus_pages import (
    latest_pages,
    leave_documents,
    leave_page,
    renew_corpus_page,
    renew_corpus_page_at_times,
    report_link,
)
from flows.prefect_runs.labels import failures_logged
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.answers import Answer, AnswerStatus, Citation
from storage.text import as_markdown, paragraphs, shortened
from tasks.finding.plan import DocumentWork
from tasks.ingest.report import IngestReport, done_in_words, report_markdown
from tasks.ingest.request import EvolveRequest, ReadingRequest
from tasks.lineage.data_flow import DataFlow, ingested
from tasks.lineage.documents import document_histories
from tasks.lineage.names import Sources, opened_sources
from tasks.lineage.records import RunWalk
from tasks.lineage.walk import run_walk, walk
from tasks.progress import listening
from tasks.reading.judging import calls_in_words, kept_in_words, place_of, verdict_of, words_of
from tasks.report.write import KeptReport, keep_report
from tasks.routing.way import way_lines
from tasks.settings.ingest import ReadingSettings
from tasks.watching.page_keys import LINEAGE, PROGRESS, answer_key, corpus_key, page_link

DOCUMENTS_SHOWN = 50
"""A page is a row in the server's database; of the other documents it says how many there are."""
QUOTE_SHOWN = 1_500
PICTURE_BYTES = 250_000
"""A larger graph is left to the report."""


async def keep_answer_pages(answers: Sequence[Answer], *, flow_run_id: UUID) -> None:
    """Leave a page for each answer that leads from it to its paths, nodes, boxes and pages, and to what read them.

    The run may be over: the answers are given before these pages are made. The answer's own page, where it is there, and this one
    lead to each other, and the page of the corpus to both.
    """
    async with get_client() as client:
        of_corpora = [corpus_key("corpus", answer.corpus) for answer in answers]
        pages = await latest_pages(client, [*of_corpora, *map(answer_key, answers)])
        for answer in answers:
            key = answer_key(answer)
            page, corpus = pages.get(key), corpus_link(answer.corpus, pages)
            back = " · ".join((page_link("The answer", key, page.latest_id if page else None), corpus))
            lineage = await leave_page(
                key + LINEAGE,
                f"{await asyncio.to_thread(answer_lineage, answer)}\n\n{back}\n",
                f"How the answer came to be: {as_markdown(answer.question)}",
                of_flow=flow_run_id,
            )
            if page:
                unknown, known = page_link(HOW, key + LINEAGE), page_link(HOW, key + LINEAGE, lineage)
                data = str(page.data).replace(unknown, known).replace(corpus_link(answer.corpus), corpus)
                await client.update_artifact(page.latest_id, ArtifactUpdate(data=data))
    for name in {answer.corpus for answer in answers}:
        with failures_logged("the page of the corpus"):
            await renew_corpus_page_at_times(name)


HOW = "How it came to be"
WAY = "## How it came to the evidence"


def corpus_link(corpus: str, pages: Mapping[str, ArtifactCollection] | None = None) -> str:
    key = corpus_key("corpus", corpus)
    page = (pages or {}).get(key)
    return page_link("All of the corpus", key, page.latest_id if page else None)


def answer_lineage(answer: Answer) -> str:
    with open_for_reading(corpus_location(answer.corpus)) as snapshot:
        return markdown_of(walk_lines(walk(snapshot, answer.answer_id)))


def run_page(sources: Sources, walked: RunWalk) -> str:
    lines = list(walk_lines(walked))
    published = [each.document for each in walked.documents if each.published]
    documents, _damaged = document_histories(sources, published[:DOCUMENTS_SHOWN])
    if documents:
        lines.append(heading("what was read, and how"))
    for document in documents:
        lines += history_lines(document, 1)
    if len(published) > DOCUMENTS_SHOWN:
        lines.append(Line(1, f"and {len(published) - DOCUMENTS_SHOWN:,} more: flowreader lineage DOCUMENT shows each"))
    return markdown_of(lines)


RENEW_SECONDS = 3.0
"""Each renewal is a request to the server: at most so often, and not at all where nothing moved."""
PATIENCE_SECONDS = 2.0
"""A server that is away must not keep a run from ending."""
DONE = "done"
LOGGER = logging.getLogger(__name__)


def reading_key(request: ReadingRequest) -> str:
    return corpus_key("evolve" if isinstance(request, EvolveRequest) else "ingest", request.corpus)


@contextlib.asynccontextmanager
async def shown_in_prefect(work: Sequence[DocumentWork], reading: ReadingSettings, *, key: str) -> AsyncIterator[None]:
    """Show in the run at work how far these documents are, inside the block; nothing where there are none."""
    if not work:
        yield
        return
    meter, key = WorkMeter(work, reading), key + PROGRESS
    artifact: UUID | None = None

    async def show(percent: float, words: str) -> None:
        nonlocal artifact
        # What is shown is no part of the work: a server that is away for a moment spoils no ingest.
        try:
            if artifact is None:
                artifact = await acreate_progress_artifact(progress=percent, key=key, description=as_markdown(words))
            else:
                await aupdate_progress_artifact(artifact, progress=percent, description=as_markdown(words))
        except Exception as error:
            LOGGER.debug("the bar of %s in Prefect's UI was not renewed (%s)", key, type(error).__name__)

    async def renew() -> None:
        shown = 0.0
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            percent = round(100 * meter.share_done(), 1)
            if percent != shown:
                shown = percent
                await show(percent, meter.describe())

    await show(0.0, meter.describe())
    end = "ended before all was read"

    with listening(meter.hear):
        renewing = asyncio.create_task(renew())
        try:
            yield
            end = DONE
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            last = show(round(100 * meter.share_done(), 1), f"{meter.describe_counts()}; {end}")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(last, None if end == DONE else PATIENCE_SECONDS)


def answer_markdown(answer: Answer, kept: KeptReport) -> str:
    """Return the page; all that documents, models or people wrote stands there as text."""
    made = calls_in_words(answer.usage) + kept_in_words(answer)
    cited, verdict = list(_citations(answer.citations)), as_markdown(verdict_of(answer))
    unread = answer.status is AnswerStatus.EVIDENCE
    parts = [
        f"# {as_markdown(answer.question)}",
        paragraphs(words_of(answer)),
        *([*cited, verdict] if unread else [verdict, *(["## Evidence", *cited] if cited else [])]),
        *([WAY, "\n".join(f"- {as_markdown(line)}" for line in way_lines(answer.trace))] if answer.trace else []),
        *([_picture(kept.graph)] if kept.graph and len(kept.graph) <= PICTURE_BYTES else []),
        *(f"> {as_markdown(note)}" for note in answer.notes),
        f"Corpus {as_markdown(answer.corpus)}, snapshot {answer.snapshot}; {as_markdown(made)}. "
        f"{report_link(answer) or 'The report'}, with the cited pages, is in {as_markdown(str(kept.path))}; "
        f"`flowreader answers show {answer.answer_id[:8]} --corpus {answer.corpus}` shows the answer again. "
        f"{page_link(HOW, answer_key(answer) + LINEAGE)} · {corpus_link(answer.corpus)}",
    ]
    return "\n\n".join(parts) + "\n"


def _citations(citations: tuple[Citation, ...]) -> Iterator[str]:
    for number, citation in enumerate(citations, 1):
        yield f"**[{number}]** {as_markdown(place_of(citation))}\n\n> {as_markdown(shortened(citation.quote, QUOTE_SHOWN))}"


def _picture(graph: str) -> str:
    return f"![evidence graph](data:image/svg+xml;base64,{base64.b64encode(graph.encode()).decode()})"


async def keep_page(answer: Answer, *, flow_run_id: UUID) -> None:
    """Write the answer's report to the disk, and leave its page with the run that answered."""
    kept = await asyncio.to_thread(keep_report, answer)
    page = answer_markdown(answer, kept)
    await leave_page(answer_key(answer), page, as_markdown(answer.question), of_flow=flow_run_id)


async def leave_ingest_pages(request: ReadingRequest, report: IngestReport) -> None:
    """Leave the pages and the asset events of the ingest at work, and renew the page of its corpus; log what cannot be kept."""
    links: list[str] = []
    with failures_logged("its lineage"):
        links.append(page_link(HOW, reading_key(request) + LINEAGE, await leave_lineage(request)))
    with failures_logged("the table of documents"):
        links.append(page_link("Each document", corpus_key("documents", request.corpus), await leave_documents(request.corpus)))
    with failures_logged("the page of this ingest"):
        async with get_client() as client:
            pages = await latest_pages(client, [corpus_key("corpus", request.corpus)])
        page = report_markdown(report, (*links, corpus_link(request.corpus, pages)))
        await leave_page(reading_key(request), page, done_in_words(report))
    with failures_logged("the page of the corpus"):
        await renew_corpus_page(request.corpus)


async def leave_lineage(request: ReadingRequest) -> UUID:
    """Leave the page and the asset events of the ingest at work; its lineage file is walked through once."""
    run_id = UUID(str(run_at_work.id))
    with open_for_reading(corpus_location(request.corpus)) as snapshot, opened_sources(snapshot) as sources:
        walked = await asyncio.to_thread(run_walk, sources, str(run_id))
        emit_assets(ingested(request, sources, walked), flow_run_id=run_id)
        page = await asyncio.to_thread(run_page, sources, walked)
    back = " · ".join((page_link("Counts and times", reading_key(request)), corpus_link(request.corpus)))
    return await leave_page(
        reading_key(request) + LINEAGE,
        f"{page}\n\n{back}\n",
        f"How corpus {as_markdown(request.corpus)} was read in: documents, steps and models",
    )


def emit_assets(data: DataFlow, *, flow_run_id: UUID) -> None:
    made_by = {"prefect.resource.id": f"prefect.flow-run.{flow_run_id}", "prefect.resource.role": "flow-run"}
    made_of = [{"prefect.resource.id": key, "prefect.resource.role": "asset"} for key in data.inputs]
    for key in data.inputs:
        emit_event("prefect.asset.referenced", resource={"prefect.resource.id": key}, related=[made_by])
    for key in data.outputs:
        emit_event(
            "prefect.asset.materialization.succeeded",
            resource={"prefect.resource.id": key},
            related=[made_by, *made_of],
            payload={"left out": data.left_out} if data.left_out else {},
        )
