"""What the readers that go by pages and sections work on: whole documents, the best of a large scope."""

from dataclasses import replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.graph.search import load_scope
from tasks.asking.candidates import columns_for, find_candidates, is_large, lay_out_arcs, page_ranking, score
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, Question
from tasks.asking.second_look import look_again


async def find_documents(question: Question, context: AskContext, *, most: int) -> tuple[CandidateGraph, NodeScores]:
    """Return the nodes of whole documents, and their scores after a second look."""
    graph, scores = await find_at_first_look(question, context, most=most)
    return graph, await look_again(question, graph, scores, context)


async def find_at_first_look(question: Question, context: AskContext, *, most: int) -> tuple[CandidateGraph, NodeScores]:
    """Return all nodes of the scope with their scores; of a large scope those of its best documents, at most `most`.

    Where even the best document is too large, they are what any question of a large scope works on: the best nodes.
    """
    graph = await find_candidates.submit(question, context)
    scores = await score.submit(question, graph, context)
    if is_large(context) and (documents := best_documents(graph, scores, context, most=most)):
        graph = await load_documents.submit(question, documents, context)
        scores = await score.submit(question, graph, context)
    return graph, scores


def best_documents(graph: CandidateGraph, scores: NodeScores, context: AskContext, *, most: int) -> tuple[str, ...]:
    """Return the documents of the best pages, in the order of these, as many as are taken whole together."""
    nodes = {record.id: record.nodes for record in context.snapshot.documents()}
    chosen = ranked_documents(graph, scores)[:most]
    held = np.cumsum([nodes[document] for document in chosen])
    return chosen[: int(np.searchsorted(held, context.settings.candidates.whole_limit, side="right"))]


def ranked_documents(graph: CandidateGraph, scores: NodeScores) -> tuple[str, ...]:
    """Return all documents with candidates in the order of their best pages."""
    return tuple(dict.fromkeys(document for (document, _page), _score in page_ranking(graph, scores)))


@question_step("documents", lambda graph: {"nodes": hash_bytes("".join(graph.ids).encode())})
def load_documents(question: Question, documents: tuple[str, ...], context: AskContext) -> CandidateGraph:
    """Take these documents whole, within the pages and the modality that are asked."""
    settings, narrow = context.settings, replace(context, scope=replace(context.scope, documents=tuple(sorted(documents))))
    graph = load_scope(
        context.snapshot.view,
        narrow.scope,
        columns=columns_for(question, narrow),
        initial_vectors=settings.relevance.vectors == "initial",
    )
    return lay_out_arcs(graph, settings.candidates.arcs)
