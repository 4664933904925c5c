"""MoLoRAG's way: from the pages nearest to the question to pages like them, each rated; the best of those are read whole."""

from collections.abc import Mapping

from tasks.asking.calls import Stage, stage_bounds
from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.readers.page_pictures import with_pages
from tasks.readers.walk import begin_walk, choose_pages, most_rated, rate_pages
from tasks.readers.whole_documents import find_documents
from tasks.reading.paths import fetch_texts, read_paths
from tasks.reading.synthesis import Evidence, Findings, synthesize
from tasks.settings.ask import AskSettings


def most_calls(settings: AskSettings) -> Mapping[Stage, int]:
    """One for each page that may be rated, and one to read."""
    return stage_bounds(settings, first=most_rated(settings) + 1)


async def read(question: Question, context: AskContext) -> Findings:
    """Answer by walking: candidates -> score -> page graph -> (rate pages, hop by hop) -> choose -> fetch -> read -> synthesize."""
    graph, scores = await find_documents(question, context, most=context.settings.walk.documents)
    walk = await begin_walk.submit(question, graph, scores, context)
    while len(walk.beam.open):
        walk = await rate_pages.submit(question, graph, walk, context)
    paths, way = await choose_pages.submit(question, graph, walk, context)
    texts = await fetch_texts.submit(question, graph, scores, paths, context)
    texts = await with_pages(question, texts, context, most=context.settings.walk.pages)
    readings = await read_paths.submit(question, texts, context)
    return await synthesize.submit(question, graph, scores, Evidence(paths, readings, doubtful=True, way=way), context)
