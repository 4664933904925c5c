"""LAD-RAG's way: a search, queries for kinds and places, and what stands around the best; what was kept is read."""

from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.readers.agent import keep_context, keep_queried, keep_searched, take_kept
from tasks.readers.whole_documents import find_documents
from tasks.reading.paths import fetch_texts, read_paths
from tasks.reading.synthesis import Evidence, Findings, synthesize

GATED = False


async def read(question: Question, context: AskContext) -> Findings:
    """Answer by three tools: candidates -> score -> search -> query -> context -> take kept -> fetch -> read -> synthesize."""
    settings = context.settings.agent
    graph, scores = await find_documents(question, context, most=settings.documents)
    kept = await keep_searched.submit(question, graph, scores, context)
    if "query" in settings.tools:
        kept = await keep_queried.submit(question, graph, scores, kept, context)
    if "context" in settings.tools:
        kept = await keep_context.submit(question, graph, scores, kept, context)
    paths, way = await take_kept.submit(question, graph, scores, kept, context)
    texts = await fetch_texts.submit(question, graph, scores, paths, context)
    readings = await read_paths.submit(question, texts, context)
    return await synthesize.submit(question, graph, scores, Evidence(paths, readings, doubtful=True, way=way), context)
