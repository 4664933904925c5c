"""The parts of an answer, and the pieces of the evidence that prove them.

An answer adds words and numbers to its question. A part of it is quoted where a piece says all that it adds, as a run of words, or
in a row anywhere: numbers with the sign, the unit and the scale that the answer gives them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from storage.records.answers import Support
from tasks.algorithms.metrics.answers import CLAUSE, NEGATIONS, NUMBER_REACH, WORD_REACH, answer_words, is_number
from tasks.algorithms.metrics.numbers import stated_numbers
from tasks.algorithms.proof.arithmetic import ARITHMETIC, FEWER, MORE, compare, compute, count_pieces, values_of
from tasks.algorithms.proof.units import CURRENCY_WORDS, currencies_in, numbers_of_other_years
from tasks.algorithms.text.stems import stem
from tasks.algorithms.text.words import STOP_WORDS, sentences_of

UNTELLING = frozenset(stem(word) for word in STOP_WORDS) | CURRENCY_WORDS.keys()
"""Words that an answer need not share with its proof; currencies are compared by themselves."""
YES_OR_NO = re.compile(r"\s*(?P<word>yes\b|no(?=[,.:;!]|\s*$))[\s,.:;!]*", re.IGNORECASE)
BETWEEN_PARTS = re.compile(r";\s+|\n+|,\s+and\s+|\s+and\s+|,\s+(?!(?:1[5-9]|20)\d\d\b)")
"""A year behind a comma belongs to the date before it."""
NAME = re.compile(r"(?<=\S\s)[A-Z][\w-]+")
SCALES = {1e3: {"thousand", "000"}, 1e6: {"million", "mn"}, 1e9: {"billion", "bn"}}
"""What stands over a row whose numbers are in thousands, millions or billions."""
LETTERS = {"k": "thousand", "m": "million", "b": "billion"}
"""Scales of money: "m" alone may be metres."""
BOUNDED = {
    stem(word): bound
    for bound, words in {"above": "more over above", "below": "less fewer under below"}.items()
    for word in words.split()
}
"""Words that make the number behind them a bound, and on which side of it is what is meant."""
LOOSE_SHARE = 0.5
"""Of what a part adds to the question: in words of its own a model says what it quotes where so much of it stands there."""


@dataclass(frozen=True, slots=True)
class ProofPiece:
    """A sentence or a row that may prove something.

    `cited`: the model quotes it. `about`: it speaks of what is asked. `heads` stands over it: headings, a caption.
    """

    text: str
    heads: str = ""
    is_row: bool = False
    cited: bool = False
    about: bool = False


@dataclass(frozen=True, slots=True)
class ProvenPart:
    """A part of an answer, the places of the pieces that prove it, and the arithmetic where it is computed."""

    text: str
    support: Support
    pieces: tuple[int, ...] = ()
    working: str = ""


def prove_parts(question: str, answer: str, pieces: Sequence[ProofPiece]) -> list[ProvenPart]:
    """Return the parts of an answer in order, at least one; the first piece that proves a part is its proof.

    An answer that is proven whole is one part; it is taken apart where that proves a part of it.
    """
    whole = prove(question, answer, pieces)
    if whole.support is not Support.UNSUPPORTED:
        return [whole]
    parts = [prove(question, text, pieces) for text in split_parts(question, answer)]
    return parts if any(part.support is not Support.UNSUPPORTED for part in parts) else [whole]


def split_parts(question: str, answer: str) -> list[str]:
    """Return the clauses of an answer; one that adds nothing to the question goes with that before it."""
    asked, parts = frozenset(answer_words(question)), list[str]()
    for clause in (clause for sentence in sentences_of(answer) for clause in BETWEEN_PARTS.split(sentence)):
        if parts and not _added(answer_words(clause), asked):
            parts[-1] = f"{parts[-1]} {clause}"
        elif clause.strip():
            parts.append(clause.strip())
    return parts or [answer]


def prove(question: str, text: str, pieces: Sequence[ProofPiece]) -> ProvenPart:
    """Return what supports a part by itself."""
    yes = YES_OR_NO.match(text)
    claim = Claim(question, text[yes.end() :] if yes else text)
    for place, piece in enumerate(pieces):
        if claim.added and (piece.cited or piece.about) and claim.stands_in(piece):
            return ProvenPart(text, Support.QUOTED, (place,))
    cited = [place for place, piece in enumerate(pieces) if piece.cited]
    values = [value for place in cited for value in values_of(pieces[place].text, place)]
    by_working = claim.says_no_more_than(f"{pieces[place].heads} {pieces[place].text}" for place in cited)
    if yes and by_working and (compared := compare(question, values)):
        is_so, places, working = compared
        right = is_so == (yes["word"].casefold() == "yes")
        return ProvenPart(text, Support.COMPUTED, places, working) if right else ProvenPart(text, Support.UNSUPPORTED)
    if by_working and not claim.denies:
        quoted = {place: pieces[place].text for place in cited}
        if computed := compute(question, text, values) or count_pieces(question, text, quoted):
            return ProvenPart(text, Support.COMPUTED, *computed)
    for place in cited:
        if claim.is_meant_by(pieces[place], is_yes_or_no=yes is not None):
            return ProvenPart(text, Support.QUOTED, (place,))
    return ProvenPart(text, Support.UNSUPPORTED)


def _added(said: Sequence[str], asked: AbstractSet[str]) -> list[str]:
    return [word for word in said if word not in asked and word not in UNTELLING]


@lru_cache(maxsize=4096)
def _clauses(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of a text by its clauses: of these, each is denied by itself."""
    return tuple(tuple(answer_words(clause)) for clause in CLAUSE.split(text))


