"""Room shared fairly: who needs little gets it, the others share what is left."""

from __future__ import annotations

from collections.abc import Sequence


def fair_shares(*, needs: Sequence[int], room: int) -> list[int]:
    """Return how much of the room each gets: no more than it needs, in all no more than the room, and the rest in equal parts.

    Needs and room are at least 0; the order is that of the needs.
    """
    shares = [0] * len(needs)
    left = room
    for done, place in enumerate(sorted(range(len(needs)), key=lambda place: needs[place])):
        shares[place] = min(needs[place], left // (len(needs) - done))
        left -= shares[place]
    return shares
