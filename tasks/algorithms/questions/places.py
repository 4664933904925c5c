"""Places that a question names: pages and slides by number or place, figures and tables by label, sections by number or title."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tasks.algorithms.layout.captions import LABEL_KINDS
from tasks.algorithms.layout.references import Reference, find_references
from tasks.algorithms.text.kept import strip_instructions
from tasks.algorithms.text.words import STOP_WORDS

_FIRST_WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
NUMBER_WORDS = {word: number for number, word in enumerate([*_FIRST_WORDS.split(), "nineteen", "twenty"], start=1)}
"""The numbers up to twenty in words."""

_IRREGULAR = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12, "twentieth": 20}
_ORDINALS = {f"{word}th": number for word, number in NUMBER_WORDS.items() if number not in _IRREGULAR.values()} | _IRREGULAR

_NUMBER_WORD = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_ORDINAL = rf"(?:{'|'.join(_ORDINALS)}|\d{{1,4}}(?:st|nd|rd|th))"
_COUNT = rf"(?P<count>{_NUMBER_WORD}|\d{{1,3}})"
_PAGE = r"(?:page|slide|sheet)"
_TO_LAST = r"[\s-](?:to[\s-])?(?:the[\s-])?last"
_LAST = r"(?:last|final|closing)"
_SEVERAL = re.compile(
    rf"\b{_ORDINAL}(?:(?:,?\s+(?:and|or)\s+|,\s+)(?:the\s+)?(?:{_ORDINAL}|{_LAST})|\s+(?:to|through)\s+(?:the\s+)?{_ORDINAL}){{1,5}}"
    rf"(?=\s+({_PAGE})s?\b)",
    re.IGNORECASE,
)
_COUNTED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:(?P<back>{_LAST})|first)\s+{_COUNT}\s+{_PAGE}s\b",
        rf"\b(?P<nth>{_ORDINAL})(?P<back>{_TO_LAST})\s+{_PAGE}\b",
        rf"\b(?P<nth>{_ORDINAL})\s+{_PAGE}\s+(?P<back>from\s+the\s+(?:end|last|back))\b",
        rf"\b(?P<penultimate>penultimate)\s+{_PAGE}\b",
        rf"\b(?P<back>(?:very\s+)?(?:{_LAST}|back)\s+{_PAGE}s?|back\s+cover)\b",
        rf"\b(?P<nth>{_ORDINAL})\s+{_PAGE}\b",
        rf"\b(?:(?:front|title|opening|cover)\s+{_PAGE}|front\s+cover|(?:on|in|of|at)\s+the\s+cover)\b",
    )
)
"""Pages by their place: several from either end, then one."""
_PAGES = rf"(?:{_PAGE}s?|pp?|pg)\b\.?\s*"
_END = rf"(?:\d{{1,3}}(?![\w%]|\.\d)|:-?\d+|(?:{_NUMBER_WORD})\b)"
_SPAN = rf"({_END})(?:\s*(?:to|through|thru|until|till|up\s+to|[-\u2013\u2014])\s*(?:the\s+)?(?:{_PAGES})?({_END}))?"
_BETWEEN = re.compile(rf"\bbetween\s+(?:the\s+)?({_PAGES}{_END})\s+and\s+", re.IGNORECASE)
_LISTED = re.compile(
    rf"(?<![\w-]){_PAGES}{_SPAN}(?:\s*(?:,\s*and\b|,|\band\b|&|\bor\b)\s*(?:the\s+)?(?:{_PAGES})?{_SPAN})*", re.IGNORECASE
)
_SPANS = re.compile(_SPAN, re.IGNORECASE)


def _count_out(text: str) -> str:
    """Write pages that are counted like numbered ones: "the last two slides" as "the page :-2 to :-1"."""
    text = _SEVERAL.sub(lambda match: re.sub(rf"{_ORDINAL}|{_LAST}", rf"\g<0> {match[1]}", match[0], flags=re.IGNORECASE), text)
    for pattern in _COUNTED:
        text = pattern.sub(_write_as_page, text)
    return text


def _write_as_page(match: re.Match[str]) -> str:
    groups = {name: value.casefold() for name, value in match.groupdict().items() if value}
    back = "-" if "back" in groups else ""
    if "count" in groups:
        count = NUMBER_WORDS.get(groups["count"]) or int(groups["count"])
        return f"page :-{count} to :-1" if back else f"page :1 to :{count}"
    nth = groups.get("nth", "first")
    return f"page :{'-2' if 'penultimate' in groups else back + str(_ORDINALS.get(nth) or int(nth[:-2]))}"


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
    or a section's title in the words of the question. `last` is where a range of pages ends, "" for a single place.
    """

    kind: PlaceKind
    value: str
    last: str = ""

    def __str__(self) -> str:
        pages = f"pages {self.value} to {self.last}" if self.last else f"page {self.value}"
        return pages if self.kind in {PlaceKind.PAGE, PlaceKind.COUNTED} else self.value


