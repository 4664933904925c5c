"""The calls in which a model describes nodes: which nodes, how many together, and what it sees of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Annotated, Any, TypeVar

from pydantic import create_model

from storage.artifacts import ArtifactStore
from storage.records.documents import Modality, Node, NodeKind, Page
from tasks.algorithms.layout.boxes import FURNITURE_KINDS, area
from tasks.algorithms.sharing import group_in_order
from tasks.algorithms.text.words import count_words
from tasks.content_graph.analysis import NO_MEANING
from tasks.content_graph.asking import fenced_call
from tasks.models.chat.call import ChatCall
from tasks.models.chat.forms import Form, characters, items, largest_reply
from tasks.prompts.prompt import Piece, cut
from tasks.settings.ingest import AnalysisSettings, OcrSettings, ReadingSettings

FEWEST_TAGS = 3
REPLY_TOKENS = 8192
"""What a call asks for at most: a server that allows fewer tokens than are asked for rejects the call."""


NodeId = Annotated[str, characters(8)]
Term = Annotated[str, characters(40)]


class Description(Form):
    """The model's description of a node."""

    id: NodeId
    keywords: Annotated[list[Term], items(16)]
    summary: Annotated[str, characters(400)]
    tags: Annotated[list[Term], items(5)]


class VisualDescription(Description):
    """Of a figure or table; `words` are those in its picture."""

    words: Annotated[str, characters(3000)]


class Descriptions(Form):
    nodes: list[Description]


class MapNote(Form):
    """The model's summary of a page or a section."""

    id: NodeId
    summary: Annotated[str, characters(400)]


class MapNotes(Form):
    nodes: list[MapNote]


class VisualDescriptions(Form):
    nodes: list[VisualDescription]


L = TypeVar("L", bound=Form)


@cache
def listing(form: type[L], field: str, count: int) -> type[L]:
    """Return the form whose schema wants exactly `count` entries in the list of this name."""
    bounded: dict[str, Any] = {field: (form.model_fields[field].annotation, items(count, fewest=count))}
    return create_model(form.__name__, __base__=form, **bounded)


