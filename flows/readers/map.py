"""DMAP's way: pages by the map of the document, by text and by figures; unanswered parts are looked for around them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from storage.graph.candidates import CandidateGraph
from tasks.asking.calls import Stage, stage_bounds
from tasks.asking.question import AskContext
from tasks.asking.records import NodeScores, PathReading, Question
from tasks.readers.map import MapSearch, locate, reflect, take_paths, widen
from tasks.readers.page_pictures import with_pages
from tasks.readers.whole_documents import find_documents
from tasks.reading.paths import fetch_texts, read_paths, with_one_text
from tasks.reading.synthesis import Evidence, Findings, synthesize
from tasks.settings.ask import AskSettings


def most_calls(settings: AskSettings) -> Mapping[Stage, int]:
    """One to locate and two to read; in each round one to reflect, and two to read what is around."""
    return stage_bounds(settings, first=3, refined=3 * settings.map.rounds)


async def read(question: Question, context: AskContext) -> Findings:
    """Answer by the map: candidates, score -> locate -> three paths -> read -> (reflect -> widen -> read) -> synthesize."""
    graph, scores = await find_documents(question, context, most=context.settings.map.documents)
    search = await locate.submit(question, graph, scores, context)
    search = await take_paths.submit(question, graph, scores, search, context)
    readings = await read_groups(question, graph, scores, search, context, read=0)
    for _round in range(context.settings.map.rounds):
        search = await reflect.submit(question, scores, search, readings, context)
        if search.open and search.maps:
            search = await widen.submit(question, graph, search, readings, context)
        if len(search.groups) == len(readings):
            break
        readings = with_one_text([*readings, *await read_groups(question, graph, scores, search, context, read=len(readings))])
    return await synthesize.submit(
        question, graph, scores, Evidence(search.paths, readings, doubtful=True, way=search.way), context
    )


async def read_groups(
    question: Question, graph: CandidateGraph, scores: NodeScores, search: MapSearch, context: AskContext, *, read: int
) -> Sequence[PathReading]:
    """Read the groups behind those that were read: text, then figures and tables with their pages, or pages by their pictures."""
    texts = await fetch_texts.submit(question, graph, scores, search.paths[read:], context)
    settings, apart = context.settings.map, context.settings.map.pictures == "pages"
    most = max(settings.located + settings.k, settings.widen_pages) if apart else context.settings.reading.model.pictures
    texts = tuple(
        [
            (await with_pages(question, (text,), context, most=most))[0] if group.seen else text
            for text, group in zip(texts, search.groups[read:], strict=True)
        ]
    )
    if apart and len(texts) > 1 and any(text.pages for text in texts):
        texts = tuple(replace(text, part="pictures" if text.pages else "text") for text in texts)
    return await read_paths.submit(question, texts, context)
