"""Terms that are held to the text they are said to come from."""

from __future__ import annotations

from collections.abc import Sequence

SIGNS_OF_FORMULAS = str.maketrans(dict.fromkeys("${}\\", " "))


CONTROLS = str.maketrans(dict.fromkeys(map(chr, [*range(32), *range(127, 160)]), " "))


def without_controls(text: str) -> str:
    """Return the text on one line, without signs that steer a terminal or end a text in other programs."""
    return " ".join(text.translate(CONTROLS).split())


def verbatim_terms(*, terms: Sequence[str], source: str | None, limit: int) -> tuple[str, ...]:
    """Return the terms without signs of formulas, each once whatever its case, only those that stand in the source.

    Args:
        terms: in the order of their weight.
        source: the text; spaces and case do not count. None where there is none to compare with: all terms pass.
        limit: terms at most.
    """
    kept: dict[str, str] = {}
    text = None if source is None else _bare(source)
    for term in terms:
        plain = without_controls(term.translate(SIGNS_OF_FORMULAS))
        bare = _bare(term)
        if bare and (text is None or bare in text):
            kept.setdefault(bare, plain)
    return tuple(kept.values())[:limit]


def _bare(text: str) -> str:
    return "".join(text.translate(SIGNS_OF_FORMULAS).casefold().split())
