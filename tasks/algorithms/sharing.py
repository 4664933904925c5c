"""Items in groups, and room shared fairly."""

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


def group_in_order(*, sizes: Sequence[int], most_items: int, most_size: int) -> list[range]:
    """Cut the row into runs of at most `most_items` items and `most_size` in sum; an item that is larger stands alone.

    Returned are the places of each run, in order; together all places, each once.
    """
    groups: list[range] = []
    start, total = 0, 0
    for place, size in enumerate(sizes):
        if place > start and (place - start == most_items or total + size > most_size):
            groups.append(range(start, place))
            start, total = place, 0
        total += size
    return [*groups, range(start, len(sizes))] if sizes else []
