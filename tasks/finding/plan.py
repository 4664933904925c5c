"""What an ingest has to do: which documents are new or changed, which only moved, which files are gone."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from storage.locations import home
from storage.object_address import is_address
from storage.object_copies import newest_copy
from storage.records.documents import DocumentRecord, DocumentState, EmbedderIdentity, SkippedFile, SourceFile, identify
from storage.text import printable_path
from tasks.models.ocr import ocr_identity
from tasks.parsing.parse import parser_identity
from tasks.settings.ingest import IngestSettings

GRAPH_VERSION = "4"
"""Raised when the same settings make another graph of the same bytes."""

UNFINISHED = "unfinished"
"""The `attempt` of a published document with nodes for which no reply came: the next ingest asks for these again."""


@dataclass(frozen=True, slots=True)
class DocumentWork:
    """A document to be read: `path` is where its bytes lie, `paths` all its names as the catalog shows them.

    `path` is "" where an earlier reading is used instead of the file.

    `published` is the version that readers have until this one is ready.
    """

    document_id: str
    version: str
    path: str
    paths: tuple[str, ...]
    size_bytes: int
    attempt: str
    password: str | None = field(default=None, repr=False)
    published: DocumentRecord | None = None

    @property
    def failed_rereading(self) -> str:
        """The `attempt` of a published record whose next version could not be made."""
        return identify(self.version, self.attempt)

    @property
    def name(self) -> str:
        return self.paths[0].rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """What to read, which records only change their paths, what is superseded once its successor is ready, what is unchanged."""

    work: tuple[DocumentWork, ...]
    renamed: tuple[DocumentRecord, ...]
    superseded: Mapping[str, tuple[str, ...]]
    outdated: tuple[str, ...]
    unchanged: tuple[str, ...]
    vanished: tuple[SkippedFile, ...]

    @property
    def nothing_to_do(self) -> bool:
        return not (self.work or self.renamed or self.outdated)


def document_version(document_id: str, settings: IngestSettings, embedder: EmbedderIdentity, reader: str) -> str:
    """Return the version: everything that decides what these bytes become; never a limit, a path or a time.

    `reader` names the chat model and its prompts, "" where none reads.
    """
    return identify(
        document_id,
        GRAPH_VERSION,
        parser_identity(),
        ocr_identity(),
        settings.reading.deciding(),
        embedder.key,
        *filter(None, (reader,)),
    )


def plan_reading(
    *,
    files: Sequence[SourceFile],
    roots: Sequence[str],
    published: Sequence[DocumentRecord],
    settings: IngestSettings,
    embedder: EmbedderIdentity,
    reader: str,
    passwords: Mapping[str, str],
    listed: Collection[str] = (),
) -> ReadingPlan:
    """Compare what was found with what is published; `reader` names the chat model and its prompts, "" where none reads.

    A failed document is tried again only when its version or the limits changed, or where it wants a password and one is
    given: the same bytes fail the same way. `passwords` maps a file name, or "*" for any, to a password; `listed` is how all
    objects below the roots that are addresses are shown.
    """
    known = {record.id: record for record in published}
    found: dict[str, list[SourceFile]] = {}
    for file in files:
        found.setdefault(file.document_id, []).append(file)
    owner = {printable_path(file.known_as): file.document_id for file in files}
    work, renamed, unchanged = [], [], []
    for document_id, copies in sorted(found.items(), key=lambda item: item[1][0].known_as):
        record = known.get(document_id)
        paths = _merge_paths(record, copies, roots, owner, listed)
        version = document_version(document_id, settings, embedder, reader)
        task = _work(document_id, version, copies, paths, settings, passwords)
        if record is None or not _is_settled(record, task):
            work.append(replace(task, published=record if record and record.state is DocumentState.READY else None))
        elif record.paths != paths:
            renamed.append(replace(record, paths=paths))
        else:
            unchanged.append(document_id)
    superseded = _find_superseded(found, published, owner)
    renamed += _find_displaced(found, published, owner)
    settled = {record.id for record in published if record.state is DocumentState.READY} - {task.document_id for task in work}
    return ReadingPlan(
        work=tuple(work),
        renamed=tuple(renamed),
        superseded=superseded,
        outdated=tuple(sorted(old for new, olds in superseded.items() if new in settled for old in olds)),
        unchanged=tuple(unchanged),
        vanished=_find_vanished(found, published, roots, listed),
    )


def plan_again(
    *,
    published: Sequence[DocumentRecord],
    roots: Sequence[str],
    settings: IngestSettings,
    embedder: EmbedderIdentity,
    reader: str,
) -> ReadingPlan:
    """Plan new graphs for documents that are ready, from their earlier readings; with roots, only for those below them.

    A document whose version the settings leave as it is stays; no file is looked at.
    """
    work, unchanged = [], []
    for record in published:
        if record.state is not DocumentState.READY or (roots and not any(lies_below(path, roots) for path in record.paths)):
            continue
        task = DocumentWork(
            document_id=record.id,
            version=document_version(record.id, settings, embedder, reader),
            path="",
            paths=record.paths,
            size_bytes=record.size_bytes,
            attempt=_attempt(settings),
            published=record,
        )
        if _is_settled(record, task):
            unchanged.append(record.id)
        else:
            work.append(task)
    return ReadingPlan(tuple(work), (), {}, (), tuple(unchanged), ())


def _work(
    document_id: str,
    version: str,
    copies: Sequence[SourceFile],
    paths: tuple[str, ...],
    settings: IngestSettings,
    passwords: Mapping[str, str],
) -> DocumentWork:
    names = [printable_path(file.known_as).rsplit("/", 1)[-1] for file in copies]
    password = next((passwords[name] for name in names if name in passwords), passwords.get("*"))
    return DocumentWork(
        document_id=document_id,
        version=version,
        path=copies[0].path,
        paths=paths,
        size_bytes=copies[0].size_bytes,
        attempt=_attempt(settings),
        password=password,
    )


def _attempt(settings: IngestSettings) -> str:
    return identify(settings.limits.model_dump_json())


def _is_settled(record: DocumentRecord, task: DocumentWork) -> bool:
    """Say whether another try would end the same. Passwords are not remembered: where one is wanted and given, it is tried."""
    if record.version != task.version:
        return record.attempt == task.failed_rereading
    if record.state is DocumentState.NEEDS_PASSWORD and task.password:
        return False
    return record.attempt != UNFINISHED if record.state is DocumentState.READY else record.attempt == task.attempt


def _merge_paths(
    record: DocumentRecord | None,
    copies: Sequence[SourceFile],
    roots: Sequence[str],
    owner: Mapping[str, str],
    listed: Collection[str],
) -> tuple[str, ...]:
    """Add what was found to the known paths; one that is gone from below the roots, or holds another document now, is dropped."""
    here = {printable_path(file.known_as) for file in copies}
    known = {path for path in (record.paths if record else ()) if path not in owner}
    return tuple(sorted(here | {path for path in known if not lies_below(path, roots) or _is_there(path, listed)}))


def _find_displaced(
    found: Mapping[str, Sequence[SourceFile]], published: Sequence[DocumentRecord], owner: Mapping[str, str]
) -> list[DocumentRecord]:
    """Return the documents that were not found, without those of their paths that hold another one now, where some are left."""
    left = {record.id: tuple(path for path in record.paths if path not in owner) for record in published if record.id not in found}
    return [replace(record, paths=left[record.id]) for record in published if left.get(record.id, ()) not in {(), record.paths}]


def _find_superseded(
    found: Mapping[str, Sequence[SourceFile]], published: Sequence[DocumentRecord], owner: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Map the id of a file's new content to the documents that this path held before and that have no other path."""
    replaced: dict[str, list[str]] = {}
    for record in published:
        if record.id not in found and record.paths and all(path in owner for path in record.paths):
            replaced.setdefault(owner[record.paths[0]], []).append(record.id)
    return {successor: tuple(sorted(ids)) for successor, ids in replaced.items()}


