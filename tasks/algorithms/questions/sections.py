"""The sections that a question names by number or title, and those with their whole title in it."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from storage.records.documents import Block, NodeKind, Section
from tasks.algorithms.layout.boxes import Element, simplify
from tasks.algorithms.layout.headings import read_numbering
from tasks.algorithms.layout.references import resolve_references
from tasks.algorithms.text.kept import content_stems
from tasks.algorithms.text.stems import stem, words_of
from tasks.algorithms.text.words import STOP_WORDS

_APPENDIX = frozenset(map(stem, ("appendix", "appendices", "annex")))


def numbered_sections(named: str, sections: Sequence[Section]) -> list[int]:
    """Return the places in `sections` of what "section 4.1" or "appendix B" means, one a number and document at most.

    Read as a reference in the document's own text would be: "section 2" is the title that opens with 2, the first where there
    are more.
    """
    documents: defaultdict[str, list[int]] = defaultdict(list)
    for place, section in enumerate(sections):
        documents[section.document_id].append(place)
    found: list[int] = []
    for places in documents.values():
        titles = [_element(place, sections[place].title, NodeKind.TITLE) for place in places]
        asked = _element(len(sections), named[:1].upper() + named[1:], NodeKind.PARAGRAPH)
        found += [target for source, target in resolve_references([*titles, asked], {}, {}) if source == len(sections)]
    return [place for place in found if place < len(sections)]


def titled_sections(named: str, sections: Sequence[Section]) -> list[int]:
    """Return the places of the sections with this title, in documents without any, those with its words in the title.

    Numbers, function words, endings and order do not count; a title that contains the words is at most twice as long as they
    are. "The appendix" is all from its first title on.
    """
    wanted = _essence(named)
    if wanted and wanted <= _APPENDIX:
        return _behind_appendix(sections)
    titles = [_essence(section.title) for section in sections]
    exact = [place for place, title in enumerate(titles) if title == wanted]
    having = {sections[place].document_id for place in exact}
    near = [place for place, title in enumerate(titles) if wanted < title and len(title) <= 2 * len(wanted)]
    return sorted([*exact, *(place for place in near if sections[place].document_id not in having)])


def _behind_appendix(sections: Sequence[Section]) -> list[int]:
    """Return the places of the sections from the first that is called an appendix on, else from the first lettered one.

    What follows a slide "Appendix" has titles of its own.
    """
    called = [place for place, section in enumerate(sections) if _essence(section.title) & _APPENDIX]
    having = {sections[place].document_id for place in called}
    lettered = [place for place in numbered_sections("appendix A", sections) if sections[place].document_id not in having]
    begun: dict[str, int] = {}
    for place in (*called, *lettered):
        begun.setdefault(sections[place].document_id, place)
    return [place for place, section in enumerate(sections) if place >= begun.get(section.document_id, len(sections))]


def with_subsections(places: Sequence[int], sections: Sequence[Section]) -> Iterator[int]:
    """Yield the places of these sections and of all under them; parents stand before their children."""
    chosen = set(places)
    ids = {sections[place].id for place in places}
    for place, section in enumerate(sections):
        if place in chosen or section.parent_id in ids:
            ids.add(section.id)
            yield place


def _element(serial: int, text: str, kind: NodeKind) -> Element:
    return Element(serial, 1, Block(kind=kind, text=text, box=(0.0, 0.0, 1.0, 1.0)))


@lru_cache(maxsize=2**14)
def _essence(title: str) -> frozenset[str]:
    """Return the stems that tell a title from others; all of its words where none does."""
    words = [word for word in words_of(title) if not word[0].isdigit()]
    content = frozenset(stem(word) for word in words if len(word) > 1 and word.casefold() not in STOP_WORDS)
    return content or frozenset(simplify(title).split())


_FEWEST_TERMS = 2
"""A title of one term ("Revenue") stands in too many questions that do not mean its section."""

_BARE_SCHEMES = frozenset({"arabic", "letter", "roman"})


def named_titles(titles: Sequence[str], stems: Collection[str]) -> list[int]:
    """Return the places of the titles of two or more terms that are all in the question, in any order.

    The number that a title opens with, function words and endings do not count; empty titles are never named.
    """
    asked = frozenset(stems)
    return [place for place, title in enumerate(titles) if len(terms := _terms_of(title)) >= _FEWEST_TERMS and terms <= asked]


@lru_cache(maxsize=2**14)
def _terms_of(title: str) -> frozenset[str]:
    numbering, words = read_numbering(title), words_of(title)
    # "4.1 Results" opens with a number, "Item 7A. Risks" with a word and a number.
    opening = 0 if numbering is None else 1 if numbering.scheme in _BARE_SCHEMES else 2
    return frozenset(content_stems(" ".join(words[opening:])))
