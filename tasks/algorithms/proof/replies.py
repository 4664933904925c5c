"""Replies that are no answers: program code, words that run on, and the question said again."""

import re

from tasks.algorithms.metrics.answers import answer_words
from tasks.algorithms.proof.parts import UNTELLING, YES_OR_NO
from tasks.algorithms.text.standing import find_words

CODE = re.compile(
    r"```|\w\.\w+\(|\bdef \w+\(|\bfunction ?\w*\([^()]*\) ?\{|\bprint\(|^import \w+(?: as \w+)?\s*[;\n]|\breturn [^.?!]*;"
    r"|[{}]|\\n|=>|</?\w+>|\);\s*$"
)
SAME_SIGN = re.compile(r"(\w)\1{19}")
CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
"""What is chosen stands in the question."""
ECHO_WORDS = 5
"""Fewer words of a question may be a name that it says."""
REPEATED_WORDS = 12
MOST_REPEATED = 0.34
"""A text as long, in which fewer than a third of the words are different, runs on."""


def why_unusable(question: str, answer: str, shown: str) -> str:
    """Return what makes a reply no answer, in words for the model; "" for one that may be right or wrong.

    Code is what looks like it and stands neither in the question nor in what was `shown`; an echo does not stand there either.
    """
    if (code := CODE.search(answer)) and code[0] not in shown and code[0] not in question:
        return "the answer is program code; it must be words from the pages"
    words, asked = answer_words(answer), answer_words(question)
    runs_on = len(words) >= REPEATED_WORDS and len(set(words)) < MOST_REPEATED * len(words)
    if runs_on or ((same := SAME_SIGN.search(answer)) and same[0] not in shown):
        return "the answer says the same over and over"
    chooses = CHOICE.search(question) or YES_OR_NO.match(answer)
    telling = {word for word in words if word not in UNTELLING}
    echoes = len(words) >= ECHO_WORDS and telling <= set(asked) and not (chooses or find_words(shown, answer))
    if words and (words == asked or echoes):
        return "the answer says the question again; it must be what the question asks for"
    return ""
