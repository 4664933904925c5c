"""The pictures that a model is shown with a passage: the crop of a figure, or the kept image of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storage.artifacts import ArtifactDamagedError, ArtifactStore
from storage.records import Passage
from storage.snapshot import Snapshot
from tasks.call_book import call_book


@dataclass(frozen=True, slots=True)
class NodePicture:
    """A picture that shows a node, or the page around it; `artifact` names it."""

    artifact: str
    of_page: bool


@dataclass(frozen=True, slots=True)
class NodePictures:
    """What the corpus keeps of pictures. Nothing is drawn from the file: an answer depends on what was read in alone.

    Images of pages are kept where a page has no text of its own, which is where a look at the page helps.
    """

    snapshot: Snapshot
    artifacts: ArtifactStore

    def of(self, nodes: Sequence[Passage]) -> dict[str, NodePicture]:
        """Return the picture of each node that has one, by its id."""
        bare = sorted({node.document_id for node in nodes if node.picture is None})
        pages = self.snapshot.page_images(bare) if bare else {}
        found: dict[str, NodePicture] = {}
        for node in nodes:
            page = pages.get((node.document_id, node.page))
            if node.picture is not None:
                found[node.id] = NodePicture(node.picture, of_page=False)
            elif page is not None:
                found[node.id] = NodePicture(page, of_page=True)
        return found

    def chosen(self, nodes: Sequence[Passage], worth: Mapping[str, float], most: int) -> tuple[dict[str, NodePicture], list[bytes]]:
        """Return which nodes are shown by a picture, and the pictures, each once: at most so many, of the worthiest nodes.

        The pictures stand in the order in which the nodes first need them. A damaged one is noted and left out.
        """
        all_of = self.of(nodes)
        wanted = dict.fromkeys(
            all_of[node.id].artifact for node in sorted(nodes, key=lambda node: -worth[node.id]) if node.id in all_of
        )
        taken: dict[str, bytes] = {}
        for artifact in wanted:
            if len(taken) == most:
                break
            try:
                taken[artifact] = self.artifacts.read(artifact)
            except ArtifactDamagedError as error:
                call_book.get().notes.append(f"a picture was not shown to the model: {error}")
        shown = {name: picture for name, picture in all_of.items() if picture.artifact in taken}
        order = dict.fromkeys(shown[node.id].artifact for node in nodes if node.id in shown)
        return shown, [taken[artifact] for artifact in order]
