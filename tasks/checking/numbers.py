"""Where a number stands: in the sentence or row that states the same number beside most of the same words."""

import re
from collections.abc import Iterator

from tasks.algorithms.metrics.numbers import StatedNumber, same_number, stated_numbers
from tasks.algorithms.proof.parts import UNTELLING
from tasks.algorithms.proof.units import currencies_in
from tasks.algorithms.text.stems import stems_in
from tasks.algorithms.text.words import sentences_of
from tasks.asking.records import Quote
from tasks.checking.passages import Passages

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
    digits = NO_DIGIT.sub("", sentence[number.start : number.end]).strip("0") or "0"
    best, most = None, LEAST_SHARE
    for held in passages.holding(sentence):
        node = held.node
        pieces = [row.text for row in held.rows if not row.is_header] or sentences_of(node.content)
        for piece in (*pieces, node.picture_text, node.caption):
            # to read the numbers of all pieces would take long
            if digits in piece.translate(SEPARATORS) and any(
                _is_same(number, sentence, other, piece) for other in stated_numbers(piece)
            ):
                inside = telling & stems_in(piece)
                around = inside | telling & stems_in(" ".join((*node.section_path, node.caption, node.content)))
                share = (len(inside) + len(around)) / (2 * len(telling)) if telling else 1.0
                if share > most:
                    best, most = held.quote(piece), share
    return best


def _is_same(number: StatedNumber, sentence: str, other: StatedNumber, piece: str) -> bool:
    """Say whether a number of a piece is that of a sentence; 5 is 5 % only where shares are spoken of, as in a row's head."""
    is_alike = number.percent == other.percent or "%" in piece or "per cent" in piece
    claimed, written = _currencies_of(number, sentence), _currencies_of(other, piece)
    is_of_one_currency = not (claimed and written) or claimed == written
    return is_alike and is_of_one_currency and same_number(other, number, tolerance=0.0)


def _currencies_of(number: StatedNumber, text: str) -> frozenset[str]:
    """Return the currency that is written just before or behind a number."""
    before, behind = text[: number.start].split()[-1:], text[number.end :].split()[:1]
    return currencies_in(" ".join((*before, text[number.start : number.end], *behind)))
