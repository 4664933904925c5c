"""Consistency without a model: whether the quotes give the same value where they speak of the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice, product

from tasks.algorithms.quoted_values import QuotedValue, ValueKind, quoted_values


def value_consistency(
    *, quotes: Sequence[str], sources: Sequence[int], same_subject: float, tolerance: float, most_pairs: int
) -> float:
    """Return the share of comparable pairs of values that agree, 0..1; 1 where no two values can be compared.

    Two values can be compared when they stand in quotes of different sources, are of one kind, hold for the same dates and are
    said of the same row or subject. Rows of one table, sentences of one passage do not contradict each other.

    Args:
        quotes: sentences and rows of tables, the best first; a text that is given twice counts once.
        sources: for each quote the node that it is taken from.
        same_subject: share of the words of two subjects, from which on they are the same.
        tolerance: relative difference up to which two numbers agree.
        most_pairs: comparable pairs looked at, in the order of the quotes.
    """
    firsts = dict(zip(reversed(quotes), reversed(sources), strict=True))
    values = [(firsts[text], quoted_values(text)) for text in dict.fromkeys(quotes)]
    pairs = (
        pair
        for (source, first), (other_source, second) in combinations(values, 2)
        if source != other_source
        for pair in product(first, second)
        if _comparable(*pair, same_subject)
    )
    agreements = [_agree(first, second, tolerance) for first, second in islice(pairs, most_pairs)]
    return sum(agreements) / len(agreements) if agreements else 1.0


def _comparable(first: QuotedValue, second: QuotedValue, same_subject: float) -> bool:
    if first.kind is not second.kind or first.dates != second.dates:
        return False
    different = first.subject ^ second.subject
    # "CS-09" and "CS-01" are two things, however much else is the same.
    if any(sign.isdigit() for word in different for sign in word):
        return False
    return len(first.subject & second.subject) >= same_subject * len(first.subject | second.subject)


def _agree(first: QuotedValue, second: QuotedValue, tolerance: float) -> bool:
    """Tell whether two values are the same, rounded; a number may be written in thousands, millions or billions, a date in part."""
    if first.kind is ValueKind.DATE:
        shorter, longer = sorted((first.date, second.date), key=len)
        return longer.startswith(shorter)
    scales = (1.0, 1e3, 1e6, 1e9) if first.kind is ValueKind.NUMBER else (1.0,)
    pairs = [(first.number * scale, second.number) for scale in scales] + [
        (first.number, second.number * scale) for scale in scales
    ]
    return any(abs(one - other) <= tolerance * max(abs(one), abs(other)) for one, other in pairs)
