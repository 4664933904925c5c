"""Pairs of passages rated by a model: bridges that no arc joins yet, and steps along arcs that are there."""

from __future__ import annotations

from collections.abc import Sequence

from storage.records import Passage
from tasks.model_desk import ModelDesk
from tasks.model_forms import RatedBridges, RatedSteps
from tasks.models.chat_call import ChatCall
from tasks.models.chat_errors import ChatError
from tasks.prompt import Piece, cut
from tasks.question import Question

Pairs = Sequence[tuple[Passage, Passage]]


def rate(
    desk: ModelDesk, question: Question, pairs: Pairs, similarities: Sequence[float], *, bridges: bool, at_once: int
) -> list[float]:
    """Return the rate of each pair, 0..1.

    Where a call fails nothing changes: no bridge is laid, and a step keeps the similarity of its ends.
    """
    batches = [pairs[start : start + at_once] for start in range(0, len(pairs), at_once)]
    if bridges:
        found = [_bridge_rates(value) for value in desk.ask([_bridges(desk, question, batch) for batch in batches])]
    else:
        found = [_step_rates(value) for value in desk.ask([_steps(desk, question, batch) for batch in batches])]
    unrated = [0.0 if bridges else max(similarity, 0.0) for similarity in similarities]
    return [found[place // at_once].get(place % at_once + 1, unrated[place]) for place in range(len(pairs))]


def _bridges(desk: ModelDesk, question: Question, batch: Pairs) -> ChatCall[RatedBridges]:
    return desk.call(
        "bridge",
        f"{len(batch)} bridges",
        RatedBridges,
        question=question.text,
        pieces=_pieces(desk, question, "bridge", batch),
        tokens=desk.settings.reading.model.rating_tokens,
        check=lambda value: _wrong([rated.pair for rated in value.ratings], [r.strength for r in value.ratings], len(batch)),
    )


def _steps(desk: ModelDesk, question: Question, batch: Pairs) -> ChatCall[RatedSteps]:
    return desk.call(
        "step",
        f"{len(batch)} steps",
        RatedSteps,
        question=question.text,
        pieces=_pieces(desk, question, "step", batch),
        tokens=desk.settings.reading.model.rating_tokens,
        check=lambda value: _wrong([rated.pair for rated in value.ratings], [r.usefulness for r in value.ratings], len(batch)),
    )


def _pieces(desk: ModelDesk, question: Question, prompt: str, batch: Pairs) -> list[Piece]:
    settings = desk.settings.reading.model
    wanted = settings.pair_characters * 2 * len(batch)
    room = desk.room(prompt, wanted, question=question.text, tokens=settings.rating_tokens) // (2 * len(batch))
    return [
        Piece(f"pair {number}, passage {side}: {node.kind.value}, page {node.page}", cut(desk.text_of(node), room))
        for number, pair in enumerate(batch, 1)
        for side, node in zip("AB", pair, strict=True)
    ]


def _wrong(pairs: Sequence[int], rates: Sequence[float], wanted: int) -> str:
    if sorted(pairs) != list(range(1, wanted + 1)):
        return f"each of the pairs 1 to {wanted} must be rated exactly once"
    return "" if all(0.0 <= rate <= 1.0 for rate in rates) else "a rate is not between 0.0 and 1.0"


def _bridge_rates(value: RatedBridges | ChatError) -> dict[int, float]:
    return {} if isinstance(value, ChatError) else {rated.pair: rated.strength * rated.connected for rated in value.ratings}


def _step_rates(value: RatedSteps | ChatError) -> dict[int, float]:
    return {} if isinstance(value, ChatError) else {rated.pair: rated.usefulness for rated in value.ratings}
