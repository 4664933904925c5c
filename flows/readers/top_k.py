"""The baseline: the best passages by cosine and BM25 blended, each read by itself; no graph, no flow, no gate."""

from tasks.asking.candidates import find_candidates, score_by_relevance
from tasks.asking.question import AskDesk
from tasks.asking.records import Question
from tasks.reading.paths import fetch_texts, read_paths
from tasks.reading.synthesis import Evidence, Findings, synthesize
from tasks.routing.routing import best_passages


async def read(question: Question, desk: AskDesk) -> Findings:
    """Answer from the most relevant passages: candidates -> relevance -> best passages -> fetch -> read -> synthesize."""
    graph = await find_candidates.submit(question, desk)
    scores = await score_by_relevance.submit(question, graph, desk)
    passages = await best_passages.submit(question, scores, desk)
    texts = await fetch_texts.submit(question, graph, scores, passages, desk)
    readings = await read_paths.submit(question, texts, desk)
    return await synthesize.submit(question, graph, scores, Evidence(passages, readings), desk)