def entries_per_call(form: type[Form], field: str, most: int) -> int:
    """Return how many entries, `most` at most, fit into a reply that every server allows."""
    frame, framed = (largest_reply(listing(form, field, count)) for count in (0, 1))
    return max(1, min(most, (REPLY_TOKENS - frame) // (framed - frame)))


def wrong_description(value: Descriptions | VisualDescriptions | MapNotes, ids: Sequence[str]) -> str:
    """Say what is wrong with descriptions of these nodes, "" where nothing is: each once, none unknown, all with a summary."""
    given = [description.id for description in value.nodes]
    if wrong := wrong_ids(given, ids):
        return wrong
    for description in value.nodes:
        if not description.summary.strip():
            return f"the summary of {description.id} is empty"
        if (
            isinstance(description, VisualDescription)
            and not says_nothing(description.summary)
            and len(description.tags) < FEWEST_TAGS
        ):
            return f"{description.id} has {len(description.tags)} tags; give at least {FEWEST_TAGS}"
    return ""


def wrong_ids(given: Sequence[str], asked: Sequence[str]) -> str:
    """Say which id is unknown, missing or there twice; "" where each asked one stands once."""
    if any(name not in asked for name in given):
        return "one of the ids was not asked for"
    if missing := next((name for name in asked if name not in given), None):
        return f"{missing} is missing"
    return "" if len(given) == len(asked) else "an id is given twice"


def says_nothing(summary: str) -> bool:
    """Say whether the model found nothing that a reader could search for."""
    return summary.strip(" .\"'").casefold() == NO_MEANING.casefold()


PURPOSE = "analyze"
SELF_SPEAKING = frozenset({NodeKind.TITLE, NodeKind.CAPTION})
"""Their words are their summary."""
AROUND = 4
"""Nodes before and after a figure that are searched for running text."""

D = TypeVar("D", Descriptions, VisualDescriptions, MapNotes)


@dataclass(frozen=True, slots=True)
class Describing:
    """What the calls about one document share; `pictures` are those that are shown, by place, and `scans` those of the whole page
    on which a passage stands.
    """

    document_id: str
    name: str
    nodes: Sequence[Node]
    settings: AnalysisSettings
    artifacts: ArtifactStore
    pictures: Mapping[int, str]
    scans: Mapping[int, str]
    places: Sequence[int]

    def is_visual(self, place: int) -> bool:
        """Say whether a node is described as a figure or table: one that is, or that has a picture."""
        return self.nodes[place].modality is not Modality.TEXT or place in self.pictures

    def without_pictures(self) -> "Describing":
        """Return the prompt for a model that sees no pictures: nothing about a picture without words."""
        told = [place for place in self.places if is_described(self.nodes[place], self.settings, has_picture=False)]
        return replace(self, pictures={}, scans={}, places=told)

    def text_groups(self) -> list[list[int]]:
        return self._groups([place for place in self.places if not self.is_visual(place)], Descriptions)

    def visual_groups(self) -> list[list[int]]:
        return self._groups([place for place in self.places if self.is_visual(place)], VisualDescriptions)

    def _groups(self, places: Sequence[int], form: type[Form]) -> list[list[int]]:
        model = self.settings.model
        # A picture takes the room of its share of the pictures: calls with and without them are cut by one rule.
        room = model.characters_per_call // model.pictures_per_call
        seen = {*self.pictures, *self.scans}
        sizes = [max(len(body_of(place, self)), room if place in seen else 0) for place in places]
        most = entries_per_call(form, "nodes", model.nodes_per_call)
        groups = group_in_order(sizes=sizes, most_items=most, most_size=model.characters_per_call)
        return [[places[place] for place in group] for group in groups]


def describing(
    document_id: str, name: str, nodes: Sequence[Node], pages: Sequence[Page], reading: ReadingSettings, artifacts: ArtifactStore
) -> Describing:
    """Look through the nodes that rules have analyzed for those that are worth a model's description."""
    settings, ocr = reading.analysis, reading.ocr
    places, pictures = described_places(nodes, settings, ocr), telling_pictures(nodes, settings, ocr)
    images = {page.number: page.image for page in pages if page.image and settings.model.pictures == "all"}
    scans = {place: images[nodes[place].page] for place in places if nodes[place].page in images and place not in pictures}
    return Describing(document_id, name, nodes, settings, artifacts, pictures, scans, places)


def description_calls(asking: Describing) -> list[ChatCall[Descriptions] | ChatCall[VisualDescriptions]]:
    """Return every call that describing the nodes takes, where none is asked again."""
    return [
        *(text_call(group, asking) for group in asking.text_groups()),
        *(visual_call(group, asking) for group in asking.visual_groups()),
    ]


def described_places(nodes: Sequence[Node], settings: AnalysisSettings, ocr: OcrSettings) -> list[int]:
    pictures = telling_pictures(nodes, settings, ocr)
    return [place for place, node in enumerate(nodes) if is_described(node, settings, has_picture=place in pictures)]


def is_described(node: Node, settings: AnalysisSettings, *, has_picture: bool) -> bool:
    """Say whether a node is worth a model's description: not page furniture, a title, a caption, or a word or two."""
    if node.kind in FURNITURE_KINDS or node.kind in SELF_SPEAKING:
        return False
    words = count_words(" ".join((node.caption, node.content)))
    return has_picture or (not node.meaningless and words >= settings.model.minimum_words)


def telling_pictures(nodes: Sequence[Node], settings: AnalysisSettings, ocr: OcrSettings) -> dict[int, str]:
    """Return the pictures, by place, that say what no words do: neither ornaments nor logos, nor, unless the method shows all,
    tables whose cells are known.
    """
    pages: dict[str, set[int]] = {}
    for node in nodes:
        pages.setdefault(node.picture or "", set()).add(node.page)
    return {
        place: node.picture
        for place, node in enumerate(nodes)
        if node.picture
        and (settings.model.pictures == "all" or not (node.modality is Modality.TABLE and node.content))
        and (node.box is None or area(node.box) >= ocr.minimum_figure_share)
        and len(pages[node.picture]) < ocr.repeated_pages
    }


def text_call(group: Sequence[int], asking: Describing) -> ChatCall[Descriptions]:
    """Return the call about some passages, by place, with the pages that are kept as pictures."""
    scans = list(dict.fromkeys(asking.scans[place] for place in group if place in asking.scans))
    pieces = []
    for place in group:
        on = (
            f": on picture {scans.index(asking.scans[place]) + 1}, and every word there is the document's"
            if place in asking.scans
            else ""
        )
        pieces.append(Piece(f"n{place}{on}", body_of(place, asking)))
    images = tuple(asking.artifacts.read(scan) for scan in scans)
    call = _call(group, asking, "analyze_text", pieces, Descriptions, images)
    return replace(call, without_pictures=text_call(group, replace(asking, scans={}))) if images else call


def visual_call(group: Sequence[int], asking: Describing) -> ChatCall[VisualDescriptions]:
    shown = [place for place in group if place in asking.pictures]
    pieces = []
    for place in group:
        where = f", picture {shown.index(place) + 1}" if place in shown else ", no picture"
        pieces.append(Piece(f"n{place}: {asking.nodes[place].modality.value}{where}", body_of(place, asking)))
    images = tuple(asking.artifacts.read(asking.pictures[place]) for place in shown)
    call = _call(group, asking, "analyze_visual", pieces, VisualDescriptions, images)
    return replace(call, without_pictures=visual_call(group, replace(asking, pictures={}))) if images else call


def _call(
    group: Sequence[int], asking: Describing, prompt: str, pieces: Sequence[Piece], form: type[D], images: tuple[bytes, ...] = ()
) -> ChatCall[D]:
    words, keywords = str(asking.settings.summary_words), str(asking.settings.model.keywords)
    call = listed_call(asking.document_id, name_places(group, asking.name), prompt, pieces, form, words=words, keywords=keywords)
    return replace(call, images=images)


def listed_call(
    document_id: str, item: str, prompt: str, pieces: Sequence[Piece], form: type[D], *, purpose: str = PURPOSE, **slots: str
) -> ChatCall[D]:
    """Return the call about some pieces of a document, each headed by its id and replied to by an entry of the form."""
    ids = tuple(piece.heading.partition(":")[0] for piece in pieces)
    listed = listing(form, "nodes", len(pieces))
    check = partial(wrong_description, ids=ids)
    return fenced_call(document_id, item, purpose, prompt, listed, pieces, check=check, slots={"count": str(len(ids)), **slots})


def body_of(place: int, asking: Describing) -> str:
    """Return what the model sees of a node: a passage's words; of a figure or table also the caption and what stands around."""
    node, model = asking.nodes[place], asking.settings.model
    words = "\n".join(dict.fromkeys(filter(None, (node.content, node.picture_text))))
    if not asking.is_visual(place):
        return cut("\n".join(filter(None, (node.caption, words))), model.characters_per_node)
    before, behind = _around(place, asking.nodes)
    parts = {
        "Caption": node.caption,
        "Section": " > ".join(node.section_path[-2:]),
        "Text before it": cut(before, model.context_characters),
        "Text behind it": cut(behind, model.context_characters),
        "Words in it": cut(words, model.characters_per_node),
    }
    return "\n".join(f"{label}: {part}" for label, part in parts.items() if part)


def _around(place: int, nodes: Sequence[Node]) -> tuple[str, str]:
    """Return the nearest running text before and behind a node, "" where none is near."""

    def first(found: Sequence[Node]) -> str:
        running = (node.content for node in found if node.modality is Modality.TEXT and node.kind not in SELF_SPEAKING)
        return next(running, "")

    return first(nodes[max(0, place - AROUND) : place][::-1]), first(nodes[place + 1 : place + 1 + AROUND])


def name_places(group: Sequence[int], name: str, thing: str = "node") -> str:
    """Return how an error names some nodes, or other things, of a document."""
    several = f"{len(group)} {thing}s of {name}, from {group[0]} to {group[-1]}"
    return several if len(group) > 1 else f"{thing} {group[0]} of {name}"
