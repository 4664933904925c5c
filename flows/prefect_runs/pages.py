"""The pages of answers and ingests in Prefect's UI, each with its lineage; and the bar of an ingest at work."""

import asyncio
import base64
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from uuid import UUID

from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from prefect.runtime import flow_run as run_at_work

from flows.display.lineage_tables import Line, heading, history_lines, markdown_of, walk_lines
from flows.display.progress import WorkMeter
from flows.prefect_runs import corpus_pages
from flows.prefect_runs.labels import failures_logged
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.answers import Answer, AnswerStatus, Citation
from storage.text import as_markdown, paragraphs, shortened
from tasks.finding.plan import DocumentWork
from tasks.ingest.report import IngestReport, done_in_words, report_markdown
from tasks.ingest.request import EvolveRequest, ReadingRequest
from tasks.lineage.documents import document_histories
from tasks.lineage.records import RunWalk
from tasks.lineage.search import Sources, opened_sources
from tasks.lineage.walk import run_walk, walk
from tasks.progress import listening
from tasks.reading.judging import calls_in_words, kept_in_words, place_of, verdict_of, words_of
from tasks.report.write import KeptReport, keep_report
from tasks.routing.way import way_lines
from tasks.settings.ingest import ReadingSettings

DOCUMENTS_SHOWN = 50
"""A page is a row in the server's database; of the other documents it says how many there are."""
QUOTE_SHOWN = 1_500
PICTURE_BYTES = 250_000
"""A larger graph is left to the report."""


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
    return corpus_pages.corpus_key("evolve" if isinstance(request, EvolveRequest) else "ingest", request.corpus)


@contextlib.asynccontextmanager
async def shown_in_prefect(work: Sequence[DocumentWork], reading: ReadingSettings, *, key: str) -> AsyncIterator[None]:
    """Show in the run at work how far these documents are, inside the block; nothing where there are none."""
    if not work:
        yield
        return
    meter, key = WorkMeter(work, reading), key + corpus_pages.PROGRESS
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
        *_way(answer),
        *([_picture(kept.graph)] if kept.graph and len(kept.graph) <= PICTURE_BYTES else []),
        *(f"> {as_markdown(note)}" for note in answer.notes),
        f"Corpus {as_markdown(answer.corpus)}, snapshot {answer.snapshot}; {as_markdown(made)}. "
        f"{corpus_pages.report_link(answer) or 'The report'}, with the cited pages, is in {as_markdown(str(kept.path))}; "
        f"`flowreader answers show {answer.answer_id[:8]} --corpus {answer.corpus}` shows the answer again.",
    ]
    return "\n\n".join(parts) + "\n"


def _way(answer: Answer) -> list[str]:
    steps = [f"- {as_markdown(line)}" for line in way_lines(answer.trace)]
    return ["## How it came to the evidence", "\n".join(steps)] if steps else []


def _citations(citations: tuple[Citation, ...]) -> Iterator[str]:
    for number, citation in enumerate(citations, 1):
        yield f"**[{number}]** {as_markdown(place_of(citation))}\n\n> {as_markdown(shortened(citation.quote, QUOTE_SHOWN))}"


def _picture(graph: str) -> str:
    return f"![evidence graph](data:image/svg+xml;base64,{base64.b64encode(graph.encode()).decode()})"


async def keep_answer_page(answer: Answer, *, flow_run_id: UUID) -> None:
    """Write the answer's report to the disk; leave its page with the run that answered, be it over."""
    kept, lineage = await asyncio.to_thread(keep_report, answer), ""
    with failures_logged("its lineage"):
        lineage = await asyncio.to_thread(answer_lineage, answer)
    page = with_lineage(answer_markdown(answer, kept), await corpus_pages.corpus_link(answer.corpus), lineage)
    await corpus_pages.leave_page(corpus_pages.answer_key(answer), page, as_markdown(answer.question), of_flow=flow_run_id)


async def leave_ingest_pages(request: ReadingRequest, report: IngestReport) -> None:
    """Leave the page of the ingest at work, and renew the page of its corpus; log what cannot be kept."""
    run_id, lineage, now = UUID(str(run_at_work.id)), "", None
    with failures_logged("its lineage"):
        lineage, now = await asyncio.to_thread(lineage_and_corpus, request.corpus, str(run_id))
    with failures_logged("the page of this ingest"):
        page = with_lineage(report_markdown(report), await corpus_pages.corpus_link(request.corpus), lineage)
        await corpus_pages.leave_page(reading_key(request), page, done_in_words(report), of_flow=run_id)
    with failures_logged("the page of the corpus"):
        await corpus_pages.renew_corpus_page(request.corpus, now)


def lineage_and_corpus(corpus: str, run_id: str) -> tuple[str, corpus_pages.CorpusNow]:
    """Return the lineage of an ingest and what its corpus holds now, both from one snapshot."""
    with open_for_reading(corpus_location(corpus)) as snapshot, opened_sources(snapshot) as sources:
        return run_page(sources, run_walk(sources, run_id)), corpus_pages.CorpusNow.of(snapshot)


def with_lineage(page: str, corpus: str, lineage: str) -> str:
    """Return a page that ends with the link to its corpus and with how all of it came to be."""
    return f"{page}\n{corpus}\n\n# How it came to be\n\n{lineage}"
