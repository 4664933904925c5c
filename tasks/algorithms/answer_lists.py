"""Lists as answers: what their items are, and whether all of them stand in another answer, in any order."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from tasks.algorithms.answer_words import answer_words, find_run

_BETWEEN = (re.compile(r"\s*[;\n]\s*"), re.compile(r"\s*,\s+(?:and\s+)?|\s+and\s+"))


def written_list(answer: str) -> list[str] | None:
    """Return the items of an answer that is written as a JSON array; None where it is not."""
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return [str(item) for item in value] if isinstance(value, list) else None


def items_of(answer: str) -> list[str]:
    """Return the items of a list: those of a JSON array, or what stands between semicolons or lines, else commas and "and"."""
    items = written_list(answer)
    if items is None:
        bare = answer.strip().removeprefix("[").removesuffix("]")
        items = next((parts for sign in _BETWEEN if len(parts := sign.split(bare)) > 1), [bare])
    return [item for item in items if item.strip()]


def holds_all(items: Sequence[str], statements: Sequence[str]) -> bool:
    """Tell whether each item stands in a statement as a run of words; no word serves two items ("birth", "place of birth")."""
    left = [answer_words(statement) for statement in statements]
    runs = [answer_words(item) for item in items]
    return all(run and _take(run, left) for run in sorted(runs, key=len, reverse=True))


def _take(run: Sequence[str], left: Sequence[list[str]]) -> bool:
    """Take the run out of the first words that hold it."""
    for words in left:
        place = find_run(run, words)
        if place >= 0:
            words[place : place + len(run)] = [""]
            return True
    return False
