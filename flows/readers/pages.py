"""What pages alone are worth: the best by the ranking, whole, as pictures and text; no graph of pages, no ratings, no gate."""

from collections.abc import Mapping

from storage.graph.candidates import CandidateGraph
from tasks.asking.calls import Stage, stage_bounds
from tasks.asking.question import AskContext
from tasks.asking.records import NodeScores, Question
from tasks.readers.page_pictures import with_pages
from tasks.readers.pages import take_best
from tasks.readers.whole_documents import find_documents
from tasks.reading.paths import fetch_texts, read_paths
from tasks.reading.synthesis import Evidence, Findings, synthesize
from tasks.settings.ask import AskSettings


def most_calls(settings: AskSettings) -> Mapping[Stage, int]:
    """One to read all pages."""
    return stage_bounds(settings, first=1)


async def read(question: Question, context: AskContext) -> Findings:
    """Answer from the best pages, or those that an evaluation knows to be right: candidates, score -> best pages -> read."""
    settings = context.settings.pages
    graph, scores = await find_documents(question, context, most=settings.documents)
    return await read_best(question, graph, scores, context, most=settings.pages, order="best", doubtful=context.right is None)


async def read_best(
    question: Question,
    graph: CandidateGraph,
    scores: NodeScores,
    context: AskContext,
    *,
    most: int,
    order: str,
    doubtful: bool,
) -> Findings:
    paths, way = await take_best.submit(question, graph, scores, most, order, context)
    texts = await fetch_texts.submit(question, graph, scores, paths, context)
    texts = await with_pages(question, texts, context, most=len(way.pages))
    readings = await read_paths.submit(question, texts, context)
    return await synthesize.submit(question, graph, scores, Evidence(paths, readings, doubtful=doubtful, way=way), context)
