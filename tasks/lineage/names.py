"""What lineage may call by its name: published documents and earlier contents of their files, nothing that was removed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from storage.corpus.snapshot import Snapshot
from storage.object_address import is_address, store_address
from storage.records.answers import NamedDocument
from storage.records.documents import DocumentRecord, DocumentState
from tasks.lineage.records import Standing
from tasks.lineage.search import file_names


@dataclass(frozen=True)
class Shelf:
    """The documents of a snapshot, as names are given to what lineage finds."""

    snapshot: Snapshot

    @cached_property
    def records(self) -> Mapping[str, DocumentRecord]:
        return {record.id: record for record in self.snapshot.documents()}

    @cached_property
    def names(self) -> set[str]:
        return file_names(self.records.values())

    def is_readable(self, document_id: str) -> bool:
        return document_id in self.records and self.records[document_id].state is DocumentState.READY

    def standing(self, document: NamedDocument) -> Standing:
        """Say whether the document is there; one whose name another content has now was replaced."""
        if document.id in self.records:
            return Standing.PUBLISHED
        return Standing.REPLACED if document.name in self.names else Standing.GONE

    def named(self, document: NamedDocument) -> NamedDocument:
        """Return the document as it may be called: what is gone has no name any more."""
        if document.id in self.records:
            return NamedDocument(document.id, self.records[document.id].name)
        return replace(document, name="") if self.standing(document) is Standing.GONE else document


def shown_parameters(parameters: Mapping[str, Any], shelf: Shelf) -> dict[str, Any]:
    """Return what a run was asked, without paths and names under which no document lies now: they may be of a removed one."""
    told = dict(parameters)
    for name, is_known in (("paths", _has_path), ("documents", _has_name)):
        given = told.get(name)
        if isinstance(given, list):
            told[name] = [value for value in given if is_known(shelf, str(value))]
            if hidden := len(given) - len(told[name]):
                told[f"{name}_of_nothing_published"] = hidden
    return told


def _has_path(shelf: Shelf, given: str) -> bool:
    """Say whether a published document lies at or below a path, which may be relative to an unknown folder."""
    if is_address(given):
        whole = store_address(given).shown.rstrip("/")
        return any(known == whole or known.startswith(f"{whole}/") for record in shelf.records.values() for known in record.paths)
    path = os.path.normpath(given)
    while path == ".." or path.startswith("../"):
        path = path[3:]
    if path in {".", "", "/"}:
        return True
    whole = f"/{path.strip('/')}/"
    ends = (f"{known}/" for record in shelf.records.values() for known in record.paths)
    return any(known.startswith(whole) if given.startswith("/") else whole in known for known in ends)


def _has_name(shelf: Shelf, given: str) -> bool:
    """Say whether a name or the digits of an id are those of a published document."""
    return given in shelf.names or any(document_id.startswith(given) for document_id in shelf.records)
