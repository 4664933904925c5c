"""Which elements of documents make good probes: readable, on one page only, and spread over documents, kinds and pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from storage.records.documents import Node, NodeKind, TableRow, identify
from tasks.algorithms.layout.boxes import BODY_KINDS
from tasks.algorithms.layout.references import read_contents
from tasks.algorithms.quotes import read_row
from tasks.algorithms.text.stems import IDEOGRAPHS, stems_in
from tasks.algorithms.text.words import STOP_WORDS, count_words, looks_english, sentences_of, tokens_of

PlaceOfPage = tuple[str, int]

_ADDRESS = re.compile(r"://|www\.|@|\bdoi\b", re.IGNORECASE)
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff]|\\.{4}|_{3}")
_LAST_NUMBER = re.compile(r"(\d{1,4})[ |]*$", re.MULTILINE)
_VOWELLESS = re.compile(r"[b-df-hj-np-tv-xz]{4,}")
_SENTENCE_SIGNS = (".", "!", "?", "\u3002", "\uff01", "\uff1f", "\u0964", "\u061f")
_PROSE_SIGNS = frozenset(".,;:!?()'\"-\u2013\u2014\u2018\u2019\u201c\u201d&/%$\u20ac\u00a3\u3001\u3002\u300c\u300d")
_WORDS_PER_SIGN = 6  # a formula has more signs
_LONGEST_WORD = 22  # letters; a longer one is several whose spaces the parser lost
_LONG_TEXT = 12  # words from which on an English text can hardly go without a word that marks English
_LONGEST_TITLE = 14  # words
_SENTENCE_WORDS = range(8, 41)
_LONGEST_LABEL = 8
_LONGEST_COLUMN = 6
_LONGEST_VALUE = 4


class ProbeKind(StrEnum):
    CAPTION = "caption"
    ROW = "table row"
    HEADING = "heading"
    SENTENCE = "sentence"


@dataclass(frozen=True, slots=True)
class ProbeSource:
    """What a probe is made of: a text on a page; of a row its label, with the `column` that is asked for."""

    kind: ProbeKind
    document_id: str
    page: int
    text: str
    column: str = ""

    @property
    def id(self) -> str:
        """Its id, by its text and place; the same whatever model or setting the document was read with."""
        return identify("probe", self.document_id, self.page, self.kind, self.column, self.text)


def sources_in(nodes: Sequence[Node], rows: Sequence[TableRow]) -> list[ProbeSource]:
    """Return what of a document can be asked for, each once, by id: what reads like words, and is no list of places or works."""
    tables = {node.id for node in nodes if node.kind is NodeKind.TABLE and not _leads_elsewhere(node)}
    found = [source for node in nodes if not _leads_elsewhere(node) for source in _sources_of_node(node)]
    found += [source for row in rows if row.node_id in tables for source in _source_of_row(row)]
    return sorted({source for source in found if _reads_well(f"{source.text} {source.column}")}, key=lambda source: source.id)


def pages_by_stem(nodes: Iterable[Node]) -> dict[str, set[PlaceOfPage]]:
    """Return the pages on which full text sees each stem; tables of contents and what has no meaning do not count."""
    pages: defaultdict[str, set[PlaceOfPage]] = defaultdict(set)
    for node in nodes:
        if not _leads_elsewhere(node):
            for stem in stems_in(node.search_text):
                pages[stem].add((node.document_id, node.page))
    return dict(pages)


def pages_with_all(stems: Collection[str], pages: Mapping[str, Collection[PlaceOfPage]]) -> frozenset[PlaceOfPage]:
    rarest_first = sorted((pages.get(stem, ()) for stem in stems), key=len)
    return frozenset(rarest_first[0]).intersection(*rarest_first[1:]) if rarest_first else frozenset()


def spread(sources: Iterable[ProbeSource], *, limit: int) -> list[ProbeSource]:
    """Return at most so many, one after the other: of the document with the fewest so far, of the kind and page with the fewest.

    Documents that are equal so far come in the order of their first sources; the same sources in the same order give the same.
    """
    left: dict[str, list[ProbeSource]] = {}
    for source in sources:
        left.setdefault(source.document_id, []).append(source)
    taken: Counter[str | PlaceOfPage | ProbeKind] = Counter()
    chosen: list[ProbeSource] = []
    while left and len(chosen) < limit:
        document = min(left, key=lambda name: taken[name])
        best = min(left[document], key=lambda source: (taken[source.kind], taken[document, source.page]))
        chosen.append(best)
        taken.update([document, best.kind, (document, best.page)])
        left[document].remove(best)
        if not left[document]:
            del left[document]
    return chosen


def is_english(texts: Iterable[str]) -> bool:
    """Whether most of a document's long texts look English; where all are short, whether one of them does."""
    marked = [(count_words(text) >= _LONG_TEXT, looks_english(text)) for text in texts]
    long_ones = [english for is_long, english in marked if is_long]
    return 2 * sum(long_ones) > len(long_ones) if long_ones else any(english for _, english in marked)


