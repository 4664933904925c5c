"""LAD-RAG's way: search, query for kinds and places, look around the best; read what was kept."""

from collections.abc import Mapping

from storage.graph.candidates import CandidateGraph
from tasks.asking.calls import Stage, stage_bounds
from tasks.asking.question import AskContext
from tasks.asking.records import NodeScores, Question
from tasks.readers.agent import Kept, keep_context, keep_queried, keep_searched, take_kept
from tasks.readers.agent_turns import first_look, search, take_turn
from tasks.readers.page_pictures import with_pages
from tasks.readers.whole_documents import find_documents
from tasks.reading.paths import fetch_texts, read_paths
from tasks.reading.synthesis import Evidence, Findings, synthesize
from tasks.settings.ask import AskSettings


def most_calls(settings: AskSettings) -> Mapping[Stage, int]:
    """One for each turn, and for each document that is read."""
    return stage_bounds(settings, first=settings.agent.steps + settings.agent.paths)


async def read(question: Question, context: AskContext) -> Findings:
    """Answer by three tools: candidates -> score -> search -> query -> context -> take kept -> fetch -> read -> synthesize.

    A model picks the tools turn by turn; if none of its replies can be used, rules do.
    """
    settings = context.settings.agent
    graph, scores = await find_documents(question, context, most=settings.documents)
    turned = await keep_by_model(question, graph, scores, context) if context.reader.model else None
    kept = turned or await keep_searched.submit(question, graph, scores, context)
    # A small model only searches: rules use the other tools.
    if turned is None or context.reader.short:
        if "query" in settings.tools:
            kept = await keep_queried.submit(question, graph, scores, kept, context)
        if "context" in settings.tools:
            kept = await keep_context.submit(question, graph, scores, kept, context)
    paths, way = await take_kept.submit(question, graph, scores, kept, context)
    texts = await fetch_texts.submit(question, graph, scores, paths, context)
    texts = await with_pages(question, texts, context, most=context.settings.reading.model.pictures)
    readings = await read_paths.submit(question, texts, context)
    return await synthesize.submit(question, graph, scores, Evidence(paths, readings, doubtful=True, way=way), context)


async def keep_by_model(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Kept | None:
    """Let the model take turns until one ends it: first look -> (turn, search). Return None if nothing was kept."""
    turns = await first_look.submit(question, graph, scores, context)
    while not turns.ended:
        turns = await take_turn.submit(question, graph, scores, turns, context)
        if turns.sought:
            turns = await search(question, graph, turns, context)
    return turns.result if turns.result.nodes else None
