"""`walk`: from the pages nearest to the question to their neighbours, each rated by how much of the question stands on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.records.answers import TraceKind
from storage.records.documents import Vectors
from storage.text import counted
from tasks.algorithms.arrays import BoolArray, FloatArray, page_means, snap_fine
from tasks.algorithms.graphs import beam_walk
from tasks.algorithms.questions.kinds import expected_kind, holds_kind
from tasks.algorithms.scores import dense_relevance
from tasks.asking.calls import call_book
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import Duty, NodeScores, Question
from tasks.asking.relevance import own_vectors
from tasks.prompts.prompt import Piece, cut
from tasks.readers.forms import RatedPage, ShortRating
from tasks.readers.page_pictures import page_images
from tasks.readers.pages import Pages, StemsOnPages
from tasks.routing.way import ChosenPath, Way
from tasks.settings.ask import AskSettings

RATING = "rate_page"
"""The prompt by which a model rates a page, unless it is a small one."""
MISFIT = 0.5
"""A page without the number, date or name asked for keeps this part of its share."""
PAGE_CHARACTERS = 4_000
"""Of a page that a model rates; less for a small one."""
NAMED_IN_TRACE = 12
"""Pages that a step's words name, at most."""


@dataclass(frozen=True, slots=True)
class PageWalk:
    """A walk on its way over P pages: which are joined (P, P), and what stands on each."""

    pages: Pages
    stems: StemsOnPages
    arcs: BoolArray
    beam: beam_walk.Beam
    way: Way


