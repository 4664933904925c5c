"""A question that leaves out what it is about, completed by the one that it follows: by rules, without a model."""

import re
from collections.abc import Sequence
from functools import partial

from tasks.algorithms.questions.kinds import speaks_of_document
from tasks.algorithms.questions.places import NUMBER_WORDS, named_places
from tasks.algorithms.questions.terms import question_terms
from tasks.algorithms.text.kept import says_something
from tasks.algorithms.text.stems import IDEOGRAPHS, words_of
from tasks.algorithms.text.words import first_words

_VERB = r"(?:is|are|was|were|am|do|does|did|can|could|has|have|had|will|would|should|may|might|must)"
_LEAD = re.compile(
    r"\W*(?:(?:and|or|but|also|then|so|plus|sorry|oh|ok|okay|again|(?:what|how) about|ours|mine|und|oder|aber|et|ou)\b"
    r"|no\b[,.]? (?!of\b)|(?:the )?same (?:for|in|at|with|on)\b)",
    re.I,
)
"""How a question goes on from another."""
_STANDING_IN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|that|those|these|there|too|instead|else|again|already"
    r"|the (?:same|others?|former|latter)|this(?=\s*(?:$|[?.!,])))\b",
    re.I,
)
"""Words that stand for what was named before."""
_NOT_STANDING_IN = re.compile(
    rf"\b{_VERB}\s+there\b|\bthere\s+{_VERB}\b|(?<=\w)\s+(?:that|who|which)\s+{_VERB}\b"
    rf"|\b(?:do|does|did|would|will)\s+it\s+(?:take|cost|rain)\b|\b{_VERB}\s+it\s+(?:\w+\s+){{1,2}}to\b",
    re.I,
)
"""A "there" that is no place, a "that" of the noun before it, an "it" that is nothing."""
_ASKED_OF = re.compile(
    rf"^[^,;:.]*\b(?:{_VERB}(?:n't)?\s+(?:it|they|he|she|(?:that|this|those|these)\s+(?:all|also|an?|the|about|due|because|still"
    r"|true|right|more|less|fewer|better|worse|higher|lower|larger|smaller|bigger|later|earlier|longer|faster|cheaper)\b)|(?:of|in|on|at|for|from|to|by|with|about)\s+"
    r"(?:it|them|him|her|there|that|those|these)(?!\s+(?:who|which|that|of|in)))\b",
    re.I,
)
"""A clause about what was named before, whatever else it names: "how high did it get on FN-03"."""
_SENTENCE = re.compile(
    rf"\b(?:{_VERB}|who\w*|what|which|when|where|why|how|list|name|give|find|show|explain|describe|compare|summari[sz]e"
    r"|enumerate)\b",
    re.I,
)
_PLACING = re.compile(
    r"\W*(?:of|in|on|at|for|from|to|by|with|against|under|over|after|before|during|per|without|just|only)\b", re.I
)

SHORT, FRAGMENT = 10, 3
"""Words of a question that those which stand in leave open, and words that say something of a fragment that stands by itself.

Of five lengths this one finds the most follow-ups, of half the threads of tests/corpus_threads.jsonl and of thirty others. A whole
question says more than one word or goes on from another: where two or three were too few, one follow-up of 47 more was found, and
"Who is the chief executive?" was taken for one.
"""
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december|(?<=in )may|may(?= (?:19|20)\\d\\d)"
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_VALUES = (
    _YEAR,
    re.compile(r"\bQ[1-4]\b"),
    re.compile(rf"\b(?:{_MONTHS})\b", re.I),
    re.compile(r"\b(?:page|slide|sheet)\s+\d+\b", re.I),
)
_NUMBERED = re.compile(r"\b(?!Q[1-4]\b)([A-Z]{1,6}-?)\d+\b")
"""Years, quarters, months, pages, and what is numbered ("SR-06"): another of the same kind takes its place."""
_OTHER_YEAR = re.compile(
    r"\b(?:(?P<next>the\s+(?:year\s+after|(?:following|next)\s+year))|(?:the\s+)?(?:year\s+before|(?:previous|prior)\s+year)"
    rf"|(?P<count>a|\d\d?|{'|'.join(NUMBER_WORDS)})\s+years?\s+(?:(?P<later>later|after)|earlier|before))\b",
    re.I,
)
_FILLERS = frozenset(("please", "pls", "thanks", "year", "years"))
_CAPITAL = rf"(?!(?:Q[1-4]|(?i:{_MONTHS}))\b)[A-Z][^\W\d_][\w&-]*"
_PLACED = re.compile(
    rf"\b(?P<by>in|at|for|of|from|to|by|on)\s+(?P<name>(?:the\s+)?{_CAPITAL}(?:\s+{_CAPITAL})*)\b(?!['\u2019]s|[.-]\w)"
)
"""A name with what places it: "in Paris"; another one that is placed likewise takes its place."""
_COMPARED = re.compile(r"\b(?:than|vs|versus|compared|against|since)\b", re.I)
_PAGE_OF_ANSWER = re.compile(
    r"\b(?:that|the\s+(?:same|(?P<on>next|following)|(?P<back>previous)))\s+(?P<kind>page|slide|sheet)\b(?!\s+as\b)"
    r"|(?<![\w\]])(?<!reference )\[(?P<mark>\d\d?)\](?!\[)",
    re.I,
)
"""Pages as an answer that cites them lets people name them."""
_ABOUT, _LONGEST_SUBJECT = " (about: ", 60  # words


