"""Short pages of answers, ingests and corpora in Prefect's UI, with links to more; and the bar of an ingest at work.

A key has lower-case letters, digits and dashes, as Prefect takes them.
"""

import asyncio
import contextlib
import json
import logging
import os
import re
import unicodedata
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote
from uuid import UUID

from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate
from prefect.client.schemas.filters import ArtifactCollectionFilter, ArtifactCollectionFilterKey
from prefect.exceptions import ObjectNotFound
from prefect.runtime import flow_run as run_at_work

from flows.display.progress import WorkMeter
from flows.prefect_runs.labels import log_failures
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.answers import Answer
from storage.records.documents import identify
from storage.text import as_markdown
from tasks.address import address_of, host_and_port
from tasks.finding.plan import DocumentWork
from tasks.ingest.report import IngestReport
from tasks.ingest.request import EvolveRequest, ReadingRequest
from tasks.progress import listening
from tasks.report.write import keep_report
from tasks.settings.ingest import ReadingSettings
from tasks.views.answers import view_answer
from tasks.views.render import MARKDOWN, draw

FORM = "ask/ask"
PROGRESS = "-progress"
"""The end of a bar's key."""

CORPUS_SHOWN, WORDS_SHOWN, DIGITS = 24, 40, 8
"""Signs of a corpus, of a question and of an answer's id in the key of the answer's page."""


def corpus_key(kind: str, corpus: str) -> str:
    """Return `KIND-CORPUS`, another key for each corpus."""
    written = re.sub(r"[^a-z0-9-]", "-", corpus.lower())
    plain = written == corpus and not written.endswith(PROGRESS)
    return f"{kind}-{written}" if plain else f"{kind}-{written}-{identify(corpus)[:6]}"


def answer_key(answer: Answer) -> str:
    """Return `answer-CORPUS-FIRST-WORDS-ID`; letters that are no ASCII lose their accents, or are left out."""
    words = _dash(answer.question)
    if len(words) > WORDS_SHOWN:
        words = words[: WORDS_SHOWN + 1].rpartition("-")[0] or words[:WORDS_SHOWN]
    parts = ("answer", _dash(answer.corpus)[:CORPUS_SHOWN].strip("-"), words, answer.answer_id[:DIGITS])
    return "-".join(filter(None, parts))


def reading_key(request: ReadingRequest) -> str:
    return corpus_key("evolve" if isinstance(request, EvolveRequest) else "ingest", request.corpus)


def _dash(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


RENEW_SECONDS = 3.0
"""Between renewals of the bar, each a request to the server; there is none where nothing moved."""
PATIENCE_SECONDS = 2.0
"""A server that is away must not keep a run from ending."""
DONE = "done"
LOGGER = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def show_bar(work: Sequence[DocumentWork], reading: ReadingSettings, *, key: str) -> AsyncIterator[None]:
    """Show in the current run how far these documents are, inside the block; nothing without documents."""
    if not work:
        yield
        return
    meter, key = WorkMeter(work, reading), key + PROGRESS
    artifact: UUID | None = None

    async def show(percent: float, words: str) -> None:
        nonlocal artifact
        # The bar is no part of the work: a server that is away for a moment must not spoil an ingest.
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


def service_address() -> str:
    """Return the query service's address, "" where it is unknown or the service wants a token."""
    named = host_and_port(os.environ.get("FLOWREADER_ASK_ADDRESS", ""))
    return f"http://{address_of(*named)}" if named and named[0] and not os.environ.get("FLOWREADER_ASK_TOKEN") else ""


def answer_page(answer: Answer, report: Path) -> str:
    with open_for_reading(corpus_location(answer.corpus)) as snapshot:
        view = view_answer(answer, snapshot)
    return draw(MARKDOWN, "answer_page.j2", answer=view, report=report, service=service_address())


async def keep_answer_page(answer: Answer, *, flow_run_id: UUID) -> None:
    """Write the answer's report to the disk; leave its page with the run that answered, even if that has ended."""
    report = await asyncio.to_thread(keep_report, answer)
    page = await asyncio.to_thread(answer_page, answer, report)
    await leave_page(answer_key(answer), page, as_markdown(answer.question), of_flow=flow_run_id)


async def leave_ingest_pages(request: ReadingRequest, report: IngestReport) -> None:
    """Leave the pages of the current ingest and its corpus; log what cannot be kept."""
    run, words = str(run_at_work.id), cast(Any, MARKDOWN.get_template("ingest_words.j2").module)
    with log_failures("the page of this ingest"):
        page = draw(MARKDOWN, "ingest_page.j2", report=report, run=run)
        await leave_page(reading_key(request), page, str(words.counts(report)), of_flow=UUID(run))
    with log_failures("the page of the corpus"):
        await leave_corpus_page(request.corpus)


async def leave_page(key: str, data: str, description: str, *, of_flow: UUID | None) -> None:
    made = ArtifactCreate(key=key, type="markdown", description=description, data=data, flow_run_id=of_flow)
    async with get_client() as client:
        await client.create_artifact(made)


async def leave_corpus_page(corpus: str) -> None:
    """Leave the page unless it is there and current; it belongs to no run, so that it outlives old runs."""
    key = corpus_key("corpus", corpus)
    wanted = ArtifactCollectionFilter(key=ArtifactCollectionFilterKey(any_=[key]))
    async with get_client() as client:
        form = await form_of_questions(client, corpus)
        page = draw(MARKDOWN, "corpus_page.j2", corpus=corpus, form=form, service=service_address())
        kept = [each.data for each in await client.read_latest_artifacts(artifact_filter=wanted)]
        # An ingest that knows of no service leaves a page alone that does.
        if page in kept or (kept and not service_address()):
            return
    await leave_page(key, page, f"Start here: where {as_markdown(corpus)} is shown, and how to ask it", of_flow=None)


async def form_of_questions(client: PrefectClient, corpus: str) -> str:
    """Return the UI's path of the question form, filled in for the corpus, "" where none is deployed."""
    try:
        deployment = (await client.read_deployment_by_name(FORM)).id
    except ObjectNotFound:
        return ""
    filled_in = quote(json.dumps({"request": {"questions": [""], "corpus": corpus}}))
    return f"/deployments/deployment/{deployment}/run?parameters={filled_in}"
