"""How much an ingest has to do, and what it costs, before it is done and without a call."""

import math
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from storage.artifacts import ArtifactStore, home_artifacts
from storage.locations import calls_folder, steps_folder
from storage.memo import StepMemo
from storage.runs.replies import CallCache
from tasks.content_graph.analysis import analyze_nodes, summarize_pages
from tasks.content_graph.description import Describing, describing, description_calls
from tasks.content_graph.model_map import map_calls
from tasks.content_graph.page_by_page import Memory, page_call, page_groups
from tasks.content_graph.structure import Structured, structure_document
from tasks.finding.plan import DocumentWork
from tasks.ingest.model import EVOLVING, MAPPING, PAGING
from tasks.ingest.remembered import is_remembered
from tasks.models.chat.budget import price
from tasks.models.chat.call import ChatCall
from tasks.models.chat.request import picture_tokens, text_tokens
from tasks.models.endpoints import chat_endpoint
from tasks.parsing.parse import ParseError, count_pages, sample_file
from tasks.prompts.prompt import load_prompt
from tasks.settings.ingest import IngestSettings, ModelEvolutionSettings

SECONDS_A_PAGE = 0.3
"""What a born-digital page costs on two cores; `make bench-ingest` measures it."""
STARTING_SECONDS = 10.0
"""What every run costs before its first page: the server, the models."""

SAMPLED_PAGES = 8
"""Pages of a PDF that are really parsed; the calls for the others are taken to be as many and as long."""
SAMPLED_DOCUMENTS = 40
"""Documents that are sampled; the others are taken to be like them, page for page."""

DESCRIPTION_TOKENS = 120
JUDGED_TOKENS = 310
JUDGEMENT_TOKENS = 170
"""Tokens of a node: written to describe it, read and written to judge it in one round, where each round rewrites every node;
`make bench-models` measures them against replies of a usual length."""
MEMORY_TOKENS = 250
"""Read and written by a call about a page: what is handed from page to page."""
MAP_NOTE_TOKENS = 80
"""Written to sum up a page or a section: forty words and their frame."""
WRITTEN_TOKENS_A_SECOND = 30.0
"""What one call of a 32B model writes on four GPUs among sixty others; assumed, not measured here."""


@dataclass(frozen=True, slots=True)
class DocumentEstimate:
    """What lies ahead of one document; one without pages of its own counts as one page. Remembered replies are left out."""

    name: str
    pages: int
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def scale(self, of: "DocumentEstimate", share: float) -> "DocumentEstimate":
        """Return the estimate of a document with this share of the calls that are estimated here."""
        asked = (self.calls, self.input_tokens, self.output_tokens)
        return DocumentEstimate(of.name, of.pages, *(round(number * share) for number in asked))


@dataclass(frozen=True, slots=True)
class Estimate:
    """What lies ahead, by document and in all."""

    documents: int
    pages: int
    megabytes: float
    seconds: float
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    by_document: tuple[DocumentEstimate, ...]


def estimate(work: Sequence[DocumentWork], settings: IngestSettings) -> Estimate:
    """Look at the documents in work, page by page where they are few; a file that cannot be read is a page without calls.

    No model is asked, and nothing is kept of what is parsed.
    """
    memo = StepMemo(steps_folder(), home_artifacts())
    fresh = [document for document in work if not is_remembered(document, memo)]
    look = _looking_like(fresh, settings) if settings.reading.analysis.asks_model else partial(_count_pages, settings=settings)
    known = {document.document_id: look(document) for document in fresh}
    found = tuple(known.get(document.document_id, DocumentEstimate(document.name, 0)) for document in work)
    whole = _sum(found)
    return Estimate(
        documents=len(work),
        pages=whole.pages,
        megabytes=sum(document.size_bytes for document in work) / 1e6,
        seconds=STARTING_SECONDS + whole.pages * SECONDS_A_PAGE + _asking_seconds(whole, settings) if work else 0.0,
        calls=whole.calls,
        input_tokens=whole.input_tokens,
        output_tokens=whole.output_tokens,
        cost=price(whole.input_tokens, whole.output_tokens, settings.models.prices),
        by_document=found,
    )


def _sum(found: Collection[DocumentEstimate]) -> DocumentEstimate:
    pages, calls = sum(one.pages for one in found), sum(one.calls for one in found)
    return DocumentEstimate("", pages, calls, sum(one.input_tokens for one in found), sum(one.output_tokens for one in found))


def _count_pages(document: DocumentWork, settings: IngestSettings) -> DocumentEstimate:
    return DocumentEstimate(document.name, count_pages(Path(document.path), settings) or 1)


def _looking_like(documents: Sequence[DocumentWork], settings: IngestSettings) -> Callable[[DocumentWork], DocumentEstimate]:
    """Sample documents spread over all; return what estimates each: by its sample, or as usual."""
    step = max(1, math.ceil(len(documents) / SAMPLED_DOCUMENTS))
    sampled = {document.document_id: _parse_sample(document, settings) for document in documents[::step]}
    usual = _sum(sampled.values())

    def look(document: DocumentWork) -> DocumentEstimate:
        found = sampled.get(document.document_id)
        if found is None:
            found = _count_pages(document, settings)
            found = usual.scale(found, found.pages / max(1, usual.pages))
        return _without_remembered(found, document)

    return look


