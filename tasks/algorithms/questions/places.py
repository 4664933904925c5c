"""Places that a question names: pages and slides by number or place, figures and tables by label, sections by number or title."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tasks.algorithms.layout.captions import LABEL_KINDS
from tasks.algorithms.layout.references import Reference, find_references
from tasks.algorithms.text.kept import asked_part
from tasks.algorithms.text.words import STOP_WORDS

_FIRST_WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
NUMBER_WORDS = {word: number for number, word in enumerate([*_FIRST_WORDS.split(), "nineteen", "twenty"], start=1)}
"""The numbers up to twenty in words."""

_IRREGULAR = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12, "twentieth": 20}
_ORDINALS = {f"{word}th": number for word, number in NUMBER_WORDS.items() if number not in _IRREGULAR.values()} | _IRREGULAR
_LONGEST_RUN = 10  # "the last 40 pages" names a part of the document, not forty pages

_NTH = rf"(?P<nth>{'|'.join(_ORDINALS)}|\d{{1,4}}(?:st|nd|rd|th))"
_COUNT = rf"(?P<count>{'|'.join(NUMBER_WORDS)}|\d{{1,2}})"
_PAGE = r"(?:page|slide|sheet)"
_TO_LAST = r"[\s-](?:to[\s-])?(?:the[\s-])?last"
_FROM_END = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_NTH}{_TO_LAST}\s+{_PAGE}\b",
        rf"\b{_PAGE}\s+(?:at\s+|on\s+)?(?:the\s+)?{_NTH}{_TO_LAST}\b",
        rf"\b(?:last|final)\s+{_COUNT}\s+{_PAGE}s\b",
        rf"(?<!to\s)(?<!to-)(?<!to\sthe\s)\b(?:very\s+)?(?:last|final|closing)\s+{_PAGE}\b",
        r"\bback\s+(?:cover|page)\b",
        rf"\b(?P<penultimate>penultimate)\s+{_PAGE}\b",
    )
)
_FROM_START = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_NTH}\s+{_PAGE}\b",
        rf"\bfirst\s+{_COUNT}\s+{_PAGE}s\b",
        rf"\b(?:front|title|opening|cover)\s+{_PAGE}\b",
        r"\b(?:front\s+cover|(?:on|in|of|at)\s+the\s+cover)\b",
    )
)


def counted_pages(text: str) -> list[int]:
    """Return the pages that a text counts, each once: 1 is the first or the cover, -1 the last, -2 the one before it."""
    found: dict[int, None] = {}
    rest = text
    for pattern in _FROM_END:
        for match in pattern.finditer(rest):
            found |= dict.fromkeys(-place for place in _places(match))
        # "The second last page" is not the last page, too.
        rest = pattern.sub(";", rest)
    for pattern in _FROM_START:
        for match in pattern.finditer(rest):
            found |= dict.fromkeys(_places(match))
    return list(found)


def _places(match: re.Match[str]) -> list[int]:
    groups = {name: value.casefold() for name, value in match.groupdict().items() if value}
    if "penultimate" in groups:
        return [2]
    if "count" in groups:
        count = NUMBER_WORDS.get(groups["count"]) or int(groups["count"])
        return list(range(1, count + 1)) if count <= _LONGEST_RUN else []
    nth = groups.get("nth", "first")
    place = _ORDINALS.get(nth) or int(re.sub(r"\D", "", nth))
    return [place] if place else []


class PlaceKind(StrEnum):
    """How a question names a place."""

    PAGE = "page"
    COUNTED = "counted page"
    LABEL = "label"
    NUMBERED = "numbered section"
    TITLED = "titled section"


@dataclass(frozen=True, slots=True, order=True)
class NamedPlace:
    """A place as a question names it.

    `value` is a page's number, printed or counted ("14", "IV", "A-3"); a page counted from the start ("1") or the end ("-1");
    a label as ingest writes it, folded ("figure 5", "table 1-1"); a section's kind and number ("section 4.1", "appendix B");
    or a section's title in the words of the question.
    """

    kind: PlaceKind
    value: str


_LABELS = "|".join(sorted(LABEL_KINDS, key=len, reverse=True))
_SECTION_WORD = r"(?:section|chapter|part|appendix|paragraph|slide|page)"
_NUMBERED_WORD = rf"(?:{_LABELS}|pages?|pp?|slides?|sheets?|sections?|chapters?|appendix|items?|notes?|parts?)"
_SPELLED = re.compile(rf"\b({_NUMBERED_WORD})\s+({'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})\b", re.IGNORECASE)
_CALLED_NUMBER = re.compile(rf"\b({_NUMBERED_WORD})s?\s*(?:numbers?|no\.?|nos\.?|nr\.?|#)\s*(?=\d)", re.IGNORECASE)
_LOWER_ROMAN = re.compile(r"\b(pages?|pp?\.)\s+([ivxl]{1,6})\b(?!\s*['\u2019])")
_INDEX_NAME = re.compile(r"\bS\s?&\s?P\s*\d+", re.IGNORECASE)
_LABEL_WORD = re.compile(rf"\b({_LABELS}|item|note|part)(s?\.?)\s*(?=\d)", re.IGNORECASE)
_COMPOUND = re.compile(rf"\b({_LABELS})\.?\s*(\d{{1,3}}(?:[\-\u2013]\d{{1,3}})+)\b", re.IGNORECASE)
_QUOTE = r"[\"\u201c\u201e\u00ab'\u2018]([^\"\u201c\u201d\u201e\u00ab\u00bb\n]{2,150}?)[\"\u201d\u201c\u00bb'\u2019]"
_CAPITALS = r"([A-Z][\w\u2019'-]*(?:,?\s+(?:(?:and|of|the|for|to|in|on|with|or|&)\s+)*[A-Z][\w\u2019'-]*)*)"
_TITLES = (
    re.compile(
        rf"(?i:\b{_SECTION_WORD}s?\s*,?\s*(?:titled|entitled|called|named|headed|labelled|labeled|on|about)?\s*[:,]?\s*){_QUOTE}"
    ),
    re.compile(rf"{_QUOTE}\s+(?i:{_SECTION_WORD}|heading)\b"),
    re.compile(rf"(?i:\b(?:section|chapter)\s+(?:(?:titled|entitled|called|named|on|about)\s+)?){_CAPITALS}"),
    re.compile(
        rf"\b(?i:the|its|this|their)\s+((?:(?!(?i:the|its|this|their)\b)[\w&\u2019'/-]+\s+){{1,7}})(?i:{_SECTION_WORD})\b(?!\s+\d)"
    ),
    re.compile(
        r"\b(?i:in|of|from|under|per|to)\s+(?i:the\s+|its\s+)?((?i:abstract|introduction|conclusions?|executive\s+summary|appendix|appendices"
        r"|glossary|preface|foreword|bibliography|acknowledge?ments?|discussion|methodology))\b(?!\s+(?-i:[A-Z]\b|\d|of\b|to\b))"
    ),
)
_SECTION_KINDS = frozenset({"section", "chapter", "appendix", "part", "item", "note"})
_NO_TITLE = STOP_WORDS | {"title", "cover", "front", "last", "final", "first", "second", "third", "main", "number", "web", "home"}


def named_places(question: str) -> tuple[NamedPlace, ...]:
    """Return the places that a question names, each once; words about the form of the answer name none.

    "Pages 3-5" are three places, "Fig. 5a" is Figure 5, "Table 1-1" a label of its own. Titles are places only where the
    documents know them: "the market part" is one when a section is called so.
    """
    asked = _spell_out(" ".join(asked_part(question).split()))
    places = [
        *(NamedPlace(PlaceKind.COUNTED, str(number)) for number in counted_pages(asked)),
        *(
            NamedPlace(PlaceKind.LABEL, f"{_label_kind(match[1])} {match[2]}".replace("\u2013", "-"))
            for match in _COMPOUND.finditer(asked)
        ),
        *(place for reference in find_references(_COMPOUND.sub(";", asked)) if (place := _place_of(reference))),
        *(NamedPlace(PlaceKind.TITLED, title) for title in _titles_in(asked)),
    ]
    return tuple(dict.fromkeys(places))


def _spell_out(asked: str) -> str:
    """Write numbers of places the way that references are read: "slide number seven" as "slide 7", "page iv" as "page IV"."""
    text = _INDEX_NAME.sub("index", asked)
    # The pronoun in "the page I read" is no number.
    text = re.sub(r"\b([Pp]ages?|[Ss]lides?|[Ff]igures?|[Tt]ables?)\s+I(?=\s+[a-z])", r"\1, I", text)
    text = _SPELLED.sub(lambda match: f"{match[1]} {NUMBER_WORDS[match[2].casefold()]}", text)
    text = _CALLED_NUMBER.sub(r"\1 ", text)
    text = re.sub(r"\b[Ss]heet (?=\d)", "page ", text)
    text = _LOWER_ROMAN.sub(lambda match: f"{match[1]} {match[2].upper()}", text)
    return _LABEL_WORD.sub(lambda match: f"{match[1].capitalize()}{match[2]} ", text)


def _label_kind(word: str) -> str:
    return LABEL_KINDS[word.casefold()].casefold()


def _place_of(reference: Reference) -> NamedPlace | None:
    if reference.kind == "page":
        return NamedPlace(PlaceKind.PAGE, reference.number)
    if reference.kind in _SECTION_KINDS:
        return NamedPlace(PlaceKind.NUMBERED, f"{reference.kind} {reference.number}")
    if reference.kind == "equation":
        return None
    return NamedPlace(PlaceKind.LABEL, f"{reference.kind} {reference.number}".casefold())


def _titles_in(asked: str) -> Iterator[str]:
    for pattern in _TITLES:
        for match in pattern.finditer(asked):
            title = " ".join(match[1].split())
            words = {word.casefold() for word in re.findall(r"\w+", title)}
            if any(not word[0].isdigit() for word in words - _NO_TITLE):
                yield title
