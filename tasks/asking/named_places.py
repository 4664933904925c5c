"""What a question names outright: pages, figures, sections, statements, kinds of elements. A bonus in the relevance, by rule."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from storage.graph.adjacency import hexadecimal
from storage.graph.candidates import NODE_KINDS, CandidateGraph
from storage.graph.search import find_places, nodes_in_scope
from storage.records.answers import NamedDocument
from tasks.algorithms.arrays import FloatArray, IntArray, sums_by_page
from tasks.algorithms.questions import resolved, statements
from tasks.algorithms.questions.kinds import find_asked_elements, surveys
from tasks.algorithms.questions.places import NamedPlace, PlaceKind
from tasks.algorithms.questions.sections import named_titles
from tasks.algorithms.text.counting import CodedTexts, bm25_scores, count_stems
from tasks.asking.question import AskContext
from tasks.asking.records import Question

TITLE_PAGES = 2
"""Pages of a section on which its title still describes the text; a long section is about more than its title."""

NAME_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class NamedRelevance:
    """The bonus to the relevance of each candidate (n,) that the question names, or whose page it names.

    `nodes` are those that it names most strongly, as elements or by their page or section; most questions name none. `unknown` are
    the places that nothing in the scope has, in words; none unless the whole scope is at hand.
    """

    bonus: FloatArray
    nodes: frozenset[str]
    unknown: tuple[str, ...]


def find_named(
    question: Question, graph: CandidateGraph, texts: CodedTexts, pages: IntArray, context: AskContext
) -> NamedRelevance:
    settings, lists = context.settings.named, surveys(question.text)
    strengths, as_nodes, unknown = _named_outright(question, graph, context)
    kinds = [NODE_KINDS.index(kind) for kind in sorted(find_asked_elements(question.text))]
    elements, held = np.isin(graph.kinds, kinds) & (as_nodes > 0), _kinds_on_pages(kinds, graph, pages)
    if elements.any() and _asks_for_elements_there(question):
        # "The tables in chapter 2" are those in it, not those of other chapters; the rest of the chapter comes after them.
        on_pages = np.isin(pages, pages[elements])
        strengths, held = np.where(on_pages, strengths, settings.second * strengths), held * on_pages
        # What a chart shows may stand in the text around it; a question that lists charts wants the charts themselves.
        as_nodes = as_nodes * elements if lists else as_nodes
    outright = np.maximum(strengths * settings.place, _statement_bonus(question, graph, texts, pages, context))
    # A question that counts or lists elements without a place wants all pages that hold one.
    element = settings.place if lists and not strengths.any() else settings.modality
    strongest = np.flatnonzero((as_nodes > 0.0) & (as_nodes == as_nodes.max(initial=0.0)))
    return NamedRelevance(
        outright + settings.title * _title_bonus(question, graph) + element * held,
        frozenset(graph.ids[node] for node in strongest.tolist()),
        unknown,
    )


def _asks_for_elements_there(question: Question) -> bool:
    """Say whether the kinds of elements that a question asks for are those at its place: not in "Table 2", which is the place.

    Of several places one may be named for its figure and another for its text, unless the question lists.
    """
    labelled = any(place.kind is PlaceKind.LABEL for place in question.places)
    return not labelled and (len(question.places) == 1 or surveys(question.text))


NAMED_DOCUMENTS = 16
"""Documents in which places are looked up for the candidates of a larger scope; comparing their sections takes milliseconds."""


def find_named_nodes(question: Question, best: IntArray, context: AskContext) -> IntArray:
    """Return the positions of the nodes of a large scope that the question names; `best` are those found by vector and text.

    "Page 14" is a page of every document, and of hundreds nobody means all: places are those of the documents that the question or
    its scope names, where they are few, else of those in which something was found, the best first, at most NAMED_DOCUMENTS. Of
    what they hold there the first `by_name` nodes are taken, elements of the kinds asked for before all else.
    """
    settings, kinds = context.settings, find_asked_elements(question.text)
    lists = bool(kinds) and surveys(question.text)
    if not settings.named.place or not (question.places or lists):
        return np.zeros(0, dtype=np.int64)
    documents = _documents_meant(question, best, context)
    pages = resolve(question.places, documents, (), context).pages
    labels = [name for place in question.places if place.kind is PlaceKind.LABEL for name in resolved.possible_labels(place.value)]
    return find_places(
        context.snapshot.view,
        context.scope,
        documents,
        pages=pages,
        labels=labels,
        kinds=kinds if pages or (lists and not labels) else (),
        limit=settings.candidates.by_name,
    )


def _documents_meant(question: Question, best: IntArray, context: AskContext) -> list[str]:
    adjacency, asked = context.snapshot.view.adjacency, context.scope.documents
    ids = hexadecimal(adjacency.document_ids)
    meant = documents_named_in(question.text, [context.names[name] for name in ids if not asked or name in asked])
    found = [ids[document] for document in dict.fromkeys(adjacency.documents[best].tolist()) if ids[document] in meant]
    others = sorted(meant.difference(found)) if len(meant) <= NAMED_DOCUMENTS else []
    return [*found, *others][:NAMED_DOCUMENTS]


def _named_outright(
    question: Question, graph: CandidateGraph, context: AskContext
) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Return how strongly the question names each node (n,) by its page or itself, and itself alone, and unknown places.

    If it says which document, nodes of others are not named. If places add nothing, none is looked for.
    """
    if not question.places or not context.settings.named.place:
        return np.zeros(len(graph)), np.zeros(len(graph)), ()
    labels, sections = graph.columns["label"].tolist(), graph.columns["section_id"].tolist()
    owners = [graph.document_ids[document] for document in graph.documents.tolist()]
    marks = [resolved.NodeMark(*mark) for mark in zip(graph.ids, owners, graph.pages.tolist(), labels, sections, strict=True)]
    found = resolve(question.places, graph.document_ids, marks, context)
    meant = documents_named_in(question.text, [context.names[document] for document in graph.document_ids])
    inside = np.array([owner in meant for owner in owners], dtype=np.bool_)
    as_nodes = np.where(inside, [found.nodes.get(node, 0.0) for node in graph.ids], 0.0)
    keys = zip(owners, graph.pages.tolist(), strict=True)
    by_page = np.where(inside, [found.pages.get(key, 0.0) for key in keys], 0.0)
    whole = len(graph) >= nodes_in_scope(context.snapshot.view, context.scope)
    unknown = tuple(str(place) for place in found.unknown if whole)
    return np.maximum(as_nodes, by_page), as_nodes, unknown


