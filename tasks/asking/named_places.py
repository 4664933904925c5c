"""What a question names outright: pages, figures, sections, statements, kinds of elements. A bonus in the relevance, by rule."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from storage.graph.candidates import NODE_KINDS, CandidateGraph
from storage.graph.search import nodes_in_scope
from storage.records.answers import NamedDocument
from tasks.algorithms.arrays import FloatArray, IntArray, sums_by_page
from tasks.algorithms.questions.kinds import asked_elements, surveys
from tasks.algorithms.questions.places import NamedPlace, PlaceKind
from tasks.algorithms.questions.resolved import NodeMark, PageMark, ResolvedPlaces, resolve_places
from tasks.algorithms.questions.sections import named_titles
from tasks.algorithms.questions.statements import STATEMENT_STEMS, named_statements, statement_page
from tasks.algorithms.text.counting import CodedTexts, bm25_scores, count_stems
from tasks.asking.question import AskContext
from tasks.asking.records import Question

TITLE_PAGES = 2
"""Pages of a section on which its title still describes the text; a long section is about more than its title."""

NAME_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Named:
    """What is added to the relevance of each candidate (n,) because the question names it, or its page.

    `nodes` are those that it names most strongly, as elements or by their page or section; most questions name none. `unknown` are
    the places that nothing in what is asked has, in words; none where not all of it is at hand.
    """

    bonus: FloatArray
    nodes: frozenset[str]
    unknown: tuple[str, ...]


def find_named(question: Question, graph: CandidateGraph, texts: CodedTexts, pages: IntArray, context: AskContext) -> Named:
    settings = context.settings.named
    strengths, nodes, unknown = _named_outright(question, graph, context)
    outright = np.maximum(strengths * settings.place, _statement_bonus(question, graph, texts, pages, context))
    # Who counts or lists elements asks for the pages that hold one; where a place is named, for those in it.
    element = settings.place if surveys(question.text) and not strengths.any() else settings.modality
    by_kind = settings.title * _title_bonus(question, graph) + element * _element_bonus(question, graph, pages)
    return Named(outright + by_kind, nodes, unknown)


def _named_outright(
    question: Question, graph: CandidateGraph, context: AskContext
) -> tuple[FloatArray, frozenset[str], tuple[str, ...]]:
    """Return how strongly the question names each node or its page, the nodes that it names most strongly, and unknown places.

    Where it says of which document, nodes of others are not named.
    """
    if not question.places:
        return np.zeros(len(graph)), frozenset(), ()
    found = resolve(question.places, graph, context)
    meant = documents_named_in(question.text, [context.names[document] for document in graph.document_ids])
    owners = [graph.document_ids[document] for document in graph.documents.tolist()]
    inside = np.array([owner in meant for owner in owners], dtype=np.bool_)
    as_nodes = np.where(inside, [found.nodes.get(node, 0.0) for node in graph.ids], 0.0)
    keys = zip(owners, graph.pages.tolist(), strict=True)
    by_page = np.where(inside, [found.pages.get(key, 0.0) for key in keys], 0.0)
    strongest = np.flatnonzero((as_nodes > 0.0) & (as_nodes == as_nodes.max(initial=0.0)))
    whole = len(graph) >= nodes_in_scope(context.snapshot.view, context.scope)
    unknown = tuple(str(place) for place in found.unknown if whole)
    return np.maximum(as_nodes, by_page), frozenset(graph.ids[place] for place in strongest.tolist()), unknown


def documents_named_in(question: str, documents: Sequence[NamedDocument]) -> set[str]:
    """Return the documents whose file name the question has in words ("the annual report"), all where it has none."""
    words = {word.casefold() for word in NAME_WORD.findall(question)}
    meant = {document.id for document in documents if name_words(document.name) and name_words(document.name) <= words}
    return meant or {document.id for document in documents}


def name_words(name: str) -> set[str]:
    return {word.casefold() for word in NAME_WORD.findall(name.rpartition(".")[0] or name)}


def resolve(places: Sequence[NamedPlace], graph: CandidateGraph, context: AskContext) -> ResolvedPlaces:
    settings, documents = context.settings.named, graph.document_ids
    labels, sections = graph.columns["label"].tolist(), graph.columns["section_id"].tolist()
    owners = [documents[document] for document in graph.documents.tolist()]
    marks = zip(graph.ids, owners, graph.pages.tolist(), labels, sections, strict=True)
    counted = any(place.kind in {PlaceKind.PAGE, PlaceKind.COUNTED} for place in places)
    titled = any(place.kind in {PlaceKind.NUMBERED, PlaceKind.TITLED} for place in places)
    return resolve_places(
        places,
        pages=[PageMark(*mark) for mark in context.snapshot.page_marks(documents)] if counted else (),
        sections=context.snapshot.sections_of(documents) if titled else (),
        nodes=[NodeMark(*mark) for mark in marks],
        beside_printed=settings.beside_printed,
    )


def _statement_bonus(
    question: Question, graph: CandidateGraph, texts: CodedTexts, pages: IntArray, context: AskContext
) -> FloatArray:
    """Return what the financial statements weigh that show a quantity of the question, on the page of each in each document."""
    settings, bonus = context.settings.named, np.zeros(len(graph))
    for statement, weight in named_statements(question.text, ratio=settings.ratio, item=settings.item).items():
        for page in _statement_pages(STATEMENT_STEMS[statement], graph, texts, pages, context):
            bonus[pages == page] = np.maximum(bonus[pages == page], weight)
    return bonus


def _statement_pages(
    stems: Sequence[str], graph: CandidateGraph, texts: CodedTexts, pages: IntArray, context: AskContext
) -> Iterator[int]:
    """Yield the page of each document that holds the statement of this wording, where it has one."""
    settings = context.settings.relevance
    counts = sums_by_page(values=count_stems(texts, stems), pages=pages)
    lengths = sums_by_page(values=texts.words, pages=pages)
    owners = np.zeros(len(lengths), dtype=np.int64)
    owners[pages] = graph.documents
    for document in range(len(graph.document_ids)):
        own = np.flatnonzero(owners == document)
        scores = bm25_scores(
            term_counts=counts[own],
            lengths=lengths[own],
            document_frequencies=(counts[own] > 0).sum(axis=0).astype(np.float64),
            documents=len(own),
            mean_length=float(lengths[own].mean()),
            k1=settings.saturation,
            b=settings.length_share,
        )
        page = statement_page(counts=counts[own], scores=scores, share=context.settings.named.statement_share)
        if page is not None:
            yield int(own[page])


def _title_bonus(question: Question, graph: CandidateGraph) -> FloatArray:
    """Return 1 for the nodes on the first pages of a section whose title the question says, where the titles were read."""
    if "section_path" not in graph.columns:
        return np.zeros(len(graph))
    paths = graph.columns["section_path"]
    titles = np.array([path[-1] if path else "" for path in paths], dtype=object)
    distinct = sorted(set(titles.tolist()))
    named = {distinct[place] for place in named_titles(distinct, question.terms.stems)}
    bonus = np.zeros(len(graph))
    sections = graph.columns["section_id"]
    for section in sorted({section for section, title in zip(sections, titles, strict=True) if title in named}):
        inside = sections == section
        bonus[inside & (graph.pages < graph.pages[inside].min() + TITLE_PAGES)] = 1.0
    return bonus


def _element_bonus(question: Question, graph: CandidateGraph, pages: IntArray) -> FloatArray:
    """Return 1 for each kind of element asked for that stands on the node's page."""
    bonus = np.zeros(len(graph))
    for kind in sorted(asked_elements(question.text)):
        holding = np.unique(pages[graph.kinds == NODE_KINDS.index(kind)])
        bonus += np.isin(pages, holding)
    return bonus
