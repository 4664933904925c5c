"""One corpus that several machines share: as many homes on this one, a real S3 server between them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from storage.corpus import CorpusWriter, open_for_writing
from storage.export import export_document
from storage.lease_terms import NAME, read_terms
from storage.locations import CorpusLocation
from storage.object_address import StoreAddress
from storage.object_store import ObjectStore
from storage.snapshot import open_for_reading
from tests.object_server import copy_all
from tests.storage.worlds import EMBEDDER, corpus_in

GOOD_SECONDS = 0.6
"""So short a lease is in these tests: deaths need little waiting."""


def machine(folder: Path, shared: StoreAddress) -> CorpusLocation:
    """The corpus as the machine sees it whose home the folder is."""
    return replace(corpus_in(folder), store=shared.below("corpora/default"))


def writing(place: CorpusLocation):
    return open_for_writing(place, embedder=EMBEDDER, wait_seconds=0)


def refused(place: CorpusLocation) -> None:
    """Try to write, where that is to fail."""
    with writing(place):
        raise AssertionError("nobody refused")


@contextmanager
def asleep(place: CorpusLocation) -> Iterator[CorpusWriter]:
    """A writer whose machine sleeps, so that it renews nothing."""
    with writing(place) as writer:
        writer._lock.lease._ended.set()
        yield writer


def exports(place: CorpusLocation) -> dict[str, bytes]:
    """Every document as a reader on that machine sees it."""
    with open_for_reading(place) as snapshot:
        return {document.id: export_document(snapshot, document.id) for document in snapshot.documents()}


def copied(place: CorpusLocation, folder: Path, shared: StoreAddress) -> CorpusLocation:
    """A machine that did what the other did, in a store of its own: to make it again takes seconds."""
    copy = machine(folder, shared)
    copy_all(place.store.key, copy.store.key)
    shutil.copytree(place.folder, copy.folder)
    copy.store_note.write_text(copy.store.uri)
    return copy


def is_free(store: ObjectStore) -> bool:
    """Say whether nobody holds a lease: whoever held one gave it back."""
    found = store.read(NAME)
    terms = read_terms(found.data) if found else None
    return terms is None or terms.free
