"""Publishing finished documents: link them with the published ones, and commit both at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from storage.cleaning.removing import CleanedUp, clean_up, purge_is_due
from storage.corpus.doctor import examine_ids
from storage.corpus.writer import CorpusWriter
from storage.graph.checks import GraphError
from storage.graph.tables import vectors_of
from storage.locations import CorpusLocation
from storage.records.documents import DocumentGraph, DocumentState, Edge, identify
from storage.system import give_back
from tasks.algorithms.sharing import group_in_order
from tasks.content_graph.evolution import LinkableDocument, link_documents
from tasks.finding.plan import UNFINISHED, ReadingPlan
from tasks.ingest.outcomes import DocumentOutcome
from tasks.settings.ingest import EvolutionSettings
from tasks.step import OFTEN, StepKey, step, workplace

Superseded = Mapping[str, tuple[str, ...]]
"""The documents that go when this one is ready: their files hold its content now."""

EMBED_ROUND = "embed-round"
"""The step's name; a removal need not load what parses and embeds."""

NODES_AT_ONCE = 20_000
"""Published vectors are read back in groups of documents with about this many nodes: 30 MB, however large the corpus."""


def _batch_key(_corpus: CorpusWriter, outcomes: Sequence[DocumentOutcome], *_rest: object) -> StepKey:
    versions = sorted(outcome.record.version for outcome in outcomes)
    return StepKey("corpus", identify(*versions), f"{len(outcomes)} documents")


def _published_as(snapshot: int) -> dict[str, str]:
    return {"snapshot": str(snapshot)}


@step("publish", version="1", retries=OFTEN, cache_key=_batch_key, summary=_published_as)
def publish(corpus: CorpusWriter, outcomes: Sequence[DocumentOutcome], superseded: Superseded, settings: EvolutionSettings) -> int:
    """Publish a batch, with its links to every other document; return the snapshot's number.

    A document whose file got new content goes in the commit that brings its successor.
    """
    # Until `index` has run: a kill in between must not leave the corpus without its full text.
    corpus.location.index_due.touch()
    for outcome in outcomes:
        if outcome.graph and outcome.record.attempt != UNFINISHED:
            # Before the commit: after a kill the graph is remembered and comes here again, and then its rounds go. Another corpus's
            # run that reads the same bytes may have to embed a round again. The artifacts go with the next clean-up.
            workplace.get().memo.forget_step(outcome.record.id, EMBED_ROUND)
    graphs = [outcome.graph for outcome in outcomes if outcome.graph]
    published = {graph.document_id for graph in graphs}
    removed = sorted(old for new in published for old in superseded.get(new, ()))
    snapshot = corpus.publish(
        graphs=graphs,
        records=[outcome.record for outcome in outcomes],
        cross_edges=cross_edges(corpus, graphs, without=removed, settings=settings),
        removed=removed,
    )
    give_back()
    return snapshot


@step(
    "rename",
    version="1",
    retries=OFTEN,
    cache_key=lambda _corpus, plan: StepKey("corpus", identify(*plan.outdated), f"{len(plan.renamed)} documents"),
    summary=_published_as,
)
def rename(corpus: CorpusWriter, plan: ReadingPlan) -> int:
    """Publish documents whose paths alone changed, and remove those whose files now hold another document."""
    return corpus.publish(records=plan.renamed, removed=plan.outdated)


@step("index", version="1", retries=OFTEN, cache_key=lambda _corpus: StepKey("corpus", "", "full text"), summary=_published_as)
def index(corpus: CorpusWriter) -> int:
    """Bring the search indexes up to date and publish them; drop what no reader can need any more."""
    look_after(corpus)
    return corpus.snapshot


def look_after(corpus: CorpusWriter) -> CleanedUp:
    """Do what an ingest does at its end: indexes, a look at the ids, and clean-up; return what that deleted."""
    corpus.index()
    require_unique_ids(corpus)
    cleaned = clean_up(corpus)
    corpus.location.index_due.unlink(missing_ok=True)
    return cleaned


def require_unique_ids(corpus: CorpusWriter) -> None:
    """Raise GraphError where an id is given twice: neither LanceDB nor Prefect guarantees that it does not."""
    for finding in examine_ids(corpus):
        raise GraphError(finding.what, remedy=finding.remedy)


def maintenance_is_due(location: CorpusLocation) -> bool:
    """Say whether an ingest has something to do even where no file changed: a killed one's index, a removal, a repair."""
    return location.index_due.exists() or location.damage_report.exists() or purge_is_due(location)


def cross_edges(
    corpus: CorpusWriter, graphs: Sequence[DocumentGraph], *, without: Sequence[str], settings: EvolutionSettings
) -> list[Edge]:
    fresh = [linkable(graph) for graph in graphs]
    replaced = {*without, *(document.document_id for document in fresh)}
    edges: list[Edge] = []
    for position, own in enumerate(fresh):
        edges += link_documents(own=own, others=fresh[position + 1 :], settings=settings)
    if fresh:
        for others in published_documents(corpus, without=replaced):
            for own in fresh:
                edges += link_documents(own=own, others=others, settings=settings)
    return edges


def linkable(graph: DocumentGraph) -> LinkableDocument:
    ids, meaningless = [node.id for node in graph.nodes], [node.meaningless for node in graph.nodes]
    return LinkableDocument.of(graph.document_id, ids, meaningless, graph.initial_vectors)


def published_documents(corpus: CorpusWriter, *, without: Iterable[str]) -> Iterator[list[LinkableDocument]]:
    """Yield what linking needs of the published documents, in groups that fit in memory."""
    left_out = set(without)
    records = [record for record in corpus.documents() if record.state is DocumentState.READY and record.id not in left_out]
    sizes = [record.nodes for record in records]
    for group in group_in_order(sizes=sizes, most_items=len(records), most_size=NODES_AT_ONCE):
        yield _read_group(corpus, [records[place].id for place in group])


def _read_group(corpus: CorpusWriter, document_ids: Sequence[str]) -> list[LinkableDocument]:
    found = corpus.initial_vectors(document_ids)
    owners, node_ids, meaningless = (found[name].to_numpy() for name in ("document_id", "id", "meaningless"))
    vectors = vectors_of(found["initial_vector"], corpus.embedder.dimension)
    return [
        LinkableDocument.of(name, node_ids[owners == name].tolist(), meaningless[owners == name], vectors[owners == name])
        for name in sorted(set(owners))
    ]