def _find_vanished(
    found: Mapping[str, Sequence[SourceFile]], published: Sequence[DocumentRecord], roots: Sequence[str], listed: Collection[str]
) -> tuple[SkippedFile, ...]:
    present = {printable_path(file.known_as) for copies in found.values() for file in copies}
    return tuple(
        SkippedFile(path=path, reason=f"gone; its document is kept until `flowreader documents remove {record.id[:12]}`")
        for record in published
        if record.id not in found
        for path in record.paths
        if lies_below(path, roots) and path not in present and not _is_there(path, listed)
    )


def _is_there(shown: str, listed: Collection[str]) -> bool:
    """Say whether a file lies at a path as `printable_path` shows it, or an object at an address."""
    return shown in listed if is_address(shown) else real_path(shown) is not None


def real_path(shown: str) -> str | None:
    """Return the path that `printable_path` shows so, None where there is none: odd characters in a name are shown escaped.

    What is shown by an address has its copy's path.
    """
    if is_address(shown):
        copy = newest_copy(shown, home())
        return str(copy) if copy else None
    if os.path.lexists(shown):
        return shown
    folder, _, name = shown.rpartition("/")
    parent = real_path(folder) if folder and "\\" in shown else None
    try:
        names = os.listdir(parent) if parent else []  # noqa: PTH208 - a Path would not take undecodable names
    except OSError:
        return None
    return next((f"{parent}/{entry}" for entry in names if printable_path(entry) == name), None)


def lies_below(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
