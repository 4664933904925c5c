"""The pages of a corpus in Prefect's UI: its documents as a table, and the index from which everything else is found."""

import asyncio
import json
import logging
import math
import os
import time
from collections.abc import Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate
from prefect.client.schemas.filters import ArtifactCollectionFilter, ArtifactCollectionFilterKey
from prefect.client.schemas.objects import ArtifactCollection
from prefect.exceptions import ObjectNotFound
from prefect.runtime import flow_run

from flows.display.answer_tables import state
from storage.corpus.snapshot import Counts, UnknownCorpusError, open_for_reading
from storage.locations import corpus_location
from storage.records.answers import Answer
from storage.records.documents import DocumentRecord, DocumentState
from storage.text import as_markdown, minute, shortened
from tasks.address import address_of, host_and_port
from tasks.watching.page_keys import LINEAGE, answer_key, corpus_key, page_link

DOCUMENTS_IN_TABLE = 500
ANSWERS_SHOWN, QUESTION_SHOWN = 10, 100
FORM = "ask/ask"
RENEW_SECONDS = 10.0
"""A renewal takes 0.1 s of work here and about as much of the server: where questions come in a row, the page waits so long."""
LOGGER = logging.getLogger(__name__)


async def leave_page(key: str, data: str, description: str, *, kind: str = "markdown", of_flow: UUID | None = None) -> UUID:
    """Leave a page with the run at work, or with the named one; return its id."""
    made_by = of_flow or (UUID(flow_run.id) if flow_run.id else None)
    made = ArtifactCreate(key=key, type=kind, description=description, data=data, flow_run_id=made_by)
    async with get_client() as client:
        return (await client.create_artifact(made)).id


async def latest_pages(client: PrefectClient, keys: Sequence[str]) -> dict[str, ArtifactCollection]:
    """Return the newest page of each key that has one."""
    wanted = ArtifactCollectionFilter(key=ArtifactCollectionFilterKey(any_=list(keys)))
    return {page.key: page for page in await client.read_latest_artifacts(artifact_filter=wanted)}


