"""The way of a reader that finds its own: what it did step by step, which pages it looked at, what it counts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from storage.graph.candidates import CandidateGraph
from storage.records.answers import NamedDocument, PagePlace, TraceKind, TraceStep
from storage.records.documents import PageKey
from storage.text import shortened

TRACED_NODES, TRACED_LETTERS = 50, 300
"""What a step keeps of what it found, at most."""


@dataclass(frozen=True, slots=True)
class Way:
    """The steps so far; `pages` have the reader's own score, the best first: they rank before all others."""

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
        words = shortened(asked, TRACED_LETTERS), shortened(found, TRACED_LETTERS)
        step = TraceStep(len(self.steps) + 1, kind, *words, tuple(needs), tuple(nodes[:TRACED_NODES]), tuple(pages))
        return replace(self, steps=(*self.steps, step))

    @property
    def last(self) -> int:
        """The number of the last step, 0 where there is none."""
        return len(self.steps)


def way_lines(trace: Iterable[TraceStep]) -> Iterator[str]:
    """Yield each step in words: what it did, after which others, what it looked for and what it found."""
    for step in trace:
        after = f" (needs {', '.join(map(str, step.needs))})" if step.needs else ""
        words = f"{step.asked}: {step.found}" if step.asked or step.found else "of a removed document"
        yield f"{step.number}. {step.kind.value}{after}: {words}"


def places_of(graph: CandidateGraph, nodes: Sequence[int], names: Mapping[str, NamedDocument]) -> tuple[PagePlace, ...]:
    """Return the pages of the nodes, each once, in the order of the nodes."""
    places = (PagePlace(names[graph.document_ids[graph.documents[node]]], int(graph.pages[node])) for node in nodes)
    return tuple(dict.fromkeys(places))
