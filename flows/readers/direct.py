"""What no search at all is worth: the first pages, whole, as pictures and text, as many as the model has room for."""

from flows.readers.pages import most_calls, read_best
from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.readers.pages import rank_by_place
from tasks.readers.whole_documents import find_at_first_look
from tasks.reading.synthesis import Findings

__all__ = ["most_calls", "read"]


async def read(question: Question, context: AskContext) -> Findings:
    """Answer from the first pages: candidates, score -> rank by place -> best pages -> read -> synthesize."""
    settings = context.settings.pages
    graph, scores = await find_at_first_look(question, context, most=settings.documents)
    scores = await rank_by_place.submit(question, graph, scores)
    return await read_best(question, graph, scores, context, most=settings.first, order="first", doubtful=False)
