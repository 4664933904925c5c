"""What becomes of a document where the model gave no usable reply on some of its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from storage.records import Node, Page
from tasks.models.chat_errors import ChatError, Outcome


class UnansweredError(RuntimeError):
    """Too many nodes got no usable reply: the document fails, what came is kept, and the next ingest asks for the rest."""


def require_enough_replies(errors: Mapping[int, ChatError], *, asked: int, share: float) -> None:
    """Raise UnansweredError where more than this share of the nodes asked about, and more than one, got no usable reply."""
    if len(errors) > max(1.0, share * asked):
        first = next(iter(errors.values()))
        raise UnansweredError(
            f"{len(errors)} of {asked} nodes got no usable reply from the model, the first: {first}; "
            "what came is kept, the next ingest asks for the rest"
        )


def may_be_mended(errors: Mapping[int, ChatError]) -> bool:
    """Say whether asking again may help: no reply came. What the model declined or twice got wrong it will again."""
    return any(error.outcome == Outcome.FAILED for error in errors.values())


def noted_pages(pages: Sequence[Page], nodes: Sequence[Node], errors: Mapping[int, ChatError], what: str) -> tuple[Page, ...]:
    """Return the pages; one with nodes that got no usable reply says of how many, what they have instead, and why."""
    troubles: dict[int, Counter[str]] = {}
    for place, error in errors.items():
        troubles.setdefault(nodes[place].page, Counter())[str(error.outcome)] += 1
    return tuple(
        replace(page, note="; ".join(filter(None, (page.note, _note(troubles[page.number], what)))))
        if page.number in troubles
        else page
        for page in pages
    )


def _note(outcomes: Counter[str], what: str) -> str:
    count = outcomes.total()
    reasons = ", ".join(f"{outcome} {number} times" if number > 1 else outcome for outcome, number in sorted(outcomes.items()))
    return f"{count} {'element' if count == 1 else 'elements'} {what}, for want of a usable reply of the model ({reasons})"
