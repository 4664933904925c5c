"""The evidence graph as a drawing: the question on one side, the answer on the other, and between them what carried the flow."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from storage.answer_records import Citation, EvidencePath
from storage.records import Modality, Node
from tasks.algorithms.drawing import ENTRY, PathLayout, Route, lay_out_paths
from tasks.report.evidence import Evidence
from tasks.report.graph_frame import Frame, Point, Ribbon
from tasks.report.wording import cut, few_words, numbers_line, short_place

LETTER = 6.9
"""Width of a letter of a card's words in a wide face, in the drawing's units."""
TITLE_LETTERS = 240


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn: the node ids in the order of their numbers, what each is, which citations stand on it, which routes count."""

    ids: tuple[str, ...]
    layout: PathLayout
    cited: Mapping[str, tuple[int, ...]]
    supported: frozenset[tuple[int, int]]
    evidence: Evidence
    with_document: bool

    def node(self, number: int) -> Node | None:
        """Return the node, None where it is gone."""
        return self.evidence.nodes.get(self.ids[number])

    def numbers(self, number: int) -> tuple[int, ...]:
        """Return the citations that stand on a node."""
        return self.cited.get(self.ids[number], ())

    def supports(self, route: Route) -> bool:
        return (route.source, route.target) in self.supported

    def kind(self, number: int) -> str:
        node = self.node(number)
        return node.modality.value if node else "gone"

    def name(self, end: int) -> str:
        if end == ENTRY:
            return "Question"
        return short_place(self.evidence, self.node(end), with_document=True) if end < len(self.ids) else "Answer"

    def says(self, number: int) -> str:
        words = cut(few_words(self.node(number)), TITLE_LETTERS) or "This element is gone."
        cited = f" (cited as {numbers_line(self.numbers(number))})" if self.numbers(number) else ""
        return f"{self.name(number)}: {words}{cited}"

    def head(self, number: int) -> str:
        """Return the place of a card's node, and what it is where it is no text."""
        node = self.node(number)
        place = short_place(self.evidence, node, with_document=self.with_document)
        return place if node is None or node.modality is Modality.TEXT else f"{place} · {node.label or node.modality.capitalize()}"

    def token(self, number: int, room: int) -> tuple[str, bool]:
        """Return a node's page, or what it is, in so many letters; say whether they all fit."""
        node = self.node(number)
        paged = node is not None and self.evidence.place(node.document_id, node.page)
        where = short_place(self.evidence, node, with_document=False) if paged else self.kind(number)
        words = where if len(where) <= room else where.rpartition(" ")[2]
        return words if words.isdigit() else cut(words, max(room, 3)), len(words) <= room


def drawing_of(paths: Sequence[EvidencePath], evidence: Evidence, citations: Sequence[Citation]) -> Drawing:
    cited: dict[str, tuple[int, ...]] = {}
    for place, citation in enumerate(citations, 1):
        cited[citation.node_id] = (*cited.get(citation.node_id, ()), place)
    ids = tuple(dict.fromkeys(node for path in paths for node in path.nodes))
    number = {node: place for place, node in enumerate(ids)}
    numbered = [[number[node] for node in path.nodes] for path in paths]
    layout = lay_out_paths(paths=numbered, flows=[max(path.flow, 0.0) for path in paths], nodes=len(ids))
    arcs = [
        zip([ENTRY, *chain], [*chain, len(ids)], strict=True) for chain, path in zip(numbered, paths, strict=True) if path.answer
    ]
    documents = {evidence.nodes[node].document_id for node in ids if node in evidence.nodes}
    return Drawing(ids, layout, cited, frozenset(arc for chain in arcs for arc in chain), evidence, len(documents) > 1)


def curve_of(ribbon: Ribbon, frame: Frame) -> str:
    """Return the path data: curves between columns, straight past them; a route against the flow swings around."""
    points = [frame.paper(point) for point in ribbon.points]
    written = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for place, ((x0, y0), (x1, y1)) in enumerate(itertools.pairwise(points)):
        if place % 2:
            written.append(f"L{x1:.1f} {y1:.1f}")
            continue
        run = (y1 - y0) if frame.standing else (x1 - x0)
        pull = run / 2 if run > 0 else 60.0
        first, second = ((x0, y0 + pull), (x1, y1 - pull)) if frame.standing else ((x0 + pull, y0), (x1 - pull, y1))
        written.append(f"C{first[0]:.1f} {first[1]:.1f} {second[0]:.1f} {second[1]:.1f} {x1:.1f} {y1:.1f}")
    return "".join(written)


class Terminal(NamedTuple):
    """The bar from which all flow comes, or to which it goes, and where its name stands."""

    x: float
    y: float
    width: float
    height: float
    at: Point
    anchor: str


def terminal(ribbons: Sequence[Ribbon], frame: Frame, *, start: bool) -> Terminal:
    end = 0 if start else -1
    nodes = max(ribbon.route.target for ribbon in ribbons)
    mine = [ribbon for ribbon in ribbons if (ribbon.route.source == ENTRY if start else ribbon.route.target == nodes)]
    low = min(frame.across / 2 - 20, *(ribbon.points[end][1] - ribbon.width / 2 for ribbon in mine))
    high = max(frame.across / 2 + 20, *(ribbon.points[end][1] + ribbon.width / 2 for ribbon in mine))
    along = 0.0 if start else frame.along - frame.terminal
    if frame.standing:
        at, anchor = (frame.across / 2, -9.0 if start else frame.along + 20), "middle"
    else:
        at, anchor = (along if start else frame.along, low - 10), "start" if start else "end"
    return Terminal(*frame.paper((along, low)), *frame.paper((frame.terminal, high - low)), at, anchor)
