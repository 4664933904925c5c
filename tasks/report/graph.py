"""What carried the answer, as a picture: the question above, the answer below, and between them passages, framed page by page."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from storage.records.answers import Answer, AnswerStatus, EvidencePath, NamedDocument, PagePlace, TraceKind, TraceStep
from storage.records.documents import Modality, Node, NodeKind, PageKey
from storage.text import one_line
from tasks.algorithms.layout.boxes import FURNITURE_KINDS
from tasks.asking.request import JOINERS
from tasks.report.evidence import ReportEvidence, shown_paths

CELL_END = re.compile(r"(?<!\\)\|")
WORDS_READ = 2000
"""Characters of an element that are read to show a few words."""
WORDS_SEEN = 120
"""Characters of a box, at most; without a letter among them it says nothing."""
BOXES, ALL_BOXES, NEAR = 10, 60, 2
"""What is taken in at a glance, what is drawn of all paths, and how many steps before what is cited are drawn of it."""
NOT_FINDING = {TraceKind.CHECK, TraceKind.REPLAN, TraceKind.REFLECT, TraceKind.READ}
"""Steps that find no page: they judge, or take what was found."""

END, HEAD, BOX, ROW, FOOT = 44.0, 32.0, 48.0, 56.0, 16.0
"""Heights as in picture.css, in sixteenths of a rem: of question and answer, a frame's head, a box, a row, between frames."""
LEFT, RIGHT, JOINT = 64.0, 40.0, 28.0
"""Room for lines beside the boxes, and how far inside them those of a page are joined."""
RIVER, WIDEST, THINNEST = 24.0, 16.0, 1.5
"""Width of all lines together, of one, and of one without flow."""

Arc = tuple[int, int]
"""The places of two boxes; -1 is the question, the number of boxes the answer."""


@dataclass(frozen=True, slots=True)
class Box:
    """A passage, None where it is gone, with the citations that quote it; or what a step of the reader looked for."""

    at: PagePlace | None
    words: str
    node: Node | None = None
    cited: tuple[int, ...] = ()
    step: TraceStep | None = None

    @property
    def letters(self) -> str:
        """What is seen of the words, without numbers and signs."""
        return re.sub(r"[\W\d_]+", "", self.words[:WORDS_SEEN])

    @property
    def is_heading(self) -> bool:
        return self.node is not None and self.node.kind is NodeKind.TITLE


@dataclass(frozen=True, slots=True)
class Line:
    """Flow from a box to another: an arc, drawn."""

    source: int
    target: int
    flow: float
    width: float
    supports: bool
    curve: str


@dataclass(frozen=True, slots=True)
class FlowPicture:
    """Frames, each the boxes of a page or a step, from top to bottom, and the lines to the left of them, and to the right."""

    frames: tuple[tuple[Box, ...], ...]
    into: tuple[Line, ...]
    out: tuple[Line, ...]
    height: float

    @property
    def boxes(self) -> list[Box]:
        return list(itertools.chain(*self.frames))