def _words(text: str) -> list[str]:
    return [word for clause in _clauses(text) for word in clause]


class Claim:
    """What a part of an answer says, in the words by which answers are compared."""

    def __init__(self, question: str, text: str) -> None:
        self.text, self.said, self.asked = text, answer_words(text), frozenset(answer_words(question))
        self.added = _added(self.said, self.asked)
        self.compared = answer_words(" ".join(found[0] for words in (MORE, FEWER) for found in words.finditer(question)))
        self.denies = not NEGATIONS.isdisjoint(self.said)
        self.currencies = currencies_in(text)
        self.years = _years_in(f"{question} {text}")

    def says_no_more_than(self, cited: Iterable[str]) -> bool:
        """Say whether beside its numbers, and the words of their working, it adds nothing to what is cited."""
        added = _added(answer_words(ARITHMETIC.sub(" ", self.text)), self.asked)
        known = {word for text in cited for word in _words(text)}
        return all(is_number(word) or word in known for word in added)

    def stands_in(self, piece: ProofPiece) -> bool:
        """Say whether a piece says all that is added, and denies it where the claim does."""
        if not self._has_currencies_of(piece):
            return False
        words = self._words_of(piece)
        if piece.is_row:
            # A heading such as "weight without base" denies no number.
            alike = self.denies != NEGATIONS.isdisjoint(words) or (not self.denies and any(map(is_number, self.added)))
            return alike and all(_is_in_row(word, words) for word in self.added)
        ends, said = list(accumulate(map(len, _clauses(piece.text)))), _words(piece.text)
        units = [pair for pair in pairwise(self.said) if is_number(pair[0]) and not is_number(pair[1]) and pair[1] in self.added]
        return (
            all(any(set(pair) == set(other) for other in pairwise(said)) for pair in units)
            and set(self.added) <= set(words)
            and any(self._is_meant_as(said, run, ends) for run in self._runs_in(said, _years_in(piece.text)))
        )

    def is_meant_by(self, piece: ProofPiece, *, is_yes_or_no: bool) -> bool:
        """Say whether what a model quotes, and says in words of its own, holds the numbers, the names and half of the rest."""
        words = self._words_of(piece)
        if not (piece.about and self._has_currencies_of(piece)):
            return False
        if not self.added:
            # A bare yes to a comparison is proven by one.
            telling = [word for word in self.said if word not in UNTELLING] or self.compared
            alike = self.denies != NEGATIONS.isdisjoint(words)
            return alike and (all(word in words for word in telling) if telling else is_yes_or_no)
        if self.denies == NEGATIONS.isdisjoint(words):
            return False
        names = {word for name in NAME.findall(self.text) for word in answer_words(name)}
        exact = [word for word in self.added if is_number(word) or word in names]
        standing = [word for word in self.added if _is_in_row(word, words)]
        return set(exact) <= set(standing) and len(standing) >= LOOSE_SHARE * len(self.added)

    def _words_of(self, piece: ProofPiece) -> list[str]:
        """Return the words of a piece and of what stands over it, without the numbers of other years than are spoken of."""
        others = numbers_of_other_years(piece.text, self.years)
        words = [*_words(piece.heads), *(word for word in _words(piece.text) if word not in others)]
        is_of_money = currencies_in(f"{piece.heads} {piece.text}")
        return [*words, *(LETTERS[word] for word in words if word in LETTERS)] if is_of_money else words

    def _has_currencies_of(self, piece: ProofPiece) -> bool:
        """Say whether sums are in the currency that stands there; that of a table may stand anywhere around it."""
        theirs = currencies_in(f"{piece.heads} {piece.text}")
        return self.currencies <= theirs or (piece.is_row and not theirs)

    def _is_meant_as(self, words: Sequence[str], run: slice, ends: Sequence[int]) -> bool:
        """Say whether a run of words is denied, in its clauses, as the claim denies it, and its numbers are as bounded."""
        first = max((end for end in ends if end <= run.start), default=0)
        last = next(end for end in ends if end >= run.stop)
        around = words[max(first, run.start - NUMBER_REACH) : min(last, run.stop + WORD_REACH)]
        numbers = [word for word in self.added if is_number(word)]
        return self.denies != NEGATIONS.isdisjoint(around) and all(
            _bounds(words[: run.stop], number) == _bounds(self.said, number) for number in numbers
        )

    def _runs_in(self, words: Sequence[str], years: AbstractSet[str]) -> Iterator[slice]:
        """Yield where the added words follow each other; only words that add nothing may be between them.

        What the claim repeats of the question stands nearer to them than any other number: with that another thing may be meant.
        A year is another number only where the claim adds one.
        """
        repeated = (self.asked - UNTELLING).intersection(self.said, words)
        telling = [place for place, word in enumerate(words) if word not in self.asked and word not in UNTELLING]
        passed = years if years.isdisjoint(self.added) else set[str]()
        numbers = [place for place in telling if is_number(words[place]) and words[place] not in passed]
        for first in range(len(telling) - len(self.added) + 1):
            places = telling[first : first + len(self.added)]
            if [words[place] for place in places] == self.added:
                start = max((place for place in numbers if place < places[0]), default=-1) + 1
                end = min((place for place in numbers if place > places[-1]), default=len(words))
                if repeated <= set(words[start:end]):
                    yield slice(places[0], places[-1] + 1)


def _years_in(text: str) -> set[str]:
    return {f"{number.value:.15g}" for number in stated_numbers(text) if number.year}


def _bounds(words: Sequence[str], number: str) -> set[str]:
    """Return whether a number, where it stands last, is what something is above or below of."""
    place = len(words) - 1 - words[::-1].index(number)
    return {BOUNDED[word] for word in words[max(0, place - NUMBER_REACH) : place] if word in BOUNDED}


def _is_in_row(word: str, words: Sequence[str]) -> bool:
    """Say whether a word stands in a row, a number also in the thousands, millions or billions that stand over it."""
    if word in words or not is_number(word):
        return word in words
    return any(f"{float(word) / scale:.15g}" in words and not names.isdisjoint(words) for scale, names in SCALES.items())
