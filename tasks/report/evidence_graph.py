"""The evidence graph as a drawing: the question on one side, the answer on the other, and between them what carried the flow."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from storage.answer_records import Citation, EvidencePath
from storage.records import Modality, Node
from tasks.algorithms.drawing import ENTRY, PathLayout, lay_out_paths
from tasks.report.evidence import Evidence
from tasks.report.graph_frame import DESK_WIDTH, Frame, Point, Ribbon, draw_ribbons, lying_frame, standing_frame
from tasks.report.markup import Markup, tag
from tasks.report.wording import cut, few_words, figure, numbers_line, short_place, wrap

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


def draw_graph(paths: Sequence[EvidencePath], evidence: Evidence, cited: Mapping[str, tuple[int, ...]]) -> Markup:
    """Return the graph of the paths twice, lying for a desk and standing for a phone; the style sheet shows one of them."""
    drawing = _drawing(paths, evidence, cited)
    lying, standing = lying_frame(drawing.layout), standing_frame(drawing.layout)
    wide = lying.least_width > DESK_WIDTH
    return tag(
        "div",
        *([tag("p", "Long chains: scroll sideways to see all of it.", class_="hint remark")] if wide else []),
        _draw(drawing, lying, _card, "lying", top=30),
        _draw(drawing, standing, _token, "standing", top=26),
        class_="graph",
        tabindex=0,
        role="region",
        aria_label="Evidence graph",
    )


def draw_lying(paths: Sequence[EvidencePath], evidence: Evidence, cited: Mapping[str, tuple[int, ...]]) -> Markup:
    drawing = _drawing(paths, evidence, cited)
    return _draw(drawing, lying_frame(drawing.layout), _card, "lying", top=30)


def numbers_by_node(citations: Sequence[Citation]) -> dict[str, tuple[int, ...]]:
    """Return the numbers, from 1, of the citations that stand on each node."""
    cited: dict[str, tuple[int, ...]] = {}
    for number, citation in enumerate(citations, 1):
        cited[citation.node_id] = (*cited.get(citation.node_id, ()), number)
    return cited


def _drawing(paths: Sequence[EvidencePath], evidence: Evidence, cited: Mapping[str, tuple[int, ...]]) -> Drawing:
    ids = tuple(dict.fromkeys(node for path in paths for node in path.nodes))
    number = {node: place for place, node in enumerate(ids)}
    numbered = [[number[node] for node in path.nodes] for path in paths]
    layout = lay_out_paths(paths=numbered, flows=[max(path.flow, 0.0) for path in paths], nodes=len(ids))
    arcs = [
        zip([ENTRY, *chain], [*chain, len(ids)], strict=True) for chain, path in zip(numbered, paths, strict=True) if path.answer
    ]
    documents = {evidence.nodes[node].document_id for node in ids if node in evidence.nodes}
    return Drawing(ids, layout, cited, frozenset(arc for chain in arcs for arc in chain), evidence, len(documents) > 1)


def _draw(drawing: Drawing, frame: Frame, show: Callable[[Drawing, int, Frame], Markup], kind: str, *, top: float) -> Markup:
    ribbons = draw_ribbons(drawing.layout, frame)
    width, height = frame.size
    said = (
        f"Evidence graph: {len(drawing.ids)} nodes between question and answer, line width by flow. The list below says the same."
    )
    return tag(
        "svg",
        *(_ribbon(drawing, ribbon, frame) for ribbon in sorted(ribbons, key=lambda ribbon: -ribbon.width)),
        _terminal(ribbons, frame, "Question", start=True),
        _terminal(ribbons, frame, "Answer", start=False),
        *(show(drawing, number, frame) for number in range(len(drawing.ids))),
        class_=kind,
        viewBox=f"0 {-top} {width:.0f} {height + 2 * top:.0f}",
        width=round(frame.least_width),
        role="group",
        aria_label=said,
    )


def _ribbon(drawing: Drawing, ribbon: Ribbon, frame: Frame) -> Markup:
    route = ribbon.route
    names = [_name(drawing, end) for end in (route.source, route.target)]
    counts = (route.source, route.target) in drawing.supported
    title = tag("title", f"{names[0]} to {names[1]}: flow {figure(route.flow)}{'' if counts else ', supports no answer'}")
    curve = _curve([frame.paper(point) for point in ribbon.points], standing=frame.standing)
    band = tag("path", class_="ribbon" if counts else "ribbon idle", d=curve, stroke_width=round(ribbon.width, 2))
    return tag("g", title, band, *([] if counts else [tag("path", class_="dashes", d=curve)]))


def _name(drawing: Drawing, end: int) -> str:
    if end == ENTRY:
        return "Question"
    return short_place(drawing.evidence, drawing.node(end), with_document=True) if end < len(drawing.ids) else "Answer"


def _curve(points: Sequence[Point], *, standing: bool) -> str:
    """Return the path data: curves between columns, straight past them; a route against the flow swings around."""
    written = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for place, ((x0, y0), (x1, y1)) in enumerate(itertools.pairwise(points)):
        if place % 2:
            written.append(f"L{x1:.1f} {y1:.1f}")
            continue
        run = (y1 - y0) if standing else (x1 - x0)
        pull = run / 2 if run > 0 else 60.0
        first, second = ((x0, y0 + pull), (x1, y1 - pull)) if standing else ((x0 + pull, y0), (x1 - pull, y1))
        written.append(f"C{first[0]:.1f} {first[1]:.1f} {second[0]:.1f} {second[1]:.1f} {x1:.1f} {y1:.1f}")
    return "".join(written)


def _terminal(ribbons: Sequence[Ribbon], frame: Frame, name: str, *, start: bool) -> Markup:
    """Return the bar from which all flow comes, or to which it goes, with its name."""
    end = 0 if start else -1
    nodes = max(ribbon.route.target for ribbon in ribbons)
    mine = [ribbon for ribbon in ribbons if (ribbon.route.source == ENTRY if start else ribbon.route.target == nodes)]
    low = min(ribbon.points[end][1] - ribbon.width / 2 for ribbon in mine)
    high = max(ribbon.points[end][1] + ribbon.width / 2 for ribbon in mine)
    low, high = min(low, frame.across / 2 - 20), max(high, frame.across / 2 + 20)
    along = 0.0 if start else frame.along - frame.terminal
    x, y = frame.paper((along, low))
    width, height = frame.paper((frame.terminal, high - low))
    if frame.standing:
        at, anchor = (frame.across / 2, -9.0 if start else frame.along + 20), "middle"
    else:
        at, anchor = (along if start else frame.along, low - 10), "start" if start else "end"
    bar = tag("rect", class_="terminal", x=x, y=y, width=width, height=height, rx=3)
    return tag("g", bar, tag("text", name, class_="terminal-name", x=at[0], y=at[1], text_anchor=anchor))


def _link(drawing: Drawing, number: int, *children: Markup) -> Markup:
    node = drawing.node(number)
    cited = drawing.cited.get(drawing.ids[number], ())
    words = cut(few_words(node), TITLE_LETTERS) or "This element is gone."
    said = f"{short_place(drawing.evidence, node, with_document=True)}: {words}"
    said += f" (cited as {numbers_line(cited)})" if cited else ""
    modality = node.modality.value if node else "gone"
    kind = f"node {modality}{' is-cited' if cited else ''}"
    href = f"#citation-{cited[0]}" if cited else f"#node-{number + 1}"
    return tag("a", tag("title", said), *children, class_=kind, href=href, aria_label=said)


def _card(drawing: Drawing, number: int, frame: Frame) -> Markup:
    node = drawing.node(number)
    along, across = frame.at(int(drawing.layout.columns[number]), float(drawing.layout.rows[number]))
    width, height = frame.node_along, frame.node_across
    cited = drawing.cited.get(drawing.ids[number], ())
    room = int((width - 22) / LETTER)
    head = short_place(drawing.evidence, node, with_document=drawing.with_document)
    if node and node.modality is not Modality.TEXT:
        head += f" · {node.label or node.modality.value.capitalize()}"
    head_room = room - 3 * len(cited[:3])
    lines = wrap(few_words(node) or "no words", room, 2)
    words = [tag("text", line, class_="card-words", x=11, y=36 + 14 * place) for place, line in enumerate(lines)]
    badges = [_badge(str(name), width - 14 - 20 * place, 14) for place, name in enumerate(reversed(cited[:3]))]
    inside = tag(
        "svg",
        tag("rect", class_="card", x=1, y=1, width=width - 2, height=height - 2, rx=7),
        tag("text", cut(head, head_room), class_="card-place", x=11, y=19),
        *words,
        *badges,
        x=along - width / 2,
        y=across - height / 2,
        width=width,
        height=height,
    )
    return _link(drawing, number, inside)


def _token(drawing: Drawing, number: int, frame: Frame) -> Markup:
    x, y = frame.paper(frame.at(int(drawing.layout.columns[number]), float(drawing.layout.rows[number])))
    width, height = frame.node_across, frame.node_along
    node = drawing.node(number)
    where = (
        drawing.evidence.place(node.document_id, node.page) and short_place(drawing.evidence, node, with_document=False)
        if node
        else ""
    )
    where = where or (node.modality.value if node else "gone")
    cited = drawing.cited.get(drawing.ids[number], ())
    token = tag("rect", class_="card", x=x - width / 2, y=y - height / 2, width=width, height=height, rx=7)
    room = int((width - 4) / LETTER)
    shown = where if len(where) <= room else where.rpartition(" ")[2]
    kind = "token-place" if len(shown) <= room else "token-place tight"
    shown = shown if shown.isdigit() else cut(shown, max(room, 3))
    label = tag("text", shown, class_=kind, x=x, y=y + 4, text_anchor="middle")
    badges = [_badge(numbers_line(cited[:2]), x + width / 2 - 4, y - height / 2 + 2)] if cited else []
    return _link(drawing, number, token, label, *badges)


def _badge(numbers: str, x: float, y: float) -> Markup:
    width = 11 + 7 * len(numbers)
    return tag(
        "g",
        tag("rect", class_="badge-ground", x=x - width / 2, y=y - 9, width=width, height=18, rx=9),
        tag("text", numbers, class_="badge-number", x=x, y=y + 4, text_anchor="middle"),
    )
