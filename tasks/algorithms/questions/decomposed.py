"""A question as several, by rules: its parts, or one for each name that it compares; and what the quotes found leave open."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import fsum

import numpy as np

from tasks.algorithms.arrays import require_range
from tasks.algorithms.questions.kinds import AnswerKind, collects, holds_kind, question_parts
from tasks.algorithms.text.kept import asked_part, names_in, parts_of

_COMPARES = re.compile(
    r"(?i)\b(?:compar(?:e[ds]?|ing|isons?)|differ(?:s|ed|ent|ences?)?|versus|vs|than|or|both|between|same|which\s+of|"
    r"sum|total|combined|together)\b"
)
_LEAD = r"(?i:\b(?:of|in|for|by|at|from|to|with|than|as|the)\s+){0,2}"
_JOINT = r"(?i:\s*(?:,\s*)?(?:(?:and|or|nor|versus|vs\.?|than|(?:compared\s+)?(?:with|to))\s+|[&/+]\s*)?)"


def sub_questions(question: str, *, titles: AbstractSet[str], most: int) -> tuple[str, ...]:
    """Return what a question asks as several questions, or itself where it is one or would be more than `most`.

    Its parts are questions. Where it compares, counts or sums, there is one for each of its names: what is asked, without the
    other names. Months, years and what has only stems of `titles` are no such names, because they hold for all.
    """
    parts, asked = question_parts(question), asked_part(question)
    if len(parts) < 2 and (collects(question) or _COMPARES.search(asked)):
        names = tuple(dict.fromkeys(name for name in names_in(asked) if _tells_apart(name, titles)))
        parts = _one_for_each(asked, names) if 1 < len(names) <= most else ()
    return parts if 1 < len(parts) <= most else (question,)


def _tells_apart(name: Iterable[str], titles: AbstractSet[str]) -> bool:
    words = {word: parts_of(word) for word in name if word[0].isupper()}
    dated = {word for word, stems in words.items() if holds_kind(" ".join((word, *stems)), AnswerKind.DATE, "")}
    # "FY" stands before a year.
    return any(word not in dated | {"FY"} and not titles >= set(stems) for word, stems in words.items())


def _one_for_each(asked: str, names: Sequence[Sequence[str]]) -> tuple[str, ...]:
    # The longest first, so that the Bank of England is not taken for England.
    words = "|".join(sorted((r"\s*".join(map(re.escape, name)) for name in names), key=len, reverse=True))
    one = rf"(?<![\w-])(?:{words})(?![\w-])(?:['\u2019]s\b)?"
    series = re.compile(rf"({_LEAD})({one}(?:{_JOINT}{_LEAD}{one})*)")

    def with_only(name: str) -> str:
        def kept(found: re.Match[str]) -> str:
            own = [each for each in re.findall(one, found[2]) if re.fullmatch(rf"{name}(?:['\u2019]s)?", each)]
            return f"{found[1]}{own[0]}" if own else ""

        return re.sub(r" (?=[?.,;:!])", "", " ".join(series.sub(kept, asked).split())).strip(" ,;:")

    return tuple(with_only(r"\s*".join(map(re.escape, name))) for name in names)


def uncovered(*, weights: Mapping[str, float], covered: Collection[AbstractSet[str]], least: float) -> tuple[str, ...]:
    """Return the stems that no quote covers, the weightiest first, or none where they weigh less than `least` of all stems.

    `weights` are those of the stems asked for, their rarity, at least 0; `covered` are the stems of each quote.
    """
    require_range(name="weights of stems", values=list(weights.values()), low=0.0, high=np.inf)
    lost = [stem for stem in weights if not any(stem in held for held in covered)]
    enough = fsum(weights[stem] for stem in lost) >= least * fsum(weights.values())
    return tuple(sorted(lost, key=lambda stem: -weights[stem])) if enough else ()
