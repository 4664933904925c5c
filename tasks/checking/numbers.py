"""Where a number stands: in the sentence or row that states the same number beside most of the same words."""

import re
from collections.abc import Iterator

from tasks.algorithms.metrics.numbers import StatedNumber, same_number, stated_numbers
from tasks.algorithms.proof.parts import UNTELLING
from tasks.algorithms.text.stems import stems_in
from tasks.algorithms.text.words import sentences_of
from tasks.asking.records import Quote
from tasks.checking.passages import Held, Passages

NEAREST_WORDS = 8
"""On either side of a number: a long sentence speaks of several things."""
LEAST_SHARE = 0.2
"""Of these words, those that only stand around the piece counted half: beside fewer, the same number is another thing's."""
ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
NO_DIGIT = re.compile(r"\D")
SEPARATORS = str.maketrans("", "", ".,")


def numbers_in(sentence: str) -> Iterator[StatedNumber]:
    """Yield the numbers that a sentence states: no year, no ordinal, none in words or in a name."""
    for number in stated_numbers(sentence):
        in_words = sentence[number.start : number.end].isalpha()
        if not (number.aside or number.year or in_words or ORDINAL.match(sentence, number.end)):
            yield number


def place_of(number: StatedNumber, sentence: str, passages: Passages) -> Quote | None:
    """Return the piece of a passage that states a number of the sentence beside most of the words around it."""
    near = [*sentence[: number.start].split()[-NEAREST_WORDS:], *sentence[number.end :].split()[:NEAREST_WORDS]]
    telling = {stem for stem in stems_in(" ".join(near)) - UNTELLING if stem[0].isalpha() or len(stem) == len("2024")}
    digits = NO_DIGIT.sub("", sentence[number.start : number.end]).strip("0")
    best, most = None, LEAST_SHARE
    for held in passages.holding(sentence):
        for piece in _pieces_of(held) if digits in held.words.translate(SEPARATORS) else ():
            if digits in piece.translate(SEPARATORS) and any(
                _is_same(number, other, piece, held) for other in stated_numbers(piece)
            ):
                inside, around = telling & stems_in(piece), telling & stems_in(f"{' '.join(held.node.section_path)} {held.words}")
                share = (len(inside) + len(inside | around)) / (2 * len(telling)) if telling else 1.0
                if share > most:
                    best, most = held.quote(piece), share
    return best


def _pieces_of(held: Held) -> list[str]:
    pieces = [row.text for row in held.rows if not row.is_header] or sentences_of(held.node.content)
    return [*pieces, *filter(None, (held.node.picture_text, held.node.caption))]


def _is_same(number: StatedNumber, other: StatedNumber, piece: str, held: Held) -> bool:
    """Say whether a number of a passage is the claimed one; 5 is 5 % only where shares are spoken of."""
    of_shares = f"{piece} {held.node.caption} {held.node.content if held.rows else ''}"
    is_alike = number.percent == other.percent or "%" in of_shares or "per cent" in of_shares
    return is_alike and same_number(other, number, tolerance=0.0)
