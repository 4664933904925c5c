"""From a file to its graph, step by step: parse -> read words -> structure -> analyze -> embed -> T rounds -> evolve.

A round by rule is one step, `evolve-round`; by a model it is two, `judge-links` and `embed-round`. Before the rounds a model may
read the document page by page, `see-pages`, and after them summarise pages and sections, `write-map`.
"""

from dataclasses import replace

from storage.records.documents import DocumentGraph, ParsedDocument, Vectors
from tasks.content_graph.evolution import before_the_rounds
from tasks.content_graph.model_evolution import before_the_first
from tasks.content_graph.structure import Structured
from tasks.finding.plan import DocumentWork
from tasks.ingest.keys import Evolved, IngestTools, is_unfinished
from tasks.ingest.page_steps import see_pages
from tasks.ingest.steps import (
    analyze,
    embed,
    embed_round,
    embedding_texts,
    evolve,
    evolve_round,
    judge_links,
    parse,
    read_pictures,
    structure,
    write_map,
)


async def read_pages(work: DocumentWork, tools: IngestTools) -> ParsedDocument:
    parsed = await parse.submit(work, tools)
    return await read_pictures.submit(work, parsed, tools)


async def make_graph(work: DocumentWork, tools: IngestTools) -> tuple[DocumentGraph, bool]:
    """Return the document's graph, and whether nodes still lack a reply of the model."""
    readable = await read_pages(work, tools)
    structured = await structure.submit(work, readable, tools)
    analyzed = await analyze.submit(work, structured, tools)
    if tools.reads_pages:
        analyzed = await see_pages.submit(work, readable, analyzed, tools)
    texts = embedding_texts(analyzed.nodes, tools)
    vectors = await embed.submit(work, texts, tools)
    second = await embed.submit(work, texts, replace(tools, embedder=tools.second)) if tools.second else None
    evolved = await evolve_in_rounds(work, analyzed, vectors.vectors, tools)
    if tools.settings.reading.analysis.map == "model":
        analyzed = await write_map.submit(work, analyzed, tools, evolved)
    graph = await evolve.submit(work, readable, analyzed, vectors, tools, evolved, second)
    return graph, is_unfinished(analyzed, evolved)


async def evolve_in_rounds(work: DocumentWork, analyzed: Structured, initial: Vectors, tools: IngestTools) -> Evolved:
    settings = tools.settings.reading.evolution
    numbers = range(1, settings.rounds + 1)
    if settings.mode == "lite":
        evolved = before_the_rounds(analyzed.nodes, initial)
        for number in numbers:
            evolved = await evolve_round.submit(work, number, evolved, tools)
        return evolved
    judged = before_the_first(analyzed.nodes, initial, settings)
    for number in numbers:
        judged = await judge_links.submit(work, number, judged, tools)
        judged = replace(judged, vectors=await embed_round.submit(work, number, judged.texts, tools))
    return judged
