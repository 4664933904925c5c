"""A second look at the pages that score best, by models that tell more of a passage than its first vector does."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.graph.tables import SECOND_VECTOR, TOKENS
from storage.records.documents import PageKey
from tasks.algorithms.arrays import FloatArray, IntArray, best_of_pages, pages_of_nodes, strongest
from tasks.algorithms.page_ranks import best_pages, standardise, with_opinions
from tasks.algorithms.text.late_interaction import agreement_with, bytes_of_token
from tasks.asking.calls import call_book
from tasks.asking.candidates import score
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, Question, Recorder
from tasks.models.embedding.embedder import wrongs_of_second
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.reranker import name_of_reranker, open_reranker

LOGGER = logging.getLogger(__name__)
USUAL = 0.1
"""The weight of a look that neither a setting nor a fit gives one; SecondSettings says what was measured."""
COMPARED = 400
"""Passages whose tokens are compared: as many as stand on twelve pages of most documents; at most 60 MB."""
RERANKED = 30
"""Passages that a reranker reads: each costs it as long as one takes to embed."""


@dataclass(frozen=True, slots=True, eq=False)
class BestPages:
    """What is looked at again: the number of each candidate's page (n,), and the numbers of the best pages (p,).

    `nodes` are the candidates on these, in the order of their scores, the best first.
    """

    pages: IntArray
    best: IntArray
    nodes: IntArray

    def worthiest(self, count: int) -> IntArray:
        """Return the best node of each page, then the best of the others, `count` in all."""
        _numbers, firsts = np.unique(self.pages[self.nodes], return_index=True)
        return np.concatenate([self.nodes[firsts], np.delete(self.nodes, firsts)])[: max(count, len(firsts))]

    def highest(self, nodes: IntArray, values: FloatArray) -> FloatArray:
        """Return the highest of the nodes' values on each of the best pages (p,); each has one of these nodes."""
        return best_of_pages(values=values, pages=self.pages[nodes])[self.best]


class SecondLooks(NamedTuple):
    """Second looks at the best pages: of each its setting, its weight and its opinion, standardised (p,)."""

    pages: list[PageKey]
    opinions: list[tuple[str, float, FloatArray]]


recorder: Recorder[SecondLooks] = Recorder("second looks")


async def score_and_look_again(question: Question, graph: CandidateGraph, context: AskContext) -> NodeScores:
    return await look_again(question, graph, await score.submit(question, graph, context), context)