@dataclass(frozen=True, slots=True)
class Drawing:
    """What carried the answer, None where nothing did; all paths, drawn and in words, and how many more there are."""

    carried: FlowPicture | None
    whole: FlowPicture | None
    paths: Sequence[EvidencePath]
    more: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Ids of nodes, "step-3" before what that step of the reader found."""

    keys: tuple[str, ...]
    flow: float
    supports: bool


def draw_paths(answer: Answer, evidence: ReportEvidence) -> Drawing | None:
    """Return the drawings of an answer, None where no path was walked, no step traced, and nothing that is cited can be drawn."""
    paths = shown_paths(answer)
    cited = {node: rank for rank, node in enumerate(dict.fromkeys(citation.node_id for citation in answer.citations))}
    chains = _make_chains(answer, paths, cited, evidence)
    boxes = _make_boxes(answer, chains, evidence)
    telling = {key: box for key, box in boxes.items() if box.cited or _is_worth_drawing(box, boxes.values(), answer.asked_as)}
    carrying = sorted(
        (chain for chain in chains if _best_citation(chain, cited) < len(cited)), key=lambda chain: _best_citation(chain, cited)
    )
    whole = _lay_out(chains, dict(itertools.islice(telling.items(), ALL_BOXES)))
    carried = _lay_out(carrying, {key: boxes[key] for key in _choose_boxes(carrying, cited, telling)})
    more = sum(bool(path.nodes) for path in answer.paths) - len(paths)
    return Drawing(carried, whole, paths, more) if whole or paths or answer.trace else None


def _best_citation(chain: Chain, cited: Mapping[str, int]) -> int:
    return min((cited[key] for key in chain.keys if key in cited), default=len(cited))


def _make_chains(answer: Answer, paths: Sequence[EvidencePath], cited: Mapping[str, int], evidence: ReportEvidence) -> list[Chain]:
    """Return what each path came by, with what else is cited of its pages; what is cited from elsewhere makes chains of its own."""
    places = {citation.node_id: (citation.document.id, citation.page) for citation in answer.citations}
    places |= {id: (node.document_id, node.page) for id, node in evidence.nodes.items()}
    ways: list[list[str]] = [list(path.nodes) for path in paths]
    for node in cited:
        if not any(node in way for way in ways):
            way = next((way for way in ways if places[node] in map(places.get, way)), None)
            if way is None:
                ways.append(way := [])
            way.insert(max((at + 1 for at, key in enumerate(way) if places.get(key) == places[node]), default=0), node)
    is_found = answer.status is not AnswerStatus.NOT_FOUND
    chains = [
        Chain(
            tuple(way), max(path.flow, 0.0) if path else 0.0, is_found and bool((path and path.answer) or cited.keys() & set(way))
        )
        for way, path in itertools.zip_longest(ways, paths)
    ]
    return _divide_by_page(answer.trace, chains, places, cited) if answer.trace else chains


def _divide_by_page(
    trace: Sequence[TraceStep], chains: Sequence[Chain], places: Mapping[str, PageKey], cited: Mapping[str, int]
) -> list[Chain]:
    """Return a chain for each page, from the step that found it: what such a reader reads together is no chain."""
    found: dict[PageKey, Chain] = {}
    for chain in chains:
        pages = dict.fromkeys(places[key] for key in chain.keys if key in places)
        for page in pages:
            before = found.get(page, Chain((), 0.0, False))
            keys = dict.fromkeys([*before.keys, *(key for key in chain.keys if places.get(key) == page)])
            found[page] = Chain(tuple(keys), before.flow + chain.flow / len(pages), before.supports or chain.supports)
    return [
        replace(chain, keys=(*_best_step(trace, page), *sorted(chain.keys, key=lambda key: cited.get(key, len(cited)))))
        for page, chain in found.items()
    ]


def _best_step(trace: Sequence[TraceStep], page: PageKey) -> list[str]:
    """Return the step in which the page ranked highest, the first of equals."""
    ranks = {
        f"step-{step.number}": [(place.document.id, place.page) for place in step.pages]
        for step in trace
        if step.kind not in NOT_FINDING
    }
    return sorted((step for step, pages in ranks.items() if page in pages), key=lambda step: ranks[step].index(page))[:1]


def _make_boxes(answer: Answer, chains: Sequence[Chain], evidence: ReportEvidence) -> dict[str, Box]:
    """Return every box that could be drawn, in the order of the chains."""
    steps = {f"step-{step.number}": step for step in answer.trace}
    citations: dict[str, list[int]] = {}
    for number, citation in enumerate(answer.citations, 1):
        citations.setdefault(citation.node_id, []).append(number)
    boxes: dict[str, Box] = {}
    for key in dict.fromkeys(key for chain in chains for key in chain.keys):
        if key in steps:
            boxes[key] = Box(None, one_line(steps[key].asked or steps[key].found), step=steps[key])
            continue
        node, numbers = evidence.nodes.get(key), tuple(citations.get(key, ()))
        if node:
            at = PagePlace(NamedDocument(node.document_id, evidence.documents[node.document_id].name), node.page)
            boxes[key] = Box(at, few_words(node), node, numbers)
        elif numbers:
            citation = answer.citations[numbers[0] - 1]
            at = PagePlace(citation.document, citation.page)
            boxes[key] = Box(at, one_line(citation.quote, keep=JOINERS), None, numbers)
    return boxes


def _is_worth_drawing(box: Box, boxes: Iterable[Box], question: str) -> bool:
    """Say whether a box is worth drawing: it has words, and no other of its document has the same.

    Those of a running head, but for a number, stand on several pages; of equals on a page, as a caption and its table, the cited
    one is drawn, else the first. A step has words of its own where it looked for something else than the question.
    """
    if box.step:
        return bool(box.words) and box.words != question
    if not box.node or box.node.meaningless or box.node.kind in FURNITURE_KINDS or not box.letters:
        return False
    same = [
        other for other in boxes if other.node and (other.node.document_id, other.letters) == (box.node.document_id, box.letters)
    ]
    return all(other.at == box.at for other in same) and max(same, key=lambda other: bool(other.cited)) is box


def _choose_boxes(chains: Sequence[Chain], cited: Mapping[str, int], telling: Mapping[str, Box]) -> list[str]:
    """Return what is cited and the nearest before it on its chains, in the order of the chains, as much as is seen at a glance.

    A step is as near as the next passage; an uncited heading only names what follows.
    """
    ahead: dict[str, int] = {}
    for chain in chains:
        kept = [key for key in chain.keys if key in telling and (key in cited or not telling[key].is_heading)]
        quoted = [at for at, key in enumerate(kept) if key in cited]
        for at, key in enumerate(kept[: max(quoted, default=-1) + 1]):
            distance = next(place for place in quoted if place >= at) - at
            ahead[key] = min(ahead.get(key, distance), 1 if telling[key].step else distance)
    nearest = sorted((key for key in ahead if ahead[key] <= NEAR), key=lambda key: (ahead[key], cited.get(key, 0)))[:BOXES]
    return [key for key in ahead if key in nearest]


def _lay_out(chains: Sequence[Chain], boxes: Mapping[str, Box]) -> FlowPicture | None:
    """Return the picture of the chains through these boxes, past all others; None where there are none."""
    frames: dict[object, list[str]] = {}
    for key, box in boxes.items():
        frames.setdefault(box.at or key, []).append(key)
    rows = {key: row for row, key in enumerate(itertools.chain(*frames.values()))}
    flows: dict[Arc, float] = {}
    supported = set()
    for chain in chains:
        through = [rows[key] for key in chain.keys if key in rows]
        for arc in itertools.pairwise([-1, *through, len(rows)] if through else []):
            if arc[0] == arc[1]:
                continue
            flows[arc] = flows.get(arc, 0.0) + chain.flow
            supported |= {arc} if chain.supports else set()
    if not rows:
        return None
    middles, height = _place_boxes([len(keys) for keys in frames.values()])
    of_frame = [frame for frame, keys in enumerate(frames.values()) for _ in keys]
    entering = [flow for (source, _), flow in flows.items() if source < 0]
    thin = min(THINNEST, RIVER / 2 / len(entering))
    scale = (RIVER - thin * len(entering)) / max(sum(entering), 1e-9)
    widths = {arc: min(max(flow * scale, thin), WIDEST) for arc, flow in flows.items()}
    curves = _draw_entries(widths, middles) | _draw_exits(widths, middles, height) | _draw_between(widths, middles, of_frame)
    lines = [Line(*arc, flows[arc], widths[arc], arc in supported, curves[arc]) for arc in sorted(flows)]
    return FlowPicture(
        frames=tuple(tuple(boxes[key] for key in keys) for keys in frames.values()),
        into=tuple(line for line in lines if line.target < len(rows)),
        out=tuple(line for line in lines if line.target == len(rows)),
        height=height,
    )


def _place_boxes(sizes: Sequence[int]) -> tuple[list[float], float]:
    """Return how far down the middle of each box is, and the whole height."""
    middles, top = [], END
    for size in sizes:
        middles += [top + HEAD + ROW * row + BOX / 2 for row in range(size)]
        top += HEAD + ROW * size + FOOT
    return middles, top + END


def _draw_entries(widths: Mapping[Arc, float], middles: Sequence[float]) -> dict[Arc, str]:
    """Return the lines from the question down the left side: the first to turn off runs innermost, so that none cross."""
    curves, x = {}, RIVER + 6.0
    for arc in sorted(arc for arc in widths if arc[0] < 0):
        width, y = widths[arc], middles[arc[1]]
        x -= width
        at, turn = x + width / 2, width / 2 + 8
        curves[arc] = f"M{at:.1f} {END / 2:.1f}V{y - turn:.1f}Q{at:.1f} {y:.1f} {at + turn:.1f} {y:.1f}H{LEFT + JOINT:.1f}"
    return curves


def _draw_exits(widths: Mapping[Arc, float], middles: Sequence[float], height: float) -> dict[Arc, str]:
    """Return the lines down the right side to the answer: the last to join runs innermost."""
    curves, x = {}, RIGHT - 4.0 + JOINT
    for arc in sorted(arc for arc in widths if arc[1] == len(middles)):
        width, y = widths[arc], middles[arc[0]]
        x -= width
        at, turn = x + width / 2, width / 2 + 8
        curves[arc] = f"M0 {y:.1f}H{at - turn:.1f}Q{at:.1f} {y:.1f} {at:.1f} {y + turn:.1f}V{height - END / 2:.1f}"
    return curves


def _draw_between(widths: Mapping[Arc, float], middles: Sequence[float], of_frame: Sequence[int]) -> dict[Arc, str]:
    """Return the lines from box to box: straight down to the next on a page, else around on the left side."""
    curves = {}
    for source, target in (arc for arc in widths if arc[0] >= 0 and arc[1] < len(middles)):
        start, end = middles[source], middles[target]
        if target == source + 1 and of_frame[source] == of_frame[target]:
            curves[source, target] = f"M{LEFT + JOINT / 2:.1f} {start:.1f}V{end:.1f}"
            continue
        start, end = (start + 10, end - 10) if end > start else (start - 10, end + 10)
        x = LEFT - 26 - 4 * min(abs(target - source), 4)
        curves[source, target] = f"M{LEFT + JOINT} {start}H{LEFT}C{x} {start} {x} {end} {LEFT} {end}H{LEFT + JOINT}"
    return curves


def few_words(node: Node) -> str:
    """Return what the node says, in one line: a figure's or table's caption, else its text; of a table the cells."""
    if node.modality is not Modality.TEXT and node.caption:
        return one_line(node.caption, keep=JOINERS)
    content = node.content[:WORDS_READ]
    words = (cells_in_words(content) if node.modality is Modality.TABLE else content) or node.caption or node.summary
    return one_line(words, keep=JOINERS)


def cells_in_words(table: str) -> str:
    """Return the cells of a Markdown table with commas between; of equal ones in a row the first, of rules nothing."""
    cells = (cell.strip() for line in table.splitlines() for cell in CELL_END.split(line))
    distinct = itertools.groupby(cell for cell in cells if cell.strip("-: "))
    return ", ".join(cell.replace("\\|", "|") for cell, _ in distinct)
