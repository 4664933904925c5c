"""Corpora as they are shown: what is published in one, what reads into it, and the list of all."""

from collections.abc import Sequence
from dataclasses import asdict

from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass

from storage.catalog.catalog import CatalogDamagedError, StoreVersionError
from storage.catalog.current import CurrentDamagedError, read_pull_address
from storage.catalog.in_use import corpora_in
from storage.corpus.snapshot import Counts, Snapshot, UnknownCorpusError, open_for_reading
from storage.locations import CorpusLocation, corpora_folder
from storage.records.documents import SkippedFile
from storage.text import printable_path
from tasks.lineage.at_work import OpenRun, ingests_at_work, list_killed_runs
from tasks.views.documents import DocumentView, view_document


@dataclass(frozen=True, kw_only=True)
class Named:
    corpus: str
    snapshot: int
    embedder: str = Field(description="what made its vectors; where the corpus cannot be opened, why, and nothing is counted")


@dataclass(frozen=True, kw_only=True)
class CorpusRow(Counts, Named):
    """A corpus in the list."""

    pulled_from: str = Field(default="", description="the address that it is a copy of, which is read-only")


class CorporaView(BaseModel):
    corpora: list[CorpusRow]


class CorpusView(BaseModel):
    corpus: str
    snapshot: int
    documents: list[DocumentView]
    skipped: list[SkippedFile] = Field(description="by the ingest that shows this")
    totals: Counts
    killed: list[OpenRun] = Field(description="killed runs that no other has taken over yet, the oldest first")
    at_work: list[OpenRun] = Field(description="runs that are writing documents now, the oldest first")
    pulled_from: str


def open_runs(location: CorpusLocation) -> list[OpenRun]:
    """Return the killed runs and those at work.

    Look at them before the snapshot: one that ends in between is shown at work, and not its old documents without it.
    """
    return [*list_killed_runs(location), *ingests_at_work(location)]


def view_corpus(snapshot: Snapshot, runs: Sequence[OpenRun], skipped: Sequence[SkippedFile] = ()) -> CorpusView:
    return CorpusView(
        corpus=snapshot.location.name,
        snapshot=snapshot.number,
        documents=list(map(view_document, snapshot.documents())),
        skipped=[SkippedFile(printable_path(each.path), each.reason) for each in skipped],
        totals=snapshot.counts(),
        killed=[run for run in runs if run.killed],
        at_work=[run for run in runs if not run.killed],
        pulled_from=read_pull_address(snapshot.location),
    )


def view_corpora() -> CorporaView:
    return CorporaView(corpora=list(map(_row, corpora_in(corpora_folder()))))


def _row(location: CorpusLocation) -> CorpusRow:
    try:
        with open_for_reading(location) as snapshot:
            return CorpusRow(
                corpus=location.name,
                snapshot=snapshot.number,
                embedder=snapshot.embedder.key,
                **asdict(snapshot.counts()),
                pulled_from=read_pull_address(location),
            )
    except (UnknownCorpusError, CurrentDamagedError, CatalogDamagedError, StoreVersionError) as error:
        return CorpusRow(corpus=location.name, snapshot=0, embedder=str(error))
