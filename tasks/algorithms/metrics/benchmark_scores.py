"""What an answer is worth by the published rules of MMLongBench-Doc, LongDocURL, DUDE and SlideVQA, and by ANLS, as DocVQA has it.

Theirs are applied to the short answer that a model extracts from a reply. These are applied to the answer as given, without the
numbers of its sources: to the number that it is about, the items that it lists, or all of its words. A wordy answer is worth less
here than it would be there.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from itertools import starmap

import numpy as np
from scipy.optimize import linear_sum_assignment

from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.metrics.answers import TOLERANCE, alternatives_of, items_of, main_number, statements_of, turning
from tasks.algorithms.metrics.numbers import NUMBER, SPELLED, stated_numbers

THRESHOLD = 0.5
"""What is no more alike than this counts as different."""
FEWEST_DECIMALS, UNWRITTEN_DECIMALS = 2, 3
PERCENT = (0.01, 1.0, 100.0)
"""A percentage and its fraction are the same number."""


class Rules(StrEnum):
    MMLONGBENCH = "MMLongBench-Doc"
    LONGDOCURL = "LongDocURL"


_IN_PARENTHESES = re.compile(r"\s*\([^)]*\)")
_OUTER_QUOTE = re.compile(r"^['\"]|['\"]$")
_UNITS = ("kg", "mm", "m", "meters", "acres", "minutes", "mile", "miles", "million", "thousand", "billion")
_TO_THE_LETTER = re.compile(
    r".*https://.*|.*(?:\.py|ipynb)|page.*|.*[ap]\.m\..*|\d+(?:[-\s]\d+)?|\d{4}[-\s]\d\d[-\s]\d\d|[\w.%+-]+@[a-z0-9.-]+\.[a-z]{2,}",
    re.DOTALL,
)
"""Addresses, files, pages, times, dates and numbers as of telephones: they are right to the letter, or wrong."""


def benchmark_score(*, given: str, answers: Sequence[str], answer_format: str, rules: Rules) -> float:
    """Return what an answer is worth, in [0, 1], by the best of the known ones; an empty one is worth nothing.

    `answer_format` is "Int", "Float" or "List"; any other stands for words.
    """
    statements = statements_of(given)
    known = alternatives_of(answers) if statements else []
    return max((_score(statements, answer, answer_format, rules) for answer in known), default=0.0)


def f1_score(*, scores: FloatArray, answerable: FloatArray, given: FloatArray) -> float:
    """Return MMLongBench-Doc's F1 of questions (n,): `answerable` and `given`, an answer that does not abstain, are 0 or 1.

    Recall is what is scored for answerable questions over their number, precision the same over the number of answers given.
    """
    right, most = float(scores @ answerable), float(answerable.sum() + given.sum())
    return 2.0 * right / most if most else 0.0


def anls(*, given: str, answers: Sequence[str]) -> float:
    """Return how alike an answer is to the known one that it is most like, in [0, 1]; case and spaces do not count."""
    plain = " ".join(statements_of(given)).lower()
    known = (" ".join(answer.lower().split()) for answer in alternatives_of(answers) if plain)
    return max((likeness(plain, answer) for answer in known), default=0.0)


def anls_of_lists(*, given: str, answers: Sequence[str]) -> float:
    """Return DUDE's ANLS of a list, in [0, 1]: each item with another of the known ones, over the length of the longer list."""

    def plain(text: str) -> list[str]:
        return [" ".join(item.lower().split()) for item in items_of(text)]

    items = plain("\n".join(statements_of(given)))
    tables = [np.array([[likeness(item, other) for other in plain(answer)] for item in items]) for answer in answers if items]
    return max((float(alike[linear_sum_assignment(-alike)].sum() / max(alike.shape)) for alike in tables), default=0.0)


_SAYS_NOTHING = re.compile(r"\b(?:a|an|the|and|this is|it is|percent|because of|because|due to)\b|&")
_COUNTED = re.compile(r"\b(?:how many|which)\s+(\w+)")
_NO_WORDS = str.maketrans("", "", string.punctuation)


def word_scores(*, given: str, answers: Sequence[str], question: str) -> tuple[float, float]:
    """Return whether an answer has the very words of a known one, and the F1 of their words, as SlideVQA has them.

    Articles, signs, words that say nothing and the unit that the question names do not count; small numbers are digits.
    """
    units = set(_COUNTED.findall(question.lower()))

    def words(text: str) -> list[str]:
        plain = _SAYS_NOTHING.sub(" ", text.lower()).translate(_NO_WORDS).split()
        said = plain[:1] if plain[:1] in (["yes"], ["no"]) else plain
        return [str(SPELLED.get(word, word)) for word in said if word not in units]

    own = words(" ".join(statements_of(given)))
    scores = [(float(own == other), _words_f1(Counter(own), Counter(other))) for answer in answers if (other := words(answer))]
    return max(scores, default=(0.0, 0.0)) if own else (0.0, 0.0)


