"""Passages of a corpus, ranked for a query by the scores that `flow` begins with; no model reads, and nothing is kept."""

import asyncio
import itertools
from dataclasses import asdict, replace
from typing import Any

from storage.corpus.snapshot import Snapshot
from storage.locations import corpus_location
from storage.records.documents import WHOLE_PAGE, Passage
from storage.runs.log import RunLog
from tasks.algorithms.arrays import strongest
from tasks.asking.candidates import find_candidates
from tasks.asking.opening import open_in_thread
from tasks.asking.question import AskContext, context_of, understand
from tasks.asking.records import PathReading
from tasks.asking.request import AskRequest, check_questions, find_scope
from tasks.asking.second_look import score_and_look_again
from tasks.lineage.writing import working_at, workplace_of
from tasks.models.embedding.embedder import open_question_embedder
from tasks.reading.paths import fetch_texts, read_paths
from tasks.reading.rules import ExtractiveReader
from tasks.routing.way import ChosenPath
from tasks.views.documents import words_in

FIRST_CHARACTERS = 500
"""Shown of a passage without words of the question."""


Found = tuple[list[dict[str, Any]], int | None]


async def search(request: AskRequest, start: int, limit: int) -> Found:
    """Return up to `limit` passages for the one question, from rank `start` (0 is the best), and the next rank, if any.

    Each passage is quoted by its best words for the question, or its first; meaningless ones are left out. Raise as `ask`.
    """
    location, (text,) = corpus_location(request.corpus), check_questions(request.questions)
    # Steps record what they did, but this log is never written: a search leaves nothing behind.
    place = workplace_of("search", RunLog(location.runs / "search", itertools.count(1), held=[]))
    async with open_in_thread(location) as snapshot:
        context = await asyncio.to_thread(_context, snapshot, request)
        with working_at(replace(place, remembers=False)):
            question = await understand("search", text, context)
            graph = await find_candidates.submit(question, context)
            scores = await score_and_look_again(question, graph, context)
            ranking = strongest(scores=scores.combined, count=len(graph.ids)).tolist()
            ranked = ranking[start : start + limit]
            paths = [ChosenPath(nodes=(node,), flow=0.0) for node in ranked]
            texts = await fetch_texts.submit(question, graph, scores, paths, context)
            readings = await read_paths.submit(question, texts, context)
    hits = [
        {"rank": rank, "score": round(float(scores.combined[node]), 4)} | _hit(path.nodes[0], reading, context)
        for rank, node, path, reading in zip(itertools.count(start + 1), ranked, texts, readings)
        if not path.nodes[0].meaningless
    ]
    end = start + len(ranked)
    return hits, end if end < len(ranking) else None


def _context(snapshot: Snapshot, request: AskRequest) -> AskContext:
    scope, settings = find_scope(snapshot, request), request.settings
    embedder = open_question_embedder(snapshot.embedder, models=settings.models)
    return context_of(snapshot, scope, settings, embedder, ExtractiveReader(settings.reading))


def _hit(passage: Passage, reading: PathReading, context: AskContext) -> dict[str, Any]:
    return {
        "document": asdict(context.names[passage.document_id]),
        "page": passage.page,
        "box": None if passage.box == WHOLE_PAGE else passage.box,
        "section": passage.section_path,
        "quote": reading.answer or words_in(passage)[:FIRST_CHARACTERS],
    }
