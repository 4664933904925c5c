"""What the answer is put together from, as the prompt shows it: what each reader says, and the best passages themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from storage.records import Passage
from tasks.model_desk import ModelDesk
from tasks.path_reader import PathReading, PathText
from tasks.prompt import Piece
from tasks.question import Question
from tasks.shown_passages import Shown, show_passages


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """The pieces of the prompt, the passages by the ids in it, and these passages as one path."""

    pieces: tuple[Piece, ...]
    shown: Shown
    path: PathText


def show_evidence(desk: ModelDesk, question: Question, readings: Sequence[PathReading], *, tokens: int) -> ShownEvidence:
    """Return the evidence of readings that a model made, of at least one path.

    Pictures are not shown again: what readers cite of them counts as seen, for the answer may rest on what they say of it.
    """
    settings = desk.settings.reading.model
    chosen = [_key_passages(reading, settings.evidence_passages) for reading in readings]
    nodes = list({node.id: node for passages in chosen for node in passages}.values())
    said = [_said(reading) for reading in readings]
    room = desk.room("synthesis", settings.evidence_characters, question=question.text, tokens=tokens) - sum(map(len, said))
    first = _path(readings[0])
    texts = show_passages(nodes, titles=desk.titles, stems=first.rarity, room=max(0, room), pictures={})
    shown = replace(texts, seen=_read_in_pictures(readings))
    ids = {node.id: name for name, node in shown.nodes.items()}
    readers = [
        Piece(f"path {number}, passages {', '.join(ids[node.id] for node in passages)}: what its reader says", words)
        for number, (words, passages) in enumerate(zip(said, chosen, strict=True), 1)
    ]
    return ShownEvidence((*readers, *shown.pieces), shown, replace(first, nodes=tuple(nodes)))


def _key_passages(reading: PathReading, most: int) -> list[Passage]:
    """Return what the reader cites, then the worthiest of the path, so many in all; whatever is cited is shown."""
    path = _path(reading)
    cited = {quote.node.id: quote.node for quote in reading.quotes}
    others = [node for node in sorted(path.nodes, key=lambda node: -path.worth[node.id]) if node.id not in cited]
    return [*cited.values(), *others[: max(0, most - len(cited))]]


def _read_in_pictures(readings: Sequence[PathReading]) -> frozenset[str]:
    return frozenset(quote.node.id for reading in readings for quote in reading.quotes if quote.node.picture is not None)


def _said(reading: PathReading) -> str:
    return f"Answer: {reading.answer}\nFacts: {reading.facts}" if reading.supported else "It found no answer."


def _path(reading: PathReading) -> PathText:
    assert reading.path is not None, "a model reads paths"
    return reading.path