def _words_f1(own: Counter[str], other: Counter[str]) -> float:
    return 2.0 * (own & other).total() / (own.total() + other.total())


def likeness(one: str, other: str) -> float:
    """Return 1 less the edit distance over the length of the longer text; 0 where that is at most THRESHOLD."""
    longest = max(len(one), len(other))
    if 2 * abs(len(one) - len(other)) >= longest > 0:
        return 0.0  # more than half of it is missing, and the distance of long texts takes long
    alike = 1.0 - edit_distance(one, other) / max(longest, 1)
    return alike if alike > THRESHOLD else 0.0


def edit_distance(one: str, other: str) -> int:
    """Return how many signs must be put in, taken out or exchanged to make one text of the other (Levenshtein)."""
    steps, signs = np.arange(len(other) + 1), np.array(list(map(ord, other)), dtype=np.int64)
    row = steps
    for place, sign in enumerate(one, 1):
        kept = np.minimum(row + 1, np.append(place, row[:-1] + (signs != ord(sign))))
        # What is put in costs a step to the right of the best place before.
        row = np.minimum.accumulate(kept - steps) + steps
    return int(row[-1])


def _score(statements: Sequence[str], answer: str, answer_format: str, rules: Rules) -> float:
    match answer_format:
        case "Int" | "Float":
            return _number_score(statements[0], answer, rules, whole=answer_format == "Int")
        case "List":
            return _list_score(items_of("\n".join(statements)), items_of(answer), rules)
        case _:
            return _words_score(" ".join(statements), " ".join(statements_of(answer)), rules)


def _number_score(statement: str, answer: str, rules: Rules, *, whole: bool) -> float:
    """Compare numbers as they are written: no scale is multiplied out. MMLongBench-Doc cuts the decimals off a whole number."""
    numbers = stated_numbers(answer)
    if len(numbers) != 1:
        return 0.0
    main = main_number(statement, year=numbers[0].year, turned=turning(answer, numbers[0]))
    if main is None:
        return 0.0
    wanted, given = (number.value / number.scale for number in (numbers[0], main[0]))
    if whole:
        return float(wanted == given if rules is Rules.LONGDOCURL else np.trunc(wanted) == np.trunc(given))
    return float(any(_same_float(wanted * factor, given) for factor in PERCENT))


def _same_float(wanted: float, given: float) -> bool:
    """Whether numbers are within a hundredth of each other, or equal in the decimals that both have, at least two."""
    decimals = max(FEWEST_DECIMALS, min(map(_decimals, (wanted, given))))
    return math.isclose(wanted, given, rel_tol=TOLERANCE) or round(wanted, decimals) == round(given, decimals)


def _decimals(value: float) -> int:
    return len(str(value).partition(".")[2]) or UNWRITTEN_DECIMALS


def _words_score(given: str, answer: str, rules: Rules) -> float:
    wanted, plain = (_clean(text, rules) for text in (answer, given))
    return float(wanted == plain) if _TO_THE_LETTER.fullmatch(wanted) else likeness(wanted, plain)


def _list_score(items: Sequence[str], answers: Sequence[str], rules: Rules) -> float:
    """Compare items: MMLongBench-Doc in order of the alphabet, by the worst pair; LongDocURL each with what is most like it."""
    wanted, given = ([_clean(item, rules) for item in of_one] for of_one in (answers, items))
    if rules is Rules.MMLONGBENCH:
        wanted, given = sorted(wanted), sorted(given)
    if not wanted or not given or (rules is Rules.MMLONGBENCH and len(wanted) != len(given)):
        return 0.0
    if NUMBER.fullmatch(wanted[0]) or _TO_THE_LETTER.fullmatch(wanted[0]):
        return float(wanted == given)
    if rules is Rules.MMLONGBENCH:
        return min(starmap(likeness, zip(wanted, given, strict=True)))
    best = math.fsum(max(likeness(item, other) for other in given) for item in wanted) / len(wanted)
    return best * math.sqrt(min(1.0, len(wanted) / len(given)))


def _clean(text: str, rules: Rules) -> str:
    """Return a text without what the rules take for no part of an answer; of units their signs are taken, in whatever order."""
    plain, currency = " ".join(text.lower().split()), "$"
    if rules is Rules.LONGDOCURL:
        plain, currency = plain.replace(",", ""), "$£"
        for unit in _UNITS:
            plain = plain.rstrip(unit).strip() if plain.endswith(unit) else plain
    plain = _OUTER_QUOTE.sub("", _IN_PARENTHESES.sub("", plain).strip())
    return plain.strip().lstrip(currency).strip().rstrip("%").strip()
