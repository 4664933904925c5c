"""Passages as a prompt shows them: fenced, under short ids that the model may cite, with their pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storage.artifacts import ArtifactDamagedError, ArtifactStore
from storage.corpus.snapshot import Snapshot
from storage.records.documents import Modality, PageKey, Passage
from tasks.algorithms.sharing import fair_shares
from tasks.algorithms.text.stems import stems_in
from tasks.asking.calls import call_book
from tasks.prompts.prompt import Piece, cut


@dataclass(frozen=True, slots=True)
class NodePicture:
    """A picture that shows a node, or the page around it, by its number from 1 among those that a prompt shows."""

    number: int
    of_page: bool


@dataclass(frozen=True, slots=True)
class NodePictures:
    """What the corpus keeps of pictures: of figures and tables, and of pages that have no text of their own."""

    snapshot: Snapshot
    artifacts: ArtifactStore

    def of(self, nodes: Sequence[Passage]) -> dict[str, str]:
        """Return the artifact with the picture of each node that has one, or of its page, by the node's id."""
        bare = sorted({node.document_id for node in nodes if node.picture is None})
        pages = self.snapshot.page_images(bare) if bare else {}
        found = {node.id: node.picture or pages.get((node.document_id, node.page)) for node in nodes}
        return {name: artifact for name, artifact in found.items() if artifact}

    def choose(
        self, nodes: Sequence[Passage], worth: Mapping[str, float], most: int, pages: Mapping[PageKey, bytes]
    ) -> tuple[dict[str, NodePicture], list[bytes]]:
        """Return which nodes are shown by a picture, and the pictures, each once: at most `most`, of the worthiest nodes.

        What stands on one of the `pages` is shown by that. The pictures stand in the order in which the nodes first need them. A
        damaged one is noted and left out.
        """
        if not most:
            return {}, []
        on_pages = {node.id: key for node in nodes if (key := (node.document_id, node.page)) in pages}
        all_of: dict[str, str | PageKey] = {**self.of([node for node in nodes if node.id not in on_pages]), **on_pages}
        wanted = dict.fromkeys(all_of[node.id] for node in sorted(nodes, key=lambda node: -worth[node.id]) if node.id in all_of)
        taken: dict[str | PageKey, bytes] = {}
        for picture in wanted:
            if len(taken) == most:
                break
            try:
                taken[picture] = self.artifacts.read(picture) if isinstance(picture, str) else pages[picture]
            except ArtifactDamagedError as error:
                call_book.get().notes.append(f"a picture was not shown to the model: {error}")
        order = list(dict.fromkeys(all_of[node.id] for node in nodes if all_of.get(node.id) in taken))
        shown = {
            node.id: NodePicture(order.index(all_of[node.id]) + 1, of_page=node.id in on_pages or node.picture is None)
            for node in nodes
            if all_of.get(node.id) in taken
        }
        return shown, [taken[picture] for picture in order]


HEAD_LINES = 2
"""Of a table in Markdown: its header and the line under it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """`nodes` are the passages by the ids in the prompt, `seen` those whose picture may say more than their text, by id.

    They hold `held` characters; the prompt had room for `shown`. `pictures` go with them, where they are shown again.
    """

    pieces: tuple[Piece, ...]
    nodes: Mapping[str, Passage]
    characters: int
    held: int
    seen: frozenset[str] = frozenset()
    pictures: tuple[bytes, ...] = ()


def show_passages(
    nodes: Sequence[Passage],
    *,
    titles: Mapping[str, str],
    stems: Mapping[str, float],
    room: int,
    pictures: Mapping[str, NodePicture],
) -> Shown:
    """Return the passages to show.

    Args:
        nodes: each once.
        titles: the name and the title of each document, by its id.
        stems: of the question, with what each weighs; by them the lines of a long table are chosen.
        room: characters for all of their texts.
        pictures: of those nodes that have one, by the node's id.
    """
    bodies = [_body(node) for node in nodes]
    shares = fair_shares(needs=[len(body) for body in bodies], room=room)
    pieces = [
        Piece(_heading(place, node, pictures.get(node.id)), _text(node, titles, shortened_body(node, body, share, stems)))
        for place, (node, body, share) in enumerate(zip(nodes, bodies, shares, strict=True), 1)
    ]
    ids = {f"n{place}": node for place, node in enumerate(nodes, 1)}
    seen = frozenset(node.id for node in nodes if node.id in pictures and is_seen_alone(node, of_page=pictures[node.id].of_page))
    return Shown(tuple(pieces), ids, sum(shares), sum(map(len, bodies)), seen)


def is_seen_alone(node: Passage, *, of_page: bool = False) -> bool:
    """Say whether a quote may stand in the node's picture alone, and not in its words.

    One from a table stands in its cells, if it has any; where the picture is that of the page, one from text stands there.
    """
    return not node.content if node.modality is Modality.TABLE else node.modality is Modality.FIGURE or not of_page


def _heading(place: int, node: Passage, picture: NodePicture | None) -> str:
    shown = f", picture {picture.number} shows {'its page' if picture.of_page else 'it'}" if picture else ""
    return f"n{place}: {node.kind.value}, page {node.page}{shown}"


def _text(node: Passage, titles: Mapping[str, str], body: str) -> str:
    """Return the text under the heading: the document's name and the headings are words of the document too."""
    section = " > ".join(node.section_path)
    lines = [
        f"Document: {titles[node.document_id]}",
        section and f"Section: {section}",
        node.caption and f"Caption: {node.caption}",
    ]
    if node.modality is Modality.FIGURE:
        lines.append("Words in the picture:" if body else "No words were read in the picture.")
    return "\n".join(line for line in [*lines, body] if line)


def _body(node: Passage) -> str:
    return (node.picture_text or node.content) if node.modality is Modality.FIGURE else node.content


def shortened_body(node: Passage, body: str, room: int, stems: Mapping[str, float]) -> str:
    """Return the text in the room that it has; of a table its header and the lines that hold most of the question, in order."""
    lines = body.splitlines()
    if len(body) <= room or node.modality is not Modality.TABLE or len(lines) <= HEAD_LINES:
        return cut(body, room)
    asked = frozenset(stems)
    weights = [sum(stems[stem] for stem in asked & stems_in(line)) for line in lines]
    kept, left = set(range(HEAD_LINES)), room - sum(len(line) + 1 for line in lines[:HEAD_LINES])
    for place in sorted(range(HEAD_LINES, len(lines)), key=lambda place: (-weights[place], place)):
        if len(lines[place]) < left:
            kept.add(place)
            left -= len(lines[place]) + 1
    shown = "\n".join(lines[place] for place in sorted(kept))
    return f"{cut(shown, room)}\n[... {len(lines) - len(kept)} rows left out]"
