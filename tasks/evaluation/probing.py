"""Probes: texts of a corpus with gaps, made without a model or labels, that must bring their own pages back.

What probes prove is that the corpus was read in and that retrieval finds what was read: a caption, a row or a sentence whose page
does not come back is lost to most questions. They prove nothing of answers, and little of hard questions, because their words are
those of the page. So they reveal a broken ingest, and compare settings, embedders and versions on the corpus at hand; a good figure
is the least to expect, and no measure of quality. A corpus of one page proves nothing but that something was read.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby

from storage.corpus.snapshot import Snapshot
from storage.errors import RequestError
from storage.records.documents import DocumentRecord, DocumentState, Node, NodeKind, TableRow, identify
from storage.records.evaluations import Benchmark, BenchmarkQuestion
from tasks.algorithms.layout.boxes import BODY_KINDS
from tasks.algorithms.layout.captions import LABEL_KINDS, LABEL_NUMBER, read_label
from tasks.algorithms.layout.references import read_contents
from tasks.algorithms.quotes import read_row
from tasks.algorithms.text.kept import parts_of, says_something
from tasks.algorithms.text.keywords import YEAR
from tasks.algorithms.text.stems import stem, stems_in, words_of
from tasks.algorithms.text.words import count_words, sentences_of, tokens_of

PROBE_SEED = 1
"""The same corpus is probed by the same questions, so that two runs can be compared."""
DEFAULT_LIMIT = 200
"""Probes at most: recall within 7 points either way at 95 %, in minutes."""
NODES_READ = 20_000
"""Nodes of the documents that are looked at, some 2,500 pages: they take seconds, and less than a gigabyte."""
DOCUMENTS_READ = 300
"""Documents that are looked at; each takes a tenth of a second to fetch."""

PagesByStem = Mapping[str, Collection[tuple[str, int]]]
"""The documents and pages on which each stem stands."""

GAP = "___"
FEWEST_WORDS, MOST_WORDS = 3, 4
"""Words that are left: fewer stand on too many pages, and of more nearly every probe comes back first."""
SENTENCE_WORDS = range(8, 41)
LABEL_WORDS, COLUMN_WORDS, VALUE_WORDS = range(1, 9), range(1, 7), range(1, 5)

_LABEL = re.compile(rf".*?(?i:{'|'.join(LABEL_KINDS)})\.?\s*(?:{LABEL_NUMBER})[a-z)]*[\s:.|\u2013\u2014\-]*")
_ODD = re.compile("://|www\\.|@|\\bdoi\\b|[\ufffd\ue000-\uf8ff]|\\.{4}|_{3}", re.IGNORECASE)
"""What addresses, broken fonts and forms leave in a text."""


class ProbeKind(StrEnum):
    CAPTION = "caption"
    ROW = "table row"
    SENTENCE = "sentence"


@dataclass(frozen=True, slots=True)
class Probe:
    """A text of a page as it is asked, with gaps, and the stems of its words."""

    kind: ProbeKind
    document_id: str
    page: int
    text: str
    stems: frozenset[str]

    @property
    def id(self) -> str:
        """Its id, by its text and place; the same whatever model or setting the document was read with."""
        return identify("probe", self.document_id, self.page, self.kind, self.text)


def make_probes(snapshot: Snapshot, *, limit: int | None = None, seed: int = PROBE_SEED) -> Benchmark:
    """Return at most `limit` probes, evenly over documents, kinds and pages; the same corpus, limit and seed give the same.

    A probe's evidence is the one page that holds all its words. That is known of the documents looked at: all of a corpus of up
    to `DOCUMENTS_READ` documents and `NODES_READ` nodes, as many of a larger one as fit, drawn by the hash of their ids; there
    another document may hold the words too. Raise RequestError where no probe can be made.
    """
    records = snapshot.documents()
    drawn = draw_documents(records, seed=seed, most_documents=DOCUMENTS_READ, most_nodes=NODES_READ)
    if not drawn:
        raise RequestError(
            f"corpus {snapshot.location.name!r} holds no document that can be read", snapshot.location.name, "ingest one"
        )
    nodes = {name: snapshot.nodes(name) for name in drawn}
    pages = pages_by_stem(node for of_document in nodes.values() for node in of_document)
    every = [probe for name, of_document in nodes.items() for probe in probes_in(of_document, snapshot.rows(name), pages)]
    if not every:
        raise RequestError(
            f"corpus {snapshot.location.name!r} makes no probe: no caption, table row or sentence of it has three "
            "telling words that occur together on only one page",
            snapshot.location.name,
            "ingest longer documents, or write a benchmark of your own",
        )
    names = names_of(records)
    questions = tuple(
        BenchmarkQuestion(
            id=probe.id[:16],
            text=probe.text,
            documents=(names[probe.document_id],),
            evidence=((names[probe.document_id], probe.page),),
            evidence_sources=(probe.kind.value,),
        )
        for probe in spread(sorted(every, key=lambda probe: identify("order", seed, probe.id)), limit=limit or DEFAULT_LIMIT)
    )
    asked = {name for question in questions for name in question.documents}
    paths = {names[record.id]: record.paths[0] for record in drawn.values() if names[record.id] in asked}
    digest = identify(*(part for question in questions for part in (question.id, question.text, *map(str, question.evidence))))
    return Benchmark(f"probes of {snapshot.location.name}", paths, questions, digest)


def with_questions_of_others(probes: Benchmark) -> Benchmark:
    """Return the probes and, of every second one, the same asked of another document, which has no answer to it."""
    names = sorted(probes.documents)
    others = dict(zip(names, [*names[1:], *names[:1]], strict=True))
    unanswerable = [
        replace(one, id=f"{one.id}-of-another", documents=(others[one.documents[0]],), answerable=False, evidence=())
        for one in probes.questions[::2]
        if len(names) > 1
    ]
    return replace(probes, questions=(*probes.questions, *unanswerable))


def draw_documents(
    records: Iterable[DocumentRecord], *, seed: int, most_documents: int, most_nodes: int
) -> dict[str, DocumentRecord]:
    """Return readable documents by id, in the order of their hashes, as many as fit; the smallest where none does."""
    readable = [record for record in records if record.state is DocumentState.READY]
    left = most_nodes
    drawn: dict[str, DocumentRecord] = {}
    for record in sorted(readable, key=lambda record: identify("draw", seed, record.id)):
        if record.nodes <= left and len(drawn) < most_documents:
            drawn[record.id] = record
            left -= record.nodes
    return drawn or {record.id: record for record in sorted(readable, key=lambda record: (record.nodes, record.id))[:1]}


def names_of(records: Sequence[DocumentRecord]) -> dict[str, str]:
    """Return the name of each document by id: its file name, or the beginning of its id where another has that name."""
    counts = Counter(record.name for record in records)
    return {record.id: record.name if counts[record.name] == 1 else record.id[:16] for record in records}


def probes_in(nodes: Sequence[Node], rows: Sequence[TableRow], pages: PagesByStem) -> list[Probe]:
    """Return the probes of a document, each once, by id: those whose words no other page has all of."""
    told = [node for node in nodes if not _leads_elsewhere(node)]
    tables = {node.id for node in told if node.kind is NodeKind.TABLE}
    asked = [(kind, node.page, cloze(text, pages)) for node in told for kind, text in _texts_of(node) if _is_text(text)]
    asked += [(ProbeKind.ROW, row.page, _row_with_gap(row)) for row in rows if row.node_id in tables and not row.is_header]
    found = {Probe(kind, nodes[0].document_id, page, *worded) for kind, page, worded in asked if worded}
    alone = [probe for probe in found if pages_with_all(probe.stems, pages) == {(probe.document_id, probe.page)}]
    return sorted(alone, key=lambda probe: probe.id)


def pages_by_stem(nodes: Iterable[Node]) -> PagesByStem:
    """Return the pages on which full text sees each stem; tables of contents and what has no meaning do not count."""
    pages: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for node in nodes:
        for found in stems_in(node.search_text) if not _leads_elsewhere(node) else ():
            pages[found].add((node.document_id, node.page))
    return dict(pages)


def pages_with_all(stems: Collection[str], pages: PagesByStem) -> frozenset[tuple[str, int]]:
    rarest_first = sorted((pages.get(one, ()) for one in stems), key=len)
    return frozenset(rarest_first[0]).intersection(*rarest_first[1:]) if rarest_first else frozenset()


def spread(probes: Iterable[Probe], *, limit: int) -> list[Probe]:
    """Return at most `limit`, one of each document in turn, then a second; within a document by kinds and pages in turn."""
    by_page = _in_turns(probes, lambda probe: (probe.document_id, probe.page))
    by_kind = _in_turns(by_page, lambda probe: (probe.document_id, probe.kind))
    return _in_turns(by_kind, lambda probe: probe.document_id)[:limit]


def _in_turns(probes: Iterable[Probe], owner: Callable[[Probe], Hashable]) -> list[Probe]:
    """Return the first of each owner, then the second of each, and so on, otherwise in their order."""
    counts = Counter[Hashable]()

    def turn(probe: Probe) -> int:
        counts[owner(probe)] += 1
        return counts[owner(probe)]

    return sorted(probes, key=turn)


def cloze(text: str, pages: PagesByStem) -> tuple[str, frozenset[str]] | None:
    """Return the rarest words of a text, as they stand, with gaps between them, and their stems; None where it has too few."""
    tokens = tokens_of(text)
    firsts = {stem(token): place for place, token in reversed(list(enumerate(tokens))) if _means_something(token)}
    rarest = sorted(firsts.values(), key=lambda place: (min(len(pages.get(part, ())) for part in parts_of(tokens[place])), place))
    kept = set(rarest[: max(FEWEST_WORDS, min(MOST_WORDS, len(rarest) - 1))])
    if len(kept) < FEWEST_WORDS:
        return None
    shown = [token if place in kept else GAP for place, token in enumerate(tokens)]
    return " ".join(word for word, _run in groupby(shown)), _stems(tokens[place] for place in kept)


def _leads_elsewhere(node: Node) -> bool:
    """Whether it is a list of works or a table of contents: they name what stands on another page."""
    return node.meaningless or (node.kind is not NodeKind.TABLE and bool(read_contents(node.content)))


def _texts_of(node: Node) -> Iterator[tuple[ProbeKind, str]]:
    if node.kind is NodeKind.CAPTION:
        # its label would name the place
        yield ProbeKind.CAPTION, _LABEL.sub("", node.content, count=1) if read_label(node.content) else node.content
    elif node.kind in BODY_KINDS:
        sentences = (sentence for sentence in sentences_of(node.content) if count_words(sentence) in SENTENCE_WORDS)
        yield from ((ProbeKind.SENTENCE, sentence) for sentence in sentences)


def _row_with_gap(row: TableRow) -> tuple[str, frozenset[str]] | None:
    """Return the label of a row and one of its columns, with a gap for the value there; None where the row has none of these."""
    (_header, label), *values = read_row(row.text, row.cells) or (("", ""),)
    columns = [
        " ".join(header.replace(" / ", " ").split())
        for header, value in values
        if value != label and count_words(header) in COLUMN_WORDS and count_words(value) in VALUE_WORDS
    ]
    if not columns or count_words(label) not in LABEL_WORDS or not any(map(str.isalpha, label)):
        return None
    # of several columns another one for each row
    column = min(columns, key=lambda name: identify(row.text, name))
    stems = _stems(words_of(f"{column} {label}"))
    return (f"{label}, {column}: {GAP}", stems) if len(stems) >= FEWEST_WORDS else None


def _is_text(text: str) -> bool:
    """Whether a text is mostly of words: no formula, no letters set apart, no address, nothing that a broken font left."""
    tokens = tokens_of(text)
    return not _ODD.search(text) and 2 * sum(len(token) > 1 and token[0].isalpha() for token in tokens) > len(tokens)


def _means_something(token: str) -> bool:
    return token[0].isalnum() and says_something(token) and (any(map(str.isalpha, token)) or bool(YEAR.fullmatch(token)))


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(part for word in words if says_something(word) for part in parts_of(word))
