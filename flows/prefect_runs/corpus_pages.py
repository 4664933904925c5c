"""The page of a corpus in Prefect's UI: the index from which its documents, answers and ingests are found; and the keys of pages.

A key has lower-case letters, digits and dashes, as Prefect takes them.
"""

import asyncio
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate
from prefect.client.schemas.filters import ArtifactCollectionFilter, ArtifactCollectionFilterKey
from prefect.client.schemas.objects import ArtifactCollection
from prefect.exceptions import ObjectNotFound

from storage.corpus.snapshot import Snapshot, UnknownCorpusError, open_for_reading
from storage.locations import corpus_location
from storage.records.answers import Answer
from storage.records.documents import DocumentRecord, DocumentState, identify
from storage.text import as_markdown, minute, shortened, table_row
from tasks.address import address_of, host_and_port

DOCUMENTS_SHOWN, ANSWERS_SHOWN, QUESTION_SHOWN = 100, 10, 100
FORM = "ask/ask"
PROGRESS = "-progress"
"""So end the keys of bars."""

CORPUS_SHOWN, WORDS_SHOWN, DIGITS = 24, 40, 8
"""Signs of a corpus, of a question and of an answer's id in the key of the answer's page."""


def corpus_key(kind: str, corpus: str) -> str:
    """Return `KIND-CORPUS`, another key for each corpus."""
    written = re.sub(r"[^a-z0-9-]", "-", corpus.lower())
    plain = written == corpus and not written.endswith(PROGRESS)
    return f"{kind}-{written}" if plain else f"{kind}-{written}-{identify(corpus)[:6]}"


def answer_key(answer: Answer) -> str:
    """Return `answer-CORPUS-FIRST-WORDS-ID`; letters that are no ASCII lose their accents, or are left out."""
    words = _dashed(answer.question)
    if len(words) > WORDS_SHOWN:
        words = words[: WORDS_SHOWN + 1].rpartition("-")[0] or words[:WORDS_SHOWN]
    parts = ("answer", _dashed(answer.corpus)[:CORPUS_SHOWN].strip("-"), words, answer.answer_id[:DIGITS])
    return "-".join(filter(None, parts))


def _dashed(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def page_link(words: str, key: str, page: UUID | None = None) -> str:
    """Return a link in Markdown to a page; where its id is not known, to the list of its versions."""
    return f"[{words}](/artifacts/{f'artifact/{page}' if page else f'key/{key}'})"


async def leave_page(key: str, data: str, description: str, *, of_flow: UUID) -> None:
    made = ArtifactCreate(key=key, type="markdown", description=description, data=data, flow_run_id=of_flow)
    async with get_client() as client:
        await client.create_artifact(made)


async def latest_pages(client: PrefectClient, keys: Sequence[str]) -> dict[str, ArtifactCollection]:
    """Return the newest page of each key that has one."""
    wanted = ArtifactCollectionFilter(key=ArtifactCollectionFilterKey(any_=list(keys)))
    return {page.key: page for page in await client.read_latest_artifacts(artifact_filter=wanted)}


async def corpus_link(corpus: str) -> str:
    key = corpus_key("corpus", corpus)
    async with get_client() as client:
        page = (await latest_pages(client, [key])).get(key)
    return page_link("All of the corpus", key, page.latest_id if page else None)


@dataclass(frozen=True, slots=True)
class CorpusNow:
    """What a corpus holds now, and the answers that were last given from it, as `flowreader answers list` shows them."""

    corpus: str
    snapshot: int
    documents: Sequence[DocumentRecord]
    answers: Sequence[Answer]

    @classmethod
    def of(cls, snapshot: Snapshot) -> "CorpusNow":
        return cls(snapshot.location.name, snapshot.number, snapshot.documents(), snapshot.newest_answers(ANSWERS_SHOWN))


def corpus_now(corpus: str) -> CorpusNow:
    with open_for_reading(corpus_location(corpus)) as snapshot:
        return CorpusNow.of(snapshot)


async def renew_corpus_page(corpus: str, now: CorpusNow | None = None) -> None:
    """Write the page anew, in the place of what it was: no earlier version of it stays. A corpus that is not there has none.

    What it holds `now` is read where the caller has not done so.
    """
    try:
        if now is None:
            now = await asyncio.to_thread(corpus_now, corpus)
    except UnknownCorpusError:
        return
    key = corpus_key("corpus", corpus)
    linked = [*map(answer_key, now.answers), *(corpus_key(kind, corpus) for kind in ("ingest", "evolve"))]
    async with get_client() as client:
        pages = await latest_pages(client, [key, *linked])
        text = corpus_markdown(now, pages, await form_of_questions(client, corpus))
        words = f"Start here: the documents of {as_markdown(corpus)}, its newest answers, and how to ask"
        if key in pages:
            await client.update_artifact(pages[key].latest_id, ArtifactUpdate(data=text, description=words))
        else:
            # Of no run: it outlives the runs that the server forgets.
            await client.create_artifact(ArtifactCreate(key=key, type="markdown", description=words, data=text))


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
        *_last_run("Last ingest", pages.get(corpus_key("ingest", now.corpus))),
        *_last_run("Made anew", pages.get(corpus_key("evolve", now.corpus))),
        "## Documents",
        *_documents(now),
        "## Newest answers",
        _answers(now.answers, pages),
        "## How to ask",
        _how_to_ask(now.corpus, form),
    ]
    return "\n\n".join(parts) + "\n"


