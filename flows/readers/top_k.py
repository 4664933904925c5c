"""The baseline: the best passages by cosine and BM25 blended, each read by itself; no graph, no flow, no gate."""

from functools import partial

from tasks.asking.calls import call_bounds
from tasks.asking.candidates import find_candidates, score_by_relevance
from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.asking.second_look import look_again
from tasks.reading.paths import fetch_texts, read_paths
from tasks.reading.synthesis import Evidence, Findings, synthesize
from tasks.routing.way import best_passages

most_calls = partial(call_bounds, gated=False)


async def read(question: Question, context: AskContext) -> Findings:
    """Answer from the best passages: candidates, relevance, look again -> best passages -> fetch -> read -> synthesize."""
    graph = await find_candidates.submit(question, context)
    scores = await look_again(question, graph, await score_by_relevance.submit(question, graph, context), context)
    passages = await best_passages.submit(question, scores, context)
    texts = await fetch_texts.submit(question, graph, scores, passages, context)
    readings = await read_paths.submit(question, texts, context)
    return await synthesize.submit(question, graph, scores, Evidence(passages, readings, doubtful=True), context)