def complete(question: str, before: str = "", cited: Sequence[tuple[int, int, str]] = ()) -> str:
    """Return a question with what it leaves out taken from the one `before` it, which was completed itself.

    One that stands by itself stays as it is. Of one that says no more than another year, quarter, month, number or place, the
    question before is asked with that; any other says in brackets what it is about: what was asked before, or what that is about.
    "That page", the one after it and "[2]" are pages that the answer before cites: their numbers, with the last of the document and
    its name. None is named that is not there.
    """
    question = _PAGE_OF_ANSWER.sub(partial(_page_named, cited=cited), question) if cited else question
    if not before or not leaves_out(question):
        return question
    asked, left = _with_values_of(question, subject_of(before))
    if left != question and not _adds(left):
        return asked
    return f"{question}{_ABOUT}{first_words(asked, _LONGEST_SUBJECT).rstrip(' ?')})"


def _page_named(found: re.Match[str], *, cited: Sequence[tuple[int, int, str]]) -> str:
    mark = int(found["mark"] or 1)
    if not 0 < mark <= len(cited):
        return found[0]
    page, last, name = cited[mark - 1]
    page += bool(found["on"]) - bool(found["back"])
    ending = "th" if page % 100 // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(page % 10, "th")
    return f"the {page}{ending} {found['kind'] or 'page'} of {name}" if 0 < page <= last else found[0]


def _adds(left: str) -> bool:
    """Say whether what is left of a follow-up says something."""
    lead = _LEAD.match(left)
    words = words_of(left[lead.end() :] if lead else left)
    return any(says_something(word) and word.casefold() not in _FILLERS for word in words)


def subject_of(completed: str) -> str:
    """Return what a completed question is about, with the few words that it adds; one that stands by itself is that itself."""
    question, mark, about = completed.rpartition(_ABOUT)
    if not mark or not completed.endswith(")"):
        return completed
    lead = _LEAD.match(question)
    added = question[lead.end() :].strip(" ?!.,") if lead else question.strip(" ?!.,")
    about = about.removesuffix(")")
    return f"{about}, {added}" if _adds(added) and not _SENTENCE.search(added) else about


def leaves_out(question: str) -> bool:
    """Say whether a question cannot be understood without the one before it; of one without spaces between words nobody knows."""
    if IDEOGRAPHS.search(question):
        return False
    plain = _NOT_STANDING_IN.sub(" ; ", question)
    if _LEAD.match(question) or _ASKED_OF.search(plain):
        return True
    telling = [word for word in words_of(question) if says_something(word)]
    if not _SENTENCE.search(question):
        return bool(_PLACING.match(question) or _STANDING_IN.search(question)) or len(telling) < FRAGMENT
    if question_terms(question).anchors or named_places(question) or speaks_of_document(question):
        return False
    return len(question.split()) <= SHORT and (bool(_STANDING_IN.search(plain)) or len(telling) <= 1)


def _with_values_of(question: str, subject: str) -> tuple[str, str]:
    """Return the subject with the values that the question has of the same kind, and the question without these."""
    years = set(_YEAR.findall(subject))
    if (other := _OTHER_YEAR.search(question)) and len(years) == 1:
        count = (other["count"] or "a").casefold()
        step = int(count) if count.isdigit() else NUMBER_WORDS.get(count, 1)
        year = int(years.pop()) + (step if other["next"] or other["later"] else -step)
        return _YEAR.sub(str(year), subject), _OTHER_YEAR.sub(" ", question)
    if _COMPARED.search(question):
        return subject, question
    numbered = [re.compile(rf"\b{prefix}\d+\b") for prefix in sorted(set(_NUMBERED.findall(question)))]
    for kind in (*_VALUES, *numbered):
        new, old = set(kind.findall(question)), set(kind.findall(subject))
        if len(new) == len(old) == 1 and new != old:
            subject, question = kind.sub(new.pop(), subject), kind.sub(" ", question)
    return _with_place_of(question, subject)


def _with_place_of(question: str, subject: str) -> tuple[str, str]:
    new, old = list(_PLACED.finditer(question)), list(_PLACED.finditer(subject))
    likewise = [one for one in old if new and one["by"] == new[0]["by"]]
    left = _PLACED.sub(" ", question)
    if len(new) != 1 or len(likewise) != 1 or _SENTENCE.search(left) or _adds(left):
        return subject, question
    start, end = likewise[0].span("name")
    return subject[:start] + new[0]["name"] + subject[end:], left
