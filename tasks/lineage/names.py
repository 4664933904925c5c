"""What a walk reads, and what it may call by its name: published documents and earlier contents of their files, nothing removed."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from storage.corpus.snapshot import Snapshot
from storage.records.answers import NamedDocument
from storage.records.documents import DocumentRecord, DocumentState
from storage.runs.views import Runs, opened_runs
from tasks.lineage.records import Standing
from tasks.lineage.search import file_names


@dataclass(frozen=True)
class Sources:
    """What a walk reads: the documents of a snapshot and the runs of its corpus, opened once."""

    snapshot: Snapshot
    runs: Runs

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


@contextmanager
def opened_sources(snapshot: Snapshot) -> Iterator[Sources]:
    with opened_runs(snapshot.location.runs) as runs:
        yield Sources(snapshot, runs)


def shown_parameters(parameters: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
    """Return what a run was asked, without paths and names under which no document lies now: they may be of a removed one."""
    shown = dict(parameters)
    for name, is_known in (("paths", _has_path), ("documents", _has_name)):
        given = shown.get(name)
        if isinstance(given, list):
            shown[name] = [value for value in given if is_known(sources, str(value))]
            if hidden := len(given) - len(shown[name]):
                shown[f"{name}_of_nothing_published"] = hidden
    return shown


def _has_path(sources: Sources, given: str) -> bool:
    """Say whether a published document lies at or below a path or address; the path may be relative to an unknown folder."""
    parts = [part for part in os.path.normpath(given).split("/") if part not in {"", ".", ".."}]
    whole = f"/{'/'.join(parts)}/"
    known = (path for record in sources.records.values() for path in record.paths)
    return not parts or any(whole in f"/{os.path.normpath(path)}/" for path in known)


def _has_name(sources: Sources, given: str) -> bool:
    """Say whether a name or the digits of an id are those of a published document."""
    return given in sources.names or any(document_id.startswith(given) for document_id in sources.records)