async def look_again(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> NodeScores:
    """Return the scores after a second look, where the corpus or the user has a model for one; else as they are.

    The log of a page's score grows by what each model makes of the page, standardised over these pages, times its weight.
    """
    looks = {
        "tokens_weight": context.snapshot.view.has_tokens and compare_tokens,
        "weight": context.second and second_look,
        "rerank_weight": name_of_reranker(context.settings) and rerank,
    }
    wanted = {name: look for name, look in looks.items() if look and weighs_something(name, context)}
    if not wanted:
        return scores
    best = find_best_pages(graph, scores, context)
    # Where every score is 0, no page is the best.
    if not len(best.nodes):
        return scores
    opinions = {name: await look.submit(question, graph, best, context) for name, look in wanted.items()}
    given = {name: opinion for name, opinion in opinions.items() if opinion is not None}
    return await weigh_opinions.submit(question, graph, scores, best, given, context) if given else scores


def weighs_something(look: str, context: AskContext) -> bool:
    """Say whether a look is taken; one whose weight was fitted is seen by every evaluation, which may weigh it anew."""
    is_own = getattr(context.settings.second, look) is not None
    return weight_of(look, context) != 0 or (recorder.is_watched and not is_own)


def find_best_pages(graph: CandidateGraph, scores: NodeScores, context: AskContext) -> BestPages:
    pages = pages_of_nodes(documents=graph.documents, pages=graph.pages)
    best = best_pages(scores=scores.combined, pages=pages, count=context.settings.second.pages)
    ranked = strongest(scores=scores.combined, count=len(pages))
    return BestPages(pages, best, ranked[np.isin(pages[ranked], best)])


def record_opinion(opinion: FloatArray | None) -> dict[str, str]:
    return {} if opinion is None else {"opinion": hash_bytes(opinion.tobytes())}


@question_step("second-look", record_opinion)
def second_look(question: Question, graph: CandidateGraph, looked_at: BestPages, context: AskContext) -> FloatArray:
    """Return the best cosine that the second embedder finds on each of the best pages (p,)."""
    assert context.second is not None
    view = context.snapshot.view
    with wrongs_of_second(context.second.identity.named):
        vector = context.second.embed_query(question.text)[0]
    positions = view.adjacency.positions_of([graph.ids[place] for place in looked_at.nodes])
    vectors = view.columns.take(positions, [SECOND_VECTOR])[SECOND_VECTOR]
    return looked_at.highest(looked_at.nodes, np.vecdot(vectors, vector).astype(np.float64))


# A second try would note what is lost twice.
@question_step("compare-tokens", record_opinion, retries=0)
def compare_tokens(question: Question, graph: CandidateGraph, looked_at: BestPages, context: AskContext) -> FloatArray | None:
    """Return how much of the question the best passage of each of the best pages speaks of (p,).

    None where the embedder has no tokens, as a server, or one of these passages was read in without: all are compared or none.
    Tokens of another width are damage: the ranking stands as it was, and the answer says so.
    """
    view = context.snapshot.view
    compared = looked_at.worthiest(COMPARED)
    tokens = view.columns.take(view.adjacency.positions_of([graph.ids[place] for place in compared]), [TOKENS])[TOKENS]
    states = None if any(bits is None for bits in tokens) else context.embedder.states_of_query(question.text)
    has_tokens = tokens.astype(bool)
    if states is None or not len(states) or not has_tokens.any():
        return None
    if any(len(bits) % bytes_of_token(states.shape[1]) for bits in tokens):
        note_loss("the pages are ranked without tokens: those of the corpus are damaged; read its files into a new corpus")
        return None
    agreed = agreement_with(states, tokens[has_tokens].tolist())
    # A page without a token is worth the worst.
    opinion = np.full(len(compared), agreed.min())
    opinion[has_tokens] = agreed
    return looked_at.highest(compared, opinion)


def note_loss(lost: str) -> None:
    """Note in the answer what is lost, or in the log where nothing has notes, as in a search."""
    if book := call_book.get(None):
        book.notes.append(lost)
    else:
        LOGGER.warning(lost)


def note_no_look(context: AskContext) -> None:
    """Note in the answer which models of the user's have no say where the method has no second look."""
    asked = {"the reranker": name_of_reranker(context.settings), "the second embedder": context.second}
    if unheard := [what for what, there in asked.items() if there]:
        note_loss(f"{' and '.join(unheard)} had no say: the paper's flow has no second look")


# A second try would note its failure twice.
@question_step("rerank", record_opinion, retries=0)
def rerank(question: Question, graph: CandidateGraph, looked_at: BestPages, context: AskContext) -> FloatArray | None:
    """Return for each of the best pages (p,) the highest score of its passages that were read, None where the reranker gives none.

    Read are the best passage of each page, then the best of the others, RERANKED in all. Without scores the ranking stands as it
    was, and the answer says so; where a model is required, as in an evaluation, that is an error.
    """
    book = call_book.get(None)
    read = looked_at.worthiest(RERANKED)
    passages = [str(graph.columns["search_text"][place]) for place in read]
    reranker = open_reranker(context.settings, until=book.duties_end if book else None)
    try:
        opinion = looked_at.highest(read, reranker.scores(question.text, passages))
    except EmbeddingError as error:
        if book and book.require_model:
            raise
        note_loss(f"the pages are ranked without the reranker: {error}")
        return None
    if book:
        book.reranker = name_of_reranker(context.settings)
    return opinion


@question_step("weigh-opinions", lambda scores: {"scores": hash_bytes(scores.combined.tobytes())}, retries=0)
def weigh_opinions(
    question: Question,
    graph: CandidateGraph,
    scores: NodeScores,
    looked_at: BestPages,
    opinions: Mapping[str, FloatArray],
    context: AskContext,
) -> NodeScores:
    """Add the opinions of the best pages, each with its weight: that of its setting, by which it is named, else the fitted one."""
    weighed = [(name, weight_of(name, context), standardise(opinion)) for name, opinion in opinions.items()]
    if recorder.is_watched:
        _numbers, firsts = np.unique(looked_at.pages, return_index=True)
        owners, numbers = graph.documents[firsts[looked_at.best]], graph.pages[firsts[looked_at.best]]
        pages = [(graph.document_ids[owner], number) for owner, number in zip(owners.tolist(), numbers.tolist(), strict=True)]
        recorder.record(SecondLooks(pages, weighed))
    combined = with_opinions(
        scores=scores.combined, pages=looked_at.pages, best=looked_at.best, opinions=[(z, weight) for _name, weight, z in weighed]
    )
    reranker = name_of_reranker(context.settings) if "rerank_weight" in opinions else ""
    return replace(scores, combined=combined, reranker=reranker, tokens="tokens_weight" in opinions)


def weight_of(look: str, context: AskContext) -> float:
    own: float | None = getattr(context.settings.second, look)
    return context.weights.looks.get(look, USUAL) if own is None else own
