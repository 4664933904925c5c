"""Whether an answer is right, by rules: what they call right is written like a known answer; a paraphrase they do not see."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tasks.algorithms.metrics.answer_words import (
    BOUNDS,
    NEGATIONS,
    NUMBER_REACH,
    abstains,
    answer_words,
    find_run,
    holds_all,
    is_number,
    items_of,
    runs_in,
    same_words,
    statements_of,
    telling,
    written_list,
)
from tasks.algorithms.metrics.numbers import StatedNumber, same_number, stated_numbers

_WORDS = "about approximately around roughly nearly almost some over circa ca only in on at usd us eur gbp inr rs"
_LEADING = frozenset(_WORDS.split())
"""Words that may stand before the number that an answer opens with."""
_ANOTHER = re.compile(r"\s*(?:[,;/|\u2013\u2014-]|\b(?:and|to)\b)\s*|.*\bor\b.*", re.DOTALL)
_CLAUSE = re.compile(r"[,;:.!?]\s|\s[\u2013\u2014-]\s|\bbut\b")
"""Where what was denied ends: "No, 45", "not 40 but 45"."""


@dataclass(frozen=True, slots=True)
class ToldNumber:
    """The number that a statement tells, and whether the statement opens with it."""

    number: StatedNumber
    opens: bool


def told_number(statement: str, *, year: bool, turned: frozenset[str]) -> ToldNumber | None:
    """Return the only number of a statement, or the one that it opens with; None where it has none, or several.

    Numbers in names ("GPT-4"), of places ("Table 3") and years do not count beside others; where a `year` is looked for, it is
    the years that count. "21 %, up from 18 %" opens with its number, "3, 4 or 5" and the row of a table do not.

    Args:
        statement: what was said.
        year: whether a year is looked for.
        turned: the words that deny or bound the number that is looked for (`turning`). One with others was not told, nor one
            that is not denied where that one is; a bound may be left out, as other words may.
    """
    numbers = [number for number in stated_numbers(statement) if _is_meant(turning(statement, number), turned)]
    plain = [number for number in numbers if not number.aside]
    dated = [number for number in plain if number.year]
    values = [number for number in plain if not number.year]
    counted = (dated if year else values) or plain or numbers
    if not counted:
        return None
    first = counted[0]
    opens = _opens(statement, first, counted)
    if opens or len({(number.value, number.percent) for number in counted}) == 1:
        return ToldNumber(first, opens)
    return None


def turning(statement: str, number: StatedNumber) -> frozenset[str]:
    """Return the words shortly before a number, in its clause, that deny it or make it a bound: "not", "less" and "than"."""
    clause = _CLAUSE.split(statement[: number.start])[-1]
    before = re.findall(r"\w+", re.sub("['\u2019]", "", clause).casefold())
    return (BOUNDS | NEGATIONS).intersection(before[-NUMBER_REACH:])


def _is_meant(said: frozenset[str], turned: frozenset[str]) -> bool:
    return said <= turned and turned & NEGATIONS <= said


def _opens(statement: str, first: StatedNumber, counted: Sequence[StatedNumber]) -> bool:
    """Tell whether nothing that tells stands before the first number, and no other number is offered in its place."""
    before = re.findall(r"\w+", statement[: first.start].casefold())
    offered = len(counted) > 1 and _ANOTHER.fullmatch(statement[first.end : counted[1].start]) is not None
    return " | " not in statement and not offered and _LEADING.issuperset(before)


TOLERANCE = 0.01
"""Relative difference that does not count for measured values, as MMLongBench-Doc has it; counts are compared exactly."""

DUMP = 10
"""An answer of more than so many times the words of a list of items is a copy of the page, and no list of anything."""

NEAR = 2
"""Words between an answer and the "or" that joins it to another: "Paris, France or Berlin"."""

TERSE = 3
"""An answer of at most so many times the words of a list is one itself."""


class MatchKind(StrEnum):
    """How an answer was found right, the strictest first, or why it is not."""

    EXACT = "exact"
    """It says the same words, and no other."""
    NUMERIC = "numeric"
    """It is the same number, or opens with it."""
    LIST = "list"
    """It is a list that holds all items."""
    CONTAINED = "contained"
    """It says more than is known, or less, but all that tells; looser than the others, and right by chance where it is long."""
    ABSTAINED = "abstained"
    """It says that there is no answer, which is right where there is none."""
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Match:
    correct: bool
    kind: MatchKind


WRONG = Match(False, MatchKind.WRONG)


def judge_by_rules(*, predicted: str, answers: Sequence[str], answer_format: str, answerable: bool, found: bool) -> Match:
    """Judge an answer; raise ValueError where the question has an answer and none is known.

    A number is judged by the one that the answer tells (`told_number`), never by one among many. Words must stand as a run in one
    statement; what is short or says nothing by itself, in the first one. A terse answer may leave out up to half of what tells.
    "Berlin or Paris" is a guess, and wrong, unless both are known.

    Args:
        predicted: the answer, its statements on lines of their own.
        answers: those that are right; in each, "||" stands between alternatives.
        answer_format: "Str", "Int", "Float", "List"; with any other the known answers decide.
        answerable: whether the documents answer the question.
        found: whether the answer is one.
    """
    known = [one.strip() for answer in answers for one in answer.split("||") if one.strip()]
    if not answerable:
        return Match(True, MatchKind.ABSTAINED) if not found or abstains(predicted) else WRONG
    if not known:
        raise ValueError("answers is empty, so nothing says what is right; judge only questions whose answer is known")
    statements = statements_of(predicted)
    if not found or not statements:
        return Match(False, MatchKind.ABSTAINED)
    kinds = [_kind(statements, answer, answer_format, known) for answer in known]
    best = min((kind for kind in kinds if kind is not None), key=list(MatchKind).index, default=None)
    if best is not None:
        return Match(True, best)
    return Match(False, MatchKind.ABSTAINED) if abstains(predicted) else WRONG


def _kind(statements: Sequence[str], answer: str, answer_format: str, known: Sequence[str]) -> MatchKind | None:
    """Return how the statements match one of the known answers, None where they do not."""
    if same_words(answer_words(" ".join(statements)), answer_words(answer)) and answer_words(answer):
        return MatchKind.EXACT
    items = items_of(answer) if answer_format == "List" else written_list(answer) or []
    if len(items) > 1:
        return _as_list(statements, items)
    only = items[0] if items else answer
    number = _only_number(only, needed=answer_format in {"Int", "Float"})
    if number is not None:
        return _as_number(statements, number, answer_format, turning(only, number))
    return _as_words(statements, answer_words(only), [answer_words(other) for other in known])


def _only_number(answer: str, *, needed: bool) -> StatedNumber | None:
    """Return the number that an answer is; where one is `needed`, also the only one in it. None where it is something else."""
    numbers = stated_numbers(answer)
    if len(numbers) != 1:
        return None
    rest = re.findall(r"\w+", answer[: numbers[0].start] + " " + answer[numbers[0].end :])
    return numbers[0] if needed or not rest else None


def _as_number(statements: Sequence[str], number: StatedNumber, answer_format: str, turned: frozenset[str]) -> MatchKind | None:
    told = told_number(statements[0], year=number.year, turned=turned)
    if told is None:
        return None
    # 2019 and 2020 differ by less than the tolerance, and are not the same year.
    counts = answer_format == "Int" or (answer_format != "Float" and number.whole and not number.percent)
    exactly = counts or (number.year and told.number.year)
    if not same_number(number, told.number, tolerance=0.0 if exactly else TOLERANCE):
        return None
    return MatchKind.NUMERIC if told.opens and len(statements) == 1 else MatchKind.CONTAINED


def _as_list(statements: Sequence[str], items: Sequence[str]) -> MatchKind | None:
    known, said = (sum(len(answer_words(text)) for text in texts) for texts in (items, statements))
    if said > DUMP * known or not holds_all(items, statements):
        return None
    return MatchKind.LIST if said <= TERSE * known else MatchKind.CONTAINED


def _as_words(statements: Sequence[str], known: Sequence[str], every: Sequence[Sequence[str]]) -> MatchKind | None:
    """Match the words of one known answer; `every` are those of all."""
    said = [answer_words(statement) for statement in statements]
    tells = telling(known)
    if not tells:
        # "Yes", "Both", "B": everywhere by chance, and an answer only at its beginning.
        begins = bool(known) and list(said[0][: len(known)]) == list(known)
        right = begins and not _guessed(said[0], 0, known, every, near=1)
    else:
        places = ((words, place) for words in (said if len(tells) > 1 else said[:1]) for place in runs_in(words, known))
        right = any(not _guessed(words, place, known, every, near=NEAR) for words, place in places)
    return MatchKind.CONTAINED if right or (len(said) == 1 and _tersely(said[0], known)) else None


def _guessed(words: Sequence[str], place: int, run: Sequence[str], every: Sequence[Sequence[str]], *, near: int) -> bool:
    """Tell whether an "or" near the run at this place offers something else beside it that is no known answer."""
    before, after = words[:place], words[place + len(run) :]
    beside = [part for part, joint in ((before, before[-near:]), (after, after[:near])) if "or" in joint]
    return any(all(find_run(known, part) < 0 for known in every) for part in beside)


def _tersely(said: Sequence[str], known: Sequence[str]) -> bool:
    """Tell whether an answer is a part of the known one that holds at least half of what tells, all numbers and every "not"."""
    facts = {word for word in known if is_number(word) or word in NEGATIONS}
    enough = 2 * len(telling(said)) >= len(telling(known)) > 0
    return enough and bool(telling(said)) and facts <= set(said) and find_run(said, known) >= 0