def _last_run(title: str, page: ArtifactCollection | None) -> list[str]:
    """Return when documents were last read in or made anew, and what came of it as the page of that says it, with links."""
    if page is None:
        return []
    links = [page_link("counts, times and lineage", page.key, page.latest_id)]
    if page.flow_run_id:
        links.append(f"[its run](/runs/flow-run/{page.flow_run_id})")
    when = f"{page.updated:%Y-%m-%d %H:%M} UTC: " if page.updated else ""
    return [f"## {title}", f"{when}{page.description or ''}", " · ".join(links)]


def _documents(now: CorpusNow) -> list[str]:
    """Return how many there are of each state, and a table of the first, those that are not ready before all others."""
    states = Counter(one.state for one in now.documents)
    counted = ", ".join(f"{states[each]:,} {each.value}" for each in DocumentState if states[each])
    pages, nodes = sum(one.pages for one in now.documents), sum(one.nodes for one in now.documents)
    sums = f"{len(now.documents):,} documents: {counted or 'none'}; {pages:,} pages, {nodes:,} nodes, snapshot {now.snapshot}."
    ordered = sorted(now.documents, key=lambda one: (one.state is DocumentState.READY, one.name))
    cells = ((one.name, one.state, one.reason, f"{one.pages:,}", f"{one.nodes:,}") for one in ordered[:DOCUMENTS_SHOWN])
    table = "\n".join(["| name | state | reason | pages | nodes |", "|---|---|---|--:|--:|", *map(table_row, cells)])
    left = len(ordered) - DOCUMENTS_SHOWN
    return [sums, table, *([f"and {left:,} more: `flowreader documents list --corpus {now.corpus}`"] if left > 0 else [])]


def _answers(answers: Sequence[Answer], pages: Mapping[str, ArtifactCollection]) -> str:
    if not answers:
        return "Nothing was asked yet."
    rows = ["| asked (UTC) | question | status | page |", "|---|---|---|---|"]
    for answer in answers:
        page, question = pages.get(answer_key(answer)), as_markdown(shortened(answer.question, QUESTION_SHOWN))
        # The words of a link are the UI's to show: those of people stand outside.
        link = page_link("answer", page.key, page.latest_id) if page else ""
        rows.append(f"| {minute(answer.asked)} | {question} | {as_markdown(answer.status)} | {link} |")
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