def documents_named_in(question: str, documents: Sequence[NamedDocument]) -> set[str]:
    """Return the documents whose file name the question has in words ("the annual report"), all where it has none."""
    words = {word.casefold() for word in NAME_WORD.findall(question)}
    meant = {document.id for document in documents if name_words(document.name) and name_words(document.name) <= words}
    return meant or {document.id for document in documents}


@lru_cache(maxsize=2**14)
def name_words(name: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in NAME_WORD.findall(name.rpartition(".")[0] or name))


def resolve(
    places: Sequence[NamedPlace], documents: Sequence[str], nodes: Sequence[resolved.NodeMark], context: AskContext
) -> resolved.ResolvedPlaces:
    counted = any(place.kind in {PlaceKind.PAGE, PlaceKind.COUNTED} for place in places)
    titled = any(place.kind in {PlaceKind.NUMBERED, PlaceKind.TITLED} for place in places)
    return resolved.resolve_places(
        places,
        pages=[resolved.PageMark(*mark) for mark in context.snapshot.page_marks(documents)] if counted else (),
        sections=context.snapshot.sections_of(documents) if titled else (),
        nodes=nodes,
        beside_printed=context.settings.named.second,
    )


def _statement_bonus(
    question: Question, graph: CandidateGraph, texts: CodedTexts, pages: IntArray, context: AskContext
) -> FloatArray:
    """Return what the financial statements weigh that show a quantity of the question, on the page of each in each document."""
    settings, bonus = context.settings.named, np.zeros(len(graph))
    for statement, weight in statements.named_statements(question.text, ratio=settings.ratio, item=settings.item).items():
        for page in _statement_pages(statements.STATEMENT_STEMS[statement], graph, texts, pages, context):
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
        page = statements.statement_page(counts=counts[own], scores=scores, share=context.settings.named.statement_share)
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


def _kinds_on_pages(kinds: Sequence[int], graph: CandidateGraph, pages: IntArray) -> FloatArray:
    """Return how many of these kinds of elements stand on the page of each node (n,)."""
    held = np.zeros(len(graph))
    for kind in kinds:
        held += np.isin(pages, pages[graph.kinds == kind])
    return held
