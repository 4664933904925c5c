"""The baseline: the best passages by cosine and BM25 blended, each read by itself; no graph, no flow, no gate."""

from tasks.path_reader import Question
from tasks.question import AskDesk
from tasks.reading import fetch_texts, read_paths
from tasks.retrieval import find_candidates, score_by_relevance
from tasks.routing import best_passages
from tasks.synthesis import Evidence, Findings, synthesize


async def read(question: Question, desk: AskDesk) -> Findings:
    """Answer from the most relevant passages: candidates -> relevance -> best passages -> fetch -> read -> synthesize."""
    graph = await find_candidates.submit(question, desk)
    scores = await score_by_relevance.submit(question, graph, desk)
    passages = await best_passages.submit(question, scores, desk)
    texts = await fetch_texts.submit(question, graph, scores, passages, desk)
    readings = await read_paths.submit(question, texts, desk)
    return await synthesize.submit(question, graph, scores, Evidence(passages, readings), desk)
