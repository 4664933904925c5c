"""Financial quantities that a question names, and the statements that show them, by the glossary in statements.toml."""

import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from importlib.resources import files

import numpy as np

from tasks.algorithms.arrays import FloatArray, require_range
from tasks.algorithms.text.kept import content_stems, strip_instructions
from tasks.algorithms.text.stems import stem


class Statement(StrEnum):
    """The three statements that accounts consist of."""

    BALANCE = "balance sheet"
    INCOME = "income statement"
    CASH = "cash flow statement"


_GLOSSARY = tomllib.loads(files(__package__).joinpath("statements.toml").read_text("utf-8"))

STATEMENT_STEMS: Mapping[Statement, tuple[str, ...]] = {
    Statement(statement): tuple(dict.fromkeys(content_stems(wording))) for statement, wording in _GLOSSARY["wording"].items()
}
"""The usual wording of each statement as stems, each once."""

_WORD = re.compile(r"[^\W_]+(?:&[^\W_]+)*")
_GENITIVE = re.compile(r"['\u2019]s\b")


def _frame_words(text: str, *, folded: bool) -> str:
    """Return the words, or their stems, between spaces, so that a term is found by whole words; "debt/equity" is a "to"."""
    words = _WORD.findall(_GENITIVE.sub("", text.casefold() if folded else text).replace("/", " to "))
    return f" {' '.join(map(stem, words) if folded else words)} "


def _read_terms(kind: str) -> tuple[tuple[str, bool, tuple[Statement, ...]], ...]:
    """Return each term of that kind as it is looked for, whether by stems, and its statements; abbreviations only in capitals.

    "ROE" and "COGS" are words in lower case.
    """
    return tuple(
        (
            _frame_words(term, folded=not term.strip().isupper()),
            not term.strip().isupper(),
            tuple(map(Statement, entry["shown_by"])),
        )
        for entry in _GLOSSARY[kind]
        for term in entry["terms"].split(",")
    )


_READ_RATIOS, _READ_LINES = _read_terms("ratios"), _read_terms("lines")


def named_statements(question: str, *, ratio: float, item: float) -> dict[Statement, float]:
    """Return the statements that show what a question names, each with the largest weight of the words that name it.

    `ratio` is the weight of a figure computed from a statement, `item` that of a line of it, both at least 0. Words on how to write
    the answer name nothing.
    """
    asked = strip_instructions(question)
    stems, words = _frame_words(asked, folded=True), _frame_words(asked, folded=False)
    found: dict[Statement, float] = {}
    for weight, terms in ((ratio, _READ_RATIOS), (item, _READ_LINES)):
        for term, folded, statements in terms:
            if term in (stems if folded else words):
                found |= {statement: max(weight, found.get(statement, 0.0)) for statement in statements}
    return {statement: found[statement] for statement in Statement if statement in found}


def statement_page(*, counts: FloatArray, scores: FloatArray, share: float) -> int | None:
    """Return the place of the page that shows a statement, None where no page does; of equal ones the first.

    Args:
        counts: (P, m), how often each stem of the statement's wording stands on each page.
        scores: (P,), how well the wording matches each page, at least 0.
        share: of the wording's stems that the best page must hold, in [0, 1]; a page without any of them shows nothing.
    """
    require_range(name="scores of pages for a statement", values=scores, low=0.0, high=np.inf)
    if not len(scores):
        return None
    best = int(np.argmax(scores))
    held = np.count_nonzero(counts[best])
    return best if held and held >= share * counts.shape[1] else None
