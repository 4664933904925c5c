"""Probes: texts of a corpus with gaps, made without a model or labels, that must bring their own pages back.

What probes prove is that the corpus was read in and that retrieval finds what was read: a caption, a row or a sentence whose page
does not come back is lost to most questions. They prove nothing of answers, and little of hard questions, because their words are
those of the page. So they reveal a broken ingest, and compare settings, embedders and versions on the corpus at hand; a good figure
is the least to expect, and no measure of quality. A corpus of one page proves nothing but that something was read.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from storage.corpus.snapshot import Snapshot
from storage.errors import RequestError
from storage.records.documents import DocumentRecord, DocumentState, identify
from storage.records.evaluations import Benchmark, BenchmarkQuestion
from tasks.algorithms.metrics.probes import pages_by_stem, probes_in, spread

PROBE_SEED = 1
"""The same corpus is probed by the same questions, so that two runs can be compared."""
DEFAULT_LIMIT = 200
"""Probes at most: recall within 7 points either way at 95 %, in minutes."""
NODES_READ = 20_000
"""Nodes of the documents that are looked at, some 2,500 pages: they take seconds, and less than a gigabyte."""
DOCUMENTS_READ = 300
"""Documents that are looked at; each takes a tenth of a second to fetch."""


def make_probes(snapshot: Snapshot, *, limit: int, seed: int = PROBE_SEED) -> Benchmark:
    """Return at most so many probes, evenly over documents, kinds and pages; the same corpus, limit and seed give the same.

    A probe's evidence is the one page that holds all its words. That is known of the documents looked at: all of a corpus of up
    to `DOCUMENTS_READ` documents and `NODES_READ` nodes, as many of a larger one as fit, drawn by the hash of their ids; there
    another document may hold the words too. Raise RequestError where no probe can be made.
    """
    records = snapshot.documents()
    drawn = drawn_documents(records, seed=seed, most_documents=DOCUMENTS_READ, most_nodes=NODES_READ)
    if not drawn:
        raise RequestError(f"corpus {snapshot.location.name!r} holds no document that can be read; ingest one")
    nodes = {name: snapshot.nodes(name) for name in drawn}
    pages = pages_by_stem(node for of_document in nodes.values() for node in of_document)
    every = [probe for name, of_document in nodes.items() for probe in probes_in(of_document, snapshot.rows(name), pages)]
    if not every:
        raise RequestError(
            f"corpus {snapshot.location.name!r} makes no probe: no caption, table row or sentence of it has three telling "
            "words that stand together on one page only; ingest longer documents, or write a benchmark of your own"
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
        for probe in spread(sorted(every, key=lambda probe: identify("order", seed, probe.id)), limit=limit)
    )
    asked = {name for question in questions for name in question.documents}
    paths = {names[record.id]: record.paths[0] for record in drawn.values() if names[record.id] in asked}
    digest = identify(*(part for question in questions for part in (question.id, question.text, *map(str, question.evidence))))
    return Benchmark(f"probes of {snapshot.location.name}", paths, questions, digest)


def drawn_documents(
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
