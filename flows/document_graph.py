"""From a file to its graph, step by step: parse -> read words -> structure -> analyze -> embed -> (judge links) -> evolve."""

from storage.records.documents import DocumentGraph, ParsedDocument
from tasks.finding.plan import DocumentWork
from tasks.ingest.keys import Tools
from tasks.ingest.steps import analyze, embed, embedding_texts, evolve, judge_links, parse, read_pictures, structure


async def read_pages(work: DocumentWork, tools: Tools) -> ParsedDocument:
    parsed = await parse.submit(work, tools)
    return await read_pictures.submit(work, parsed, tools)


async def make_graph(work: DocumentWork, tools: Tools) -> tuple[DocumentGraph, bool]:
    readable = await read_pages(work, tools)
    structured = await structure.submit(work, readable, tools)
    analyzed = await analyze.submit(work, structured, tools)
    vectors = await embed.submit(work, embedding_texts(analyzed.nodes, tools), tools)
    judged = await judge_links.submit(work, analyzed, vectors, tools) if tools.judges_links else None
    unfinished = (judged.structured if judged else analyzed).unfinished
    return await evolve.submit(work, readable, analyzed, vectors, tools, judged), unfinished