def _leads_elsewhere(node: Node) -> bool:
    """Whether it is a list of works or a table of contents: they name what stands on another page."""
    if node.meaningless or not read_contents(node.content):
        return node.meaningless
    # The lines of a table of small numbers look like entries, too; but its numbers rise and fall.
    numbers = [int(number) for number in _LAST_NUMBER.findall(node.content)]
    return node.kind is not NodeKind.TABLE or numbers == sorted(numbers)


def _sources_of_node(node: Node) -> Iterator[ProbeSource]:
    text = " ".join(node.content.split())
    if node.kind is NodeKind.TITLE and count_words(text) <= _LONGEST_TITLE:
        yield ProbeSource(ProbeKind.HEADING, node.document_id, node.page, text)
    elif node.kind is NodeKind.CAPTION:
        yield ProbeSource(ProbeKind.CAPTION, node.document_id, node.page, text)
    elif node.kind in BODY_KINDS:
        for sentence in sentences_of(node.content):
            if count_words(sentence) in _SENTENCE_WORDS and sentence.endswith(_SENTENCE_SIGNS) and not sentence[0].islower():
                yield ProbeSource(ProbeKind.SENTENCE, node.document_id, node.page, " ".join(sentence.split()))


def _source_of_row(row: TableRow) -> Iterator[ProbeSource]:
    """Yield a row that opens with a label in words, with one of its columns that have a name and a short value."""
    found = read_row(row.text, row.cells)
    if row.is_header or len(found) < 2:
        return
    label, *values = found[0][1], *found[1:]
    named = [(" ".join(header.replace(" / ", " ").split()), value) for header, value in values if value != label]
    columns = {name for name, value in named if _is_name(name, _LONGEST_COLUMN) and count_words(value) <= _LONGEST_VALUE}
    if columns and _is_name(label, _LONGEST_LABEL) and any(map(str.isalpha, label)):
        column = min(columns, key=lambda name: identify(row.text, name))
        yield ProbeSource(ProbeKind.ROW, row.document_id, row.page, label, column)


def _is_name(text: str, longest: int) -> bool:
    """Whether a text names a row or a column: the pieces of a page set in columns, sometimes taken for a table, do not."""
    if not 0 < count_words(text) <= longest:
        return False
    words = text.casefold().split()
    whole = STOP_WORDS.isdisjoint((words[0], words[-1])) and not text.endswith(("?", ",", ";", "-", "\u2013"))
    return whole and text[0].isalnum() and not text[0].islower()


def _reads_well(text: str) -> bool:
    """Whether a text is of words: not what OCR and broken fonts leave, no formula, no address."""
    if _ADDRESS.search(text) or _UNREADABLE.search(text):
        return False
    tokens = tokens_of(text)
    words = [token for token in tokens if token[0].isalpha()]
    signs = sum(not token[0].isalnum() and token not in _PROSE_SIGNS for token in tokens)
    broken = any(_is_broken(word) for word in words)
    return bool(words) and not broken and signs * _WORDS_PER_SIGN <= len(words) and _are_whole(words)


def _is_broken(word: str) -> bool:
    too_long = len(word) > _LONGEST_WORD and "-" not in word and not IDEOGRAPHS.search(word)
    return too_long or bool(_VOWELLESS.fullmatch(word))


def _are_whole(words: Sequence[str]) -> bool:
    """Whether words are more than letters: a page set in spaced letters, or a chart's axis, has hardly a word of two."""
    return 2 * sum(len(word) == 1 for word in words) <= len(words)
