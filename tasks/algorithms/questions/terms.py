"""What a question asks for, without a model: its search terms, and those that name something (appendix B.1 of the paper)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tasks.algorithms.text.kept import names_in, says_something, strip_instructions
from tasks.algorithms.text.keywords import YEAR
from tasks.algorithms.text.stems import stems_of, words_of

_PLACE_NUMBER = re.compile(
    r"\b(?:pages?|pp?\.|slides?|figures?|figs?\.?|tables?|charts?|sections?|chapters?|exhibits?)\s*\d[\d.,\-]*", re.IGNORECASE
)
# From the first sign of a name on alone: from each of them, a long word would cost the square of its length.
_FILE_NAME = re.compile(r"(?<![\w.-])[\w.-]*\w\.(?:pdf|docx?|pptx?|xlsx?|html?|png|jpe?g|tiff?|txt|md|csv)\b", re.IGNORECASE)
_NUMBER_SIGNS = str.maketrans("", "", ",.%")
_LONGEST_WORD = 100
"""Characters. A longer run, of ideographs or of parts of a compound, may hold thousands: each is written as itself then."""


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """`stems` are what full text looks for, each once, in the order asked; `words` how the question writes each of them.

    `anchors` are the stems of the question's subject: names, abbreviations, years and numbers.
    Evidence without one of them may speak of something else.
    """

    stems: tuple[str, ...]
    words: tuple[str, ...]
    anchors: tuple[str, ...]


@lru_cache(maxsize=256)
def question_terms(question: str) -> QuestionTerms:
    """Return the terms of a question: content words, numbers, years, abbreviations, compounds and their parts.

    Function words, interrogatives, the numbers of named places ("page 14") and words about the form of the answer are left
    out, and so are file names; where nothing is left and no place is named, all words stay. A question without words has no
    terms. Ideographs count in pairs.
    """
    asked = strip_instructions(question)
    if asked.isupper():
        # Without lower case, capitals mark no abbreviations.
        asked = asked.casefold()
    named = {word for name in names_in(asked) for word in name if word[0].isupper()}
    asked = _FILE_NAME.sub(" ; ", asked)
    content = [word for word in words_of(_PLACE_NUMBER.sub(" ; ", asked)) if says_something(word) or word in named]
    written: dict[str, str] = {}
    anchors: set[str] = set()
    for word in content or ([] if _PLACE_NUMBER.search(asked) else words_of(asked)):
        parts = stems_of(word)
        for part in parts:
            written.setdefault(part, word if len(word) <= _LONGEST_WORD else part)
        if word in named or _is_number(word) or YEAR.fullmatch(parts[-1]):
            # Documents may write the parts of a compound apart.
            anchors.update(parts[1:] or parts)
    return QuestionTerms(
        stems=tuple(written),
        words=tuple(written.values()),
        anchors=tuple(part for part in written if part in anchors),
    )


def keyword_terms(terms: QuestionTerms, keywords: Sequence[str]) -> QuestionTerms:
    """Return the words of these keywords of the question in place of its terms; where there are none, the terms."""
    written: dict[str, str] = {}
    for word in (word for keyword in keywords for word in words_of(keyword)):
        for part in stems_of(word):
            written.setdefault(part, word)
    anchors = tuple(anchor for anchor in terms.anchors if anchor in written)
    return QuestionTerms(stems=tuple(written), words=tuple(written.values()), anchors=anchors) if written else terms


def _is_number(word: str) -> bool:
    """Tell a number that means itself from the small ones that count ("3 ways") and from ordinals ("the 6th")."""
    return len(word) > 1 and word.translate(_NUMBER_SIGNS).isdigit()