async def leave_documents(corpus: str) -> UUID:
    """Leave the table of the documents, those that are not ready first."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        documents = snapshot.documents()
    rows = document_rows(documents, corpus)
    return await leave_page(
        corpus_key("documents", corpus), json.dumps(rows), as_markdown(documents_in_words(documents)), kind="table"
    )


def document_rows(documents: Sequence[DocumentRecord], corpus: str) -> list[dict[str, str | int]]:
    """Return the cells, which the UI reads as Markdown; a last row counts the documents that are too many for a page."""
    ordered = sorted(documents, key=lambda one: (one.state is DocumentState.READY, one.name))
    rows: list[dict[str, str | int]] = [
        {
            "name": as_markdown(one.name),
            "state": as_markdown(one.state),
            "reason": as_markdown(one.reason),
            "pages": one.pages,
            "nodes": one.nodes,
        }
        for one in ordered[:DOCUMENTS_IN_TABLE]
    ]
    if left := ordered[DOCUMENTS_IN_TABLE:]:
        rows.append(
            {
                "name": f"and {len(left):,} more",
                "state": "",
                "reason": f"`flowreader documents list --corpus {corpus}` shows all",
                "pages": sum(one.pages for one in left),
                "nodes": sum(one.nodes for one in left),
            }
        )
    return rows


def documents_in_words(documents: Sequence[DocumentRecord]) -> str:
    states = [(each.value, sum(one.state is each for one in documents)) for each in DocumentState]
    return f"{len(documents):,} documents: " + ", ".join(f"{count:,} {name}" for name, count in states if count)


@dataclass(frozen=True, slots=True)
class CorpusNow:
    """What a corpus holds now, and the answers that were last given from it, as `flowreader answers list` shows them."""

    corpus: str
    snapshot: int
    counts: Counts
    answers: tuple[Answer, ...]


def corpus_now(corpus: str) -> CorpusNow:
    with open_for_reading(corpus_location(corpus)) as snapshot:
        return CorpusNow(corpus, snapshot.number, snapshot.counts(), tuple(snapshot.newest_answers(ANSWERS_SHOWN)))


async def renew_corpus_page(corpus: str) -> None:
    """Write the page anew, in the place of what it was: no earlier version of it stays. A corpus that is not there has none."""
    try:
        now = await asyncio.to_thread(corpus_now, corpus)
    except UnknownCorpusError:
        return
    key = corpus_key("corpus", corpus)
    answers = [answer_key(answer) for answer in now.answers]
    of_corpus = [corpus_key(kind, corpus) for kind in ("ingest", "evolve", "documents")]
    lineage = [name + LINEAGE for name in (*answers, *of_corpus)]
    async with get_client() as client:
        pages = await latest_pages(client, [key, *answers, *of_corpus, *lineage])
        text = corpus_markdown(now, pages, await form_of_questions(client, corpus))
        words = f"Start here: the documents of {as_markdown(corpus)}, its newest answers, and how to ask"
        if key in pages:
            await client.update_artifact(pages[key].latest_id, ArtifactUpdate(data=text, description=words))
        else:
            # Of no run: it outlives the runs that the server forgets.
            await client.create_artifact(ArtifactCreate(key=key, type="markdown", description=words, data=text))


_renewed: dict[str, float] = {}
_renewing: dict[str, asyncio.Task[None]] = {}


async def renew_corpus_page_at_times(corpus: str) -> None:
    """Renew the page now; where that was done a moment ago, once for all, a while later and beside what goes on."""
    wait = _renewed.get(corpus, -math.inf) + RENEW_SECONDS - time.monotonic()
    if wait <= 0:
        _renewed[corpus] = time.monotonic()
        await renew_corpus_page(corpus)
    elif corpus not in _renewing:
        # The run at work, with its log and its client, is over by then.
        _renewing[corpus] = asyncio.create_task(_renew_later(corpus, wait), context=Context())


async def _renew_later(corpus: str, seconds: float) -> None:
    try:
        await asyncio.sleep(seconds)
    finally:
        del _renewing[corpus]
    try:
        await renew_corpus_page_at_times(corpus)
    except Exception as error:
        LOGGER.debug("the page of corpus %s was not renewed (%s)", corpus, type(error).__name__)


async def form_of_questions(client: PrefectClient, corpus: str) -> str:
    """Return where the UI has the form of a question to the corpus, "" where none is deployed."""
    try:
        deployment = (await client.read_deployment_by_name(FORM)).id
    except ObjectNotFound:
        return ""
    filled_in = quote(json.dumps({"request": {"questions": [""], "corpus": corpus}}))
    return f"/deployments/deployment/{deployment}/run?parameters={filled_in}"


def corpus_markdown(now: CorpusNow, pages: Mapping[str, ArtifactCollection], form: str) -> str:
    parts = [
        f"# Corpus {as_markdown(now.corpus)}",
        *_last_run("Last ingest", corpus_key("ingest", now.corpus), pages),
        *_last_run("Made anew", corpus_key("evolve", now.corpus), pages),
        "## Documents",
        _documents(now, pages),
        "## Newest answers",
        _answers(now.answers, pages),
        "## How to ask",
        _how_to_ask(now.corpus, form),
    ]
    return "\n\n".join(parts) + "\n"


def _last_run(title: str, key: str, pages: Mapping[str, ArtifactCollection]) -> list[str]:
    """Return when documents were last read in or made anew, and what came of it as the page of that says it, with links."""
    if key not in pages:
        return []
    page = pages[key]
    links = [page_link("counts and times", key, page.latest_id)]
    if key + LINEAGE in pages:
        links.append(page_link("how it came to be", key + LINEAGE, pages[key + LINEAGE].latest_id))
    if page.flow_run_id:
        links.append(f"[its run](/runs/flow-run/{page.flow_run_id})")
    when = f"{page.updated:%Y-%m-%d %H:%M} UTC: " if page.updated else ""
    return [f"## {title}", f"{when}{page.description or ''}", " · ".join(links)]


def _documents(now: CorpusNow, pages: Mapping[str, ArtifactCollection]) -> str:
    key = corpus_key("documents", now.corpus)
    rows = [f"| {as_markdown(name)} | {count:,} |" for name, count in now.counts.documents.items() if count]
    held = f"{now.counts.pages:,} pages, {now.counts.nodes:,} nodes, snapshot {now.snapshot}."
    link = f" {page_link('Each document', key, pages[key].latest_id)}." if key in pages else ""
    return "\n".join(["| state | documents |", "|---|--:|", *rows, "", held + link])


def _answers(answers: Sequence[Answer], pages: Mapping[str, ArtifactCollection]) -> str:
    if not answers:
        return "Nothing was asked yet."
    rows = ["| asked (UTC) | question | status | pages |", "|---|---|---|---|"]
    for answer in answers:
        key, question = answer_key(answer), as_markdown(shortened(answer.question, QUESTION_SHOWN))
        # The words of a link are the UI's to show: those of people stand outside.
        named = {"answer": key, "lineage": key + LINEAGE}
        links = " · ".join(page_link(words, name, pages[name].latest_id) for words, name in named.items() if name in pages)
        rows.append(f"| {minute(answer.asked)} | {question} | {as_markdown(state(answer))} | {links} |")
    return "\n".join(rows)


def _how_to_ask(corpus: str, form: str) -> str:
    ways = [f'- on the command line: `flowreader ask "QUESTION" --corpus {corpus}`; `--server` asks the query service']
    if form:
        ways.insert(0, f"- here: write the question into [the form]({form})")
    if service := query_service():
        ways.append(f'- over HTTP: `POST {service}/api/v1/ask` with `{{"questions": ["QUESTION"], "corpus": "{corpus}"}}`')
    return "\n".join(ways)


def query_service() -> str:
    """Return the address of the query service where the environment names it, else ""."""
    named = host_and_port(os.environ.get("FLOWREADER_ASK_ADDRESS", ""))
    return f"http://{address_of(*named)}" if named and named[0] else ""


def report_link(answer: Answer) -> str:
    """Return a link to the report that the query service shows, "" where its address is not known, or wants a token."""
    if os.environ.get("FLOWREADER_ASK_TOKEN") or not query_service():
        return ""
    return f"[The report]({query_service()}/answers/{answer.answer_id}/report?corpus={answer.corpus})"
