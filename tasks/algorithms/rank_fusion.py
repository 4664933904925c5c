"""One ranking out of several, by ranks alone (reciprocal rank fusion, Cormack, Clarke and Buettcher 2009)."""

from collections import defaultdict
from collections.abc import Sequence
from math import fsum

OFFSET = 60
"""The paper's k: the larger it is, the less a first place in one ranking weighs against middling places in several."""


def fuse_rankings(rankings: Sequence[Sequence[tuple[str, int]]]) -> dict[tuple[str, int], float]:
    """Return for each page, a document's id and a number, the sum of 1 / (60 + rank) over the rankings that have it.

    The best comes first, equal ones by document and page. Ranks count from 1; a page that a ranking has twice counts there once.
    """
    shares = defaultdict[tuple[str, int], list[float]](list)
    for ranking in rankings:
        for rank, page in enumerate(dict.fromkeys(ranking), start=1):
            shares[page].append(1 / (OFFSET + rank))
    # fsum: the same ranks in another order of the rankings are a tie.
    sums = {page: fsum(parts) for page, parts in shares.items()}
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))