_LABELS = "|".join(sorted(LABEL_KINDS, key=len, reverse=True))
_SECTION_WORD = r"(?:section|chapter|part|appendix|paragraph|slide|page)"
NUMBERED_WORD = rf"(?:{_LABELS}|pages?|pp?|slides?|sheets?|sections?|chapters?|appendix|items?|notes?|parts?)"
_SPELLED = re.compile(rf"\b({NUMBERED_WORD})\s+({_NUMBER_WORD})\b", re.IGNORECASE)
_CALLED_NUMBER = re.compile(rf"\b({NUMBERED_WORD})s?\s*(?:numbers?|no\.?|nos\.?|nr\.?|#)\s*(?=\d)", re.IGNORECASE)
_LOWER_ROMAN = re.compile(r"\b(pages?|pp?\.)\s+([ivxl]{1,6})\b(?!\s*['\u2019])")
_NO_PAGE = re.compile(r"&\s?P(?=\s*\d)", re.IGNORECASE)
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
        r"\b(?i:in|of|from|under|per|to|many|all)\s+(?i:the\s+|its\s+)?((?i:abstract|introduction|conclusions?|executive\s+summary|appendix|appendices"
        r"|annex|glossary|preface|foreword|references|bibliography|acknowledge?ments?|discussion|methodology"
        r"))\b(?!\s+(?-i:[A-Z]\b|\d|of\b|to\b))"
    ),
)
_SECTION_KINDS = frozenset({"section", "chapter", "appendix", "part", "item", "note"})
_NO_TITLE = STOP_WORDS | _ORDINALS.keys() | {"title", "cover", "front", "final", "penultimate", "main", "number", "web", "home"}


def named_places(question: str) -> tuple[NamedPlace, ...]:
    """Return the places that a question names, each once; words about the form of the answer name none.

    "Pages 3-5" are one place, "Fig. 5a" is Figure 5, "Table 1-1" a label of its own. Titles are places only where the
    documents know them: "the market part" is one when a section is called so.
    """
    asked = _spell_out(" ".join(strip_instructions(question).split()))
    listed = _BETWEEN.sub(r"\1 to ", _count_out(asked))
    places = [
        *(place for found in _LISTED.finditer(listed) for span in _SPANS.finditer(found[0]) for place in _pages_of(span)),
        *(
            NamedPlace(PlaceKind.LABEL, f"{_label_kind(match[1])} {match[2]}".replace("\u2013", "-"))
            for match in _COMPOUND.finditer(asked)
        ),
        *(place for reference in find_references(_COMPOUND.sub(";", _LISTED.sub(";", listed))) if (place := _place_of(reference))),
        *(NamedPlace(PlaceKind.TITLED, title) for title in _titles_in(asked)),
    ]
    return tuple(dict.fromkeys(places))


def _spell_out(asked: str) -> str:
    """Write numbers of places the way that references are read: "slide number seven" as "slide 7", "page iv" as "page IV"."""
    text = _NO_PAGE.sub("&", asked)
    # The pronoun in "the page I read" is no number.
    text = re.sub(r"\b([Pp]ages?|[Ss]lides?|[Ff]igures?|[Tt]ables?)\s+I(?=\s+[a-z])", r"\1, I", text)
    text = _SPELLED.sub(lambda match: f"{match[1]} {NUMBER_WORDS[match[2].casefold()]}", text)
    text = _CALLED_NUMBER.sub(r"\1 ", text)
    text = re.sub(r"\b[Ss]heet (?=\d)", "page ", text)
    text = _LOWER_ROMAN.sub(lambda match: f"{match[1]} {match[2].upper()}", text)
    return _LABEL_WORD.sub(lambda match: f"{match[1].capitalize()}{match[2]} ", text)


def _pages_of(span: re.Match[str]) -> list[NamedPlace]:
    """Return the range of pages, or the single ones where it does not lead forward; page 0 is none."""
    written = (span[1], span[2] or span[1])
    start, end = (NUMBER_WORDS.get(number.casefold()) or int(number.lstrip(":")) for number in written)
    kinds = [PlaceKind.COUNTED if number.startswith(":") else PlaceKind.PAGE for number in written]
    if 0 < start < end or start < end < 0 or end < 0 < start:
        kind = PlaceKind.PAGE if PlaceKind.PAGE in kinds else PlaceKind.COUNTED
        return [NamedPlace(kind, str(start), str(end))]
    return [NamedPlace(kind, str(number)) for kind, number in zip(kinds, (start, end), strict=True) if number]


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