def _parse_sample(document: DocumentWork, settings: IngestSettings) -> DocumentEstimate:
    """Parse some pages as the run will, and make the calls up to the point of asking."""
    reading = settings.reading
    with tempfile.TemporaryDirectory(prefix="flowreader-estimate-") as folder:
        artifacts = ArtifactStore(Path(folder))
        try:
            parsed, pages = sample_file(
                path=Path(document.path),
                document_id=document.document_id,
                password=document.password,
                pages=SAMPLED_PAGES,
                settings=settings,
                artifacts=artifacts,
            )
        except (ParseError, OSError):
            return DocumentEstimate(document.name, 1)
        structured = structure_document(parsed=parsed, version=document.version, settings=reading)
        nodes = analyze_nodes(nodes=structured.nodes, rows=structured.rows, settings=reading.analysis)
        summed_up = summarize_pages(pages=structured.pages, nodes=nodes, settings=reading.analysis)
        sample = _count_calls(document, replace(structured, nodes=nodes, pages=summed_up), settings, artifacts)
    share = pages / max(1, len(parsed.pages))
    return DocumentEstimate(document.name, pages, *(math.ceil(number * share) for number in sample))


def _count_calls(
    document: DocumentWork, analyzed: Structured, settings: IngestSettings, artifacts: ArtifactStore
) -> tuple[int, int, int]:
    """Return the calls, the tokens read and the tokens written for these nodes, pages and sections."""
    reading, models = settings.reading, settings.models
    asking = describing(document.document_id, document.name, analyzed.nodes, analyzed.pages, reading, artifacts)
    mapping = map_calls(document.document_id, document.name, analyzed, reading.analysis)
    paged, mapped = reading.analysis.pages == "model", reading.analysis.map == "model"
    described = paged or reading.analysis.by == "model"
    groups = [group for wave in mapping.groups() for group in wave] if mapped else []
    pages = [page_call(group, asking, Memory(), {}, b"") for group in page_groups(asking)] if paged else []
    describing_calls = pages or (description_calls(asking) if described else ())
    calls: list[ChatCall[Any]] = [*describing_calls, *map(mapping.call, groups)]
    read = sum(text_tokens(len(call.prompt), 1, models.estimates) + picture_tokens(len(call.images), models) for call in calls)
    subjects, memory = len(asking.places) if described else 0, len(pages) * MEMORY_TOKENS
    rounds = reading.evolution.rounds if reading.evolution.mode == "model" else 0
    judging = rounds * math.ceil(subjects / reading.evolution.model.nodes_per_call)
    written = subjects * (DESCRIPTION_TOKENS + rounds * JUDGEMENT_TOKENS) + sum(map(len, groups)) * MAP_NOTE_TOKENS
    return len(calls) + judging, read + memory + rounds * _judged_tokens(asking, settings), written + memory


def _judged_tokens(asking: Describing, settings: IngestSettings) -> int:
    """Return how many tokens a round reads; JUDGED_TOKENS is of usual calls, about notes without their content."""
    asks, usual, models, nodes = settings.reading.evolution.model, ModelEvolutionSettings(), settings.models, len(asking.places)
    calls = math.ceil(nodes / asks.nodes_per_call) - math.ceil(nodes / usual.nodes_per_call)
    words = len(load_prompt("evolve").text) * calls
    words += sum(min(len(asking.nodes[place].content), asks.content_characters) for place in asking.places)
    pictures = len(asking.pictures) if asks.content_characters else 0
    return nodes * JUDGED_TOKENS + text_tokens(words, calls, models.estimates) + picture_tokens(pictures, models)


def _without_remembered(found: DocumentEstimate, document: DocumentWork) -> DocumentEstimate:
    """Leave out the share of the calls whose replies were kept, of today's prompts and of the model that the environment names."""
    prompts, server = {load_prompt(name).hash for name in (*EVOLVING, "evolve_enriched", *MAPPING, *PAGING)}, chat_endpoint()
    models = {server.model} if server and server.model else set()
    replies = CallCache(calls_folder()).recall(document.document_id).values()
    kept = sum(reply.prompt_hash in prompts and (not models or reply.model in models) for reply in replies)
    return found.scale(found, max(0, found.calls - kept) / max(1, found.calls))


def _asking_seconds(whole: DocumentEstimate, settings: IngestSettings) -> float:
    """Return how long the replies take: as long as they are written, and as the server's limits hold them back."""
    limits = settings.models.limits
    # Those of a document that is read page by page come one after the other.
    paged = settings.reading.analysis.pages == "model"
    at_once = min(limits.in_flight, settings.work.documents_in_work) if paged else limits.in_flight
    return max(
        whole.output_tokens / WRITTEN_TOKENS_A_SECOND / min(at_once, max(1, whole.calls)),
        60 * whole.calls / (limits.requests_per_minute or math.inf),
        60 * (whole.input_tokens + whole.output_tokens) / (limits.tokens_per_minute or math.inf),
    )
