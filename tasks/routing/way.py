"""What is read of a question: chains of nodes, however they were found; and the way of a reader that finds its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.records.answers import NamedDocument, PagePlace, TraceKind, TraceStep
from storage.records.documents import PageKey
from storage.text import shorten
from tasks.algorithms.arrays import strongest
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, Question


@dataclass(frozen=True, slots=True)
class ChosenPath:
    """A chain that is read: node positions in the candidates, its flow, and its quality and share where chains compete."""

    nodes: tuple[int, ...]
    flow: float
    quality: float | None = None
    share: float | None = None


def bundle_chains(chains: Sequence[Sequence[int]], *, most: int) -> tuple[ChosenPath, ...]:
    """Return a path for each chain; of more than `most` neighbours are read together, and the first ones last."""
    if len(chains) <= most:
        return tuple(ChosenPath(tuple(chain), flow=1.0) for chain in chains)
    least, larger = divmod(len(chains), most)
    sizes = [least] * (most - larger) + [least + 1] * larger
    ends = [sum(sizes[: place + 1]) for place in range(most)]
    groups = [chains[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    return tuple(ChosenPath(tuple(dict.fromkeys(node for chain in group for node in chain)), float(len(group))) for group in groups)


@question_step("best-passages", lambda paths: {"paths": hash_bytes(repr(paths).encode())}, retries=0)
def best_passages(_question: Question, scores: NodeScores, context: AskContext) -> tuple[ChosenPath, ...]:
    """Choose the most relevant nodes, each a path of its own that carries no flow: the baseline."""
    best = strongest(scores=scores.combined, count=context.settings.selection.read)
    return tuple(ChosenPath(nodes=(node,), flow=0.0) for node in best.tolist())


TRACED_NODES, TRACED_LETTERS = 50, 300
"""What a step keeps of what it found, at most."""


@dataclass(frozen=True, slots=True)
class Way:
    """What a reader did step by step, the pages that it looked at, what it counts.

    `pages` have the reader's own score, the best first: they rank before all others.
    """

    steps: tuple[TraceStep, ...] = ()
    pages: tuple[tuple[PageKey, float], ...] = ()
    counts: Mapping[str, float] = field(default_factory=dict)

    def then(
        self,
        kind: TraceKind,
        asked: str,
        found: str,
        *,
        needs: Sequence[int] = (),
        nodes: Sequence[str] = (),
        pages: Sequence[PagePlace] = (),
    ) -> "Way":
        """Return the way with one step more."""
        words = shorten(asked, TRACED_LETTERS), shorten(found, TRACED_LETTERS)
        step = TraceStep(len(self.steps) + 1, kind, *words, tuple(needs), tuple(nodes[:TRACED_NODES]), tuple(pages))
        return replace(self, steps=(*self.steps, step))

    @property
    def last(self) -> int:
        """The number of the last step, 0 where there is none."""
        return len(self.steps)


def places_of(graph: CandidateGraph, nodes: Sequence[int], names: Mapping[str, NamedDocument]) -> tuple[PagePlace, ...]:
    """Return the pages of the nodes, each once, in the order of the nodes."""
    places = (PagePlace(names[graph.document_ids[graph.documents[node]]], int(graph.pages[node])) for node in nodes)
    return tuple(dict.fromkeys(places))