@question_step("page-graph", lambda walk: {"arcs": hash_bytes(walk.arcs.tobytes())})
def begin_walk(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> PageWalk:
    """Join the pages, and begin with those nearest to the question."""
    settings, pages = context.settings.walk, Pages.of(graph)
    stems = StemsOnPages.of(question, graph, scores, pages, context)
    vectors = page_means(vectors=own_vectors(graph, context.settings.relevance), weights=stems.words, pages=pages.of_nodes)
    near = pages.best(scores.combined) if settings.near == "score" else dense_relevance(query=question.vector, vectors=vectors)
    beam = beam_walk.begin(near, width=len(near) if settings.everything else min(settings.seeds, settings.rated))
    way = Way().then(
        TraceKind.SEARCH,
        question.text,
        f"the {counted(len(beam.open), 'nearest page')} of {len(near):,}",
        pages=pages.places(beam.open.tolist(), context),
    )
    return PageWalk(pages, stems, join_pages(graph, pages, vectors, context), beam, way)


def join_pages(graph: CandidateGraph, pages: Pages, vectors: Vectors, context: AskContext) -> BoolArray:
    """Return which pages are joined (P, P): alike ones of a document, and those of two that an arc joins; with "all" more."""
    settings = context.settings.walk
    joining = np.ones(len(graph.tails), dtype=np.bool_)
    if settings.arcs == "similar":
        joining = graph.documents[graph.tails] != graph.documents[graph.heads]
    linked = beam_walk.linked_pages(tails=graph.tails[joining], heads=graph.heads[joining], pages=pages.of_nodes)
    alike = beam_walk.similar_pages(
        vectors=vectors, documents=pages.documents, least=settings.theta, neighbours=settings.neighbours
    )
    beside = beam_walk.following_pages(documents=pages.documents, numbers=pages.numbers) if settings.arcs == "all" else np.False_
    return np.asarray(linked | alike | beside)


def most_rated(settings: AskSettings) -> int:
    """Return how many pages a question may have rated: without a limit no more than it takes nodes."""
    candidates = settings.candidates
    return max(candidates.whole_limit, candidates.limit) if settings.walk.everything else settings.walk.rated


@question_step("rate-pages", lambda walk: {"ratings": hash_bytes(walk.beam.ratings.tobytes())}, retries=0, reads=True)
def rate_pages(question: Question, graph: CandidateGraph, walk: PageWalk, context: AskContext) -> PageWalk:
    """Rate the open pages, and go on to the unvisited neighbours of the best of them."""
    settings, opened = context.settings.walk, walk.beam.open
    by_model = bool(context.reader.model)
    ratings = rate_by_model(question, graph, walk, context) if by_model else rate_by_rules(question, graph, walk)
    beam = beam_walk.go_on(
        walk.beam,
        ratings,
        arcs=walk.arcs,
        width=settings.seeds,
        hops=0 if settings.everything else settings.hops,
        share=settings.alpha,
        most=most_rated(context.settings),
    )
    rated = [(page, rating) for page, rating in zip(opened.tolist(), ratings.tolist(), strict=True) if not np.isnan(rating)]
    told = [f"{walk.pages.label_of(page, context)}: {rating:.1f}" for page, rating in rated]
    more = f" and {len(told) - NAMED_IN_TRACE} more" if len(told) > NAMED_IN_TRACE else ""
    by = f", {len(rated)} of them by the model" if by_model else ""
    way = walk.way.then(
        TraceKind.RATE,
        f"how much of the question stands on {counted(len(opened), 'page')}, from 1 to 5{by}",
        ", ".join(told[:NAMED_IN_TRACE]) + more or "no page, so that each is worth its nearness",
        needs=[walk.way.last],
        pages=walk.pages.places(opened.tolist(), context),
    )
    return replace(walk, beam=beam, way=way)


def rate_by_rules(question: Question, graph: CandidateGraph, walk: PageWalk) -> FloatArray:
    """Return for each open page a rating of 1 to 5: the share of the question's words on it, by rarity, names doubled.

    It is halved where the kind of answer that is asked for does not stand there.
    """
    kind, opened = expected_kind(question.text), walk.beam.open
    # On the grid every sum is exact: equal pages are rated equally, on any machine.
    shares = walk.stems.held[opened] @ snap_fine(walk.stems.shares.astype(np.float32))
    texts = (" ".join(graph.columns["search_text"][walk.pages.of_nodes == page]) for page in opened)
    fits = np.array([holds_kind(text, kind, question.text) for text in texts], dtype=np.bool_)
    return np.asarray(beam_walk.LOWEST + (beam_walk.HIGHEST - beam_walk.LOWEST) * shares * np.where(fits, 1.0, MISFIT))


def rate_by_model(question: Question, graph: CandidateGraph, walk: PageWalk, context: AskContext) -> FloatArray:
    """Return what the model rates each open page by its picture and its text; NaN where it gives no usable rating."""
    opened, rater = walk.beam.open.tolist(), context.reader.rater
    pieces = []
    for page, nodes in zip(opened, walk.pages.in_reading_order(opened, graph, context), strict=True):
        (place,) = walk.pages.places([page], context)
        pieces.append(page_piece(place.document.name, place.page, graph.columns["search_text"][nodes]))
    if rater.short:
        short = [Duty("rate_page_small", f"the rating of {piece.heading}", ShortRating, (piece,)) for piece in pieces]
        return np.array([np.nan if own is None else own.root for own in rater.do(question, short)], dtype=np.float64)
    keys, book = [walk.pages.keys[page] for page in opened], call_book.get()
    images = page_images(keys, context.snapshot, until=book.duties_end) if rater.sees and not book.over else {}
    pictures = [(images[key],) if key in images else () for key in keys]
    whole = [rating_of(piece, picture) for piece, picture in zip(pieces, pictures, strict=True)]
    return np.array([np.nan if own is None else own.relevance for own in rater.do(question, whole)], dtype=np.float64)


def page_piece(document: str, number: int, texts: Iterable[str]) -> Piece:
    """Return a page as its rater sees it: the document's name, and its text in reading order."""
    return Piece(f"page {number}", cut("\n".join((document, *texts)), PAGE_CHARACTERS))


def rating_of(piece: Piece, pictures: Sequence[bytes]) -> Duty[RatedPage]:
    return Duty(RATING, f"the rating of {piece.heading}", RatedPage, (piece,), pictures=tuple(pictures))


@question_step("choose-pages", lambda chosen: {"paths": hash_bytes(repr(chosen[0]).encode())}, retries=0)
def choose_pages(
    _question: Question, graph: CandidateGraph, walk: PageWalk, context: AskContext
) -> tuple[tuple[ChosenPath, ...], Way]:
    """Read the best of the pages that were rated, each whole."""
    settings, beam, pages = context.settings.walk, walk.beam, walk.pages
    read = beam_walk.pages_to_read(beam, share=settings.alpha, least=settings.keep_above, count=settings.pages)
    visited = beam_walk.pages_to_read(beam, share=settings.alpha, least=0.0, count=len(beam.ratings)).tolist()
    worth = beam_walk.scores_of(beam, share=settings.alpha)
    way = walk.way.then(
        TraceKind.READ,
        f"the best of {counted(len(visited), 'rated page')}",
        ", ".join(f"{pages.label_of(page, context)} ({worth[page]:.2f})" for page in read),
        needs=range(2, walk.way.last + 1),
        pages=pages.places(read, context),
    )
    own = tuple((pages.keys[page], float(worth[page])) for page in visited)
    counts = {"pages rated": float(len(visited)), "share of pages rated": len(visited) / len(pages.keys)}
    counts |= {"hops": float(beam.hop - 1)}
    return pages.as_paths(read, graph, context), replace(way, pages=own, counts=counts)
