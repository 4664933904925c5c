"""The pages of a question's candidates, with what of the question stands on each; and what a model is shown of nodes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import NODE_KINDS, CandidateGraph
from storage.records.answers import PagePlace, TraceKind
from storage.records.documents import PageKey
from storage.text import counted, shorten
from tasks.algorithms.arrays import BoolArray, FloatArray, IntArray, best_of_pages, pages_of_nodes, sums_by_page
from tasks.algorithms.quotes import term_shares
from tasks.algorithms.text.counting import count_stems
from tasks.asking.candidates import page_ranking
from tasks.asking.question import NAMED_PLACE, AskContext, question_step
from tasks.asking.records import NodeScores, PathReading, Question
from tasks.asking.relevance import read_texts
from tasks.prompts.prompt import cut
from tasks.readers.graph_indexes import ordinals_in
from tasks.routing.way import ChosenPath, Way


@dataclass(frozen=True, slots=True)
class Pages:
    """P pages with candidates, by document and number; `of_nodes` (n,) is each node's page, `documents` (P,) as the graph's."""

    keys: tuple[PageKey, ...]
    of_nodes: IntArray
    documents: IntArray
    numbers: IntArray

    @classmethod
    def of(cls, graph: CandidateGraph) -> "Pages":
        of_nodes = pages_of_nodes(documents=graph.documents, pages=graph.pages)
        _found, firsts = np.unique(of_nodes, return_index=True)
        documents, numbers = graph.documents[firsts], graph.pages[firsts]
        keys = zip((graph.document_ids[place] for place in documents.tolist()), numbers.tolist(), strict=True)
        return cls(tuple(keys), of_nodes, documents, numbers)

    def best(self, scores: FloatArray) -> FloatArray:
        """Return the score of each page (P,), that of its best node."""
        return best_of_pages(values=scores, pages=self.of_nodes)

    def places(self, pages: Iterable[int], context: AskContext) -> tuple[PagePlace, ...]:
        return tuple(PagePlace(context.names[self.keys[page][0]], self.keys[page][1]) for page in pages)

    def label_of(self, page: int, context: AskContext) -> str:
        """Return "page 3", of several documents "page 3 of report.pdf"."""
        document, number = self.keys[page]
        return f"page {number}" + (f" of {context.names[document].name}" if len({*self.documents.tolist()}) > 1 else "")

    def in_reading_order(self, pages: Iterable[int], graph: CandidateGraph, context: AskContext) -> list[list[int]]:
        """Return the nodes of each of these pages."""
        ordinals = ordinals_in(graph, context)
        found = [np.flatnonzero(self.of_nodes == page) for page in pages]
        return [nodes[np.argsort(ordinals[nodes], kind="stable")].tolist() for nodes in found]

    def as_paths(self, pages: Iterable[int], graph: CandidateGraph, context: AskContext) -> tuple[ChosenPath, ...]:
        """Return what is read of these pages, each whole; a model reads all in one call."""
        ordered = self.in_reading_order(pages, graph, context)
        together = [node for nodes in ordered for node in nodes]
        return equal_paths([together] if together and context.reader.model else ordered)


@dataclass(frozen=True, slots=True)
class StemsOnPages:
    """Which stems of the question stand on each page (P, m), and what share each has (m,): by its rarity, that of a name doubled.

    A place that the question names is one of them. `words` (n,) is how long the nodes' texts are.
    """

    stems: tuple[str, ...]
    held: BoolArray
    shares: FloatArray
    words: FloatArray

    @classmethod
    def of(cls, question: Question, graph: CandidateGraph, scores: NodeScores, pages: Pages, context: AskContext) -> "StemsOnPages":
        stems, names = tuple(scores.rarity), set(question.terms.anchors)
        texts = read_texts(context.snapshot).code_nodes("content", graph.ids, graph.columns["search_text"].tolist())
        counts = count_stems(texts, stems)
        if NAMED_PLACE in scores.rarity:
            counts[:, stems.index(NAMED_PLACE)] = [name in scores.named for name in graph.ids]
        weights = [weight * (2.0 if stem in names else 1.0) for stem, weight in scores.rarity.items()]
        return cls(stems, sums_by_page(values=counts, pages=pages.of_nodes) > 0, term_shares(weights), texts.words)


def equal_paths(nodes: Sequence[Sequence[int]]) -> tuple[ChosenPath, ...]:
    """Return each group of nodes as a path; all have the same share."""
    return tuple(ChosenPath(tuple(group), flow=1.0, share=1.0 / len(nodes)) for group in nodes)


STEP_OF_PLACE = 1e-6
"""So near to each other are pages by their place: what is quoted of them goes by words alone."""


@question_step("rank-by-place", lambda scores: {"scores": hash_bytes(scores.combined.tobytes())}, retries=0)
def rank_by_place(_question: Question, graph: CandidateGraph, scores: NodeScores) -> NodeScores:
    """Rank the pages as they come, whatever is asked; of several documents the first page of each, then the second."""
    _pages, ranks = np.unique(graph.pages * len(graph.document_ids) + graph.documents, return_inverse=True)
    return replace(scores, combined=1.0 - STEP_OF_PLACE * ranks)


@question_step("best-pages", lambda chosen: {"paths": hash_bytes(repr(chosen[0]).encode())}, retries=0)
def take_best(
    _question: Question, graph: CandidateGraph, scores: NodeScores, most: int, order: str, context: AskContext
) -> tuple[tuple[ChosenPath, ...], Way]:
    """Take the best pages whole, or those that are known to be right; a page without a node cannot be read."""
    pages, ranked = Pages.of(graph), page_ranking(graph, scores)
    right = context.right
    read = ranked[:most] if right is None else [(key, score) for key, score in ranked if key in right]
    numbers = [pages.keys.index(key) for key, _score in read]
    way = Way().then(
        TraceKind.READ,
        f"the {order} of {counted(len(ranked), 'page')}" if right is None else "the pages that hold the answer",
        ", ".join(pages.label_of(number, context) for number in numbers) or "nothing",
        pages=pages.places(numbers, context),
    )
    counts = {"pages read": float(len(read))}
    return pages.as_paths(numbers, graph, context), replace(way, pages=tuple(read), counts=counts)


LINE_CHARACTERS = 160
"""Of what a node says of itself."""
ANSWER_CHARACTERS, QUOTES_SHOWN = 400, 3
"""Of a reading."""


def node_lines(graph: CandidateGraph, nodes: Sequence[int], ids: Sequence[str], context: AskContext) -> str:
    """Return a line for each node: its id, what it is, where it stands, and its summary."""
    view = context.snapshot.view
    read = view.columns.take(view.adjacency.positions_of([graph.ids[node] for node in nodes]), ["section_path", "summary"])
    lines = []
    for node, name, path, summary in zip(nodes, ids, read["section_path"].tolist(), read["summary"].tolist(), strict=True):
        document = context.names[graph.document_ids[graph.documents[node]]].name
        place = f"page {graph.pages[node]}" + (f" of {document}" if len(graph.document_ids) > 1 else "")
        under = f", {' > '.join(path)}" if path else ""
        lines.append(f"{name}: {NODE_KINDS[graph.kinds[node]].value}, {place}{under}: {shorten(summary, LINE_CHARACTERS)}")
    return "\n".join(lines)


def describe_reading(reading: PathReading) -> str:
    """Return what a reader answered, and its first quotes."""
    answer = cut(reading.answer, ANSWER_CHARACTERS) if reading.supported else "nothing found"
    quotes = [f'Quote, page {quote.node.page}: "{quote.text}"' for quote in reading.quotes[:QUOTES_SHOWN]]
    return "\n".join([f"Answer: {answer}", *quotes])
