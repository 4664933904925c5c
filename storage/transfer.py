"""Push and pull: the published snapshot of a corpus, to an object store and from there to another machine.

At the prefix lie `CURRENT`, the pointer, and below `files/N/` what the N-th push sent, each file under its SHA-256. A manifest is
such a file: it names all others of a snapshot, also those of earlier pushes. A push uses of earlier ones only what the manifest
that it found names, and deletes, when it has moved the pointer from N-1 to N, only of `files/1/` to `files/N/`, and what neither of
both manifests names. So no delay of one push makes another one, or a pull that began before, lose a file that it counts on.
"""

import re
import socket
import threading
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from storage import catalog
from storage.artifacts import ArtifactDamagedError, ArtifactStore, hash_bytes
from storage.codec import CodecError, from_json, to_json
from storage.current import Current, file_hash, held, snapshot_path
from storage.graph_store import GraphDamagedError
from storage.locations import CorpusLocation, artifacts_folder
from storage.object_address import StoreAddress
from storage.object_client import StoreError
from storage.object_prefix import ObjectPrefix
from storage.snapshot import unknown_corpus

T = TypeVar("T")

FORMAT = 1
POINTER = "CURRENT"
AT_ONCE = 8
"""Files that are read, sent or fetched at a time; boto3 keeps ten connections."""
ATTEMPTS = 5
WAIT_SECONDS = 60.0
"""For another pull of the same corpus on this machine."""
NEWEST = 2**64 - 1
"""Lance counts its manifests down from here, so that a list of them begins with the newest."""
PATH = re.compile(r"snapshots/[0-9]{1,18}\.duckdb|artifacts/[0-9a-f]{64}|lance(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*){2,5}")
"""What a manifest may name: nothing outside of a corpus."""

Tell = Callable[[int, int], None]
"""Hears how many bytes were moved, and how many there are to move."""


class TransferError(RuntimeError):
    """A push or a pull that cannot be done: what was published, here or in the store, stays as it was."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A file of a snapshot: where it belongs, what it holds, and the push that sent it."""

    path: str
    sha256: str
    size_bytes: int
    push: int

    @property
    def object(self) -> str:
        return object_of(self.push, self.sha256)


@dataclass(frozen=True, slots=True)
class Manifest:
    current: Current
    files: tuple[Sent, ...]


@dataclass(frozen=True, slots=True)
class Pointer:
    """`manifest` and `previous` are objects, `previous` "" at first; `machine` is for people."""

    format: int
    corpus: str
    push: int
    snapshot: int
    manifest: str
    previous: str
    machine: str


@dataclass(frozen=True, slots=True)
class Transferred:
    """What a push or a pull did: `files` and `bytes` were moved; without a move of the pointer `changed` is False."""

    corpus: str
    address: str
    snapshot: int
    changed: bool
    files: int
    bytes: int
    remark: str = ""


def object_of(push: int, sha256: str) -> str:
    return f"files/{push}/{sha256}"


def push(location: CorpusLocation, address: StoreAddress, tell: Tell) -> Transferred:
    """Put the published snapshot at the prefix; a push that ends anywhere before its end leaves the snapshot that was there.

    Raise TransferError where another push was faster, or something else lies there, and StoreError where the store fails.
    """
    prefix = ObjectPrefix(address)
    with held(location) as current:
        if current is None:
            raise unknown_corpus(location, f"make it with `flowreader ingest PATH --corpus {location.name}`")
        before, tag = read_pointer(prefix)
        require_successor(location, current, before, prefix.address)
        prefix.require_conditions()
        known = {each.sha256: each.push for each in read_manifest(prefix, before).files} if before else {}
        number = before.push + 1 if before else 1
        places = snapshot_files(location, current)
        manifest = Manifest(current, tuple(in_parallel(lambda path: described(path, places[path], known, number), sorted(places))))
        if before and before.manifest.endswith(hash_bytes(to_json(manifest))):
            return Transferred(location.name, prefix.address.uri, current.snapshot, False, 0, 0, clean_up(prefix, before))
        there = prefix.sizes(f"files/{number}/")
        new = {each.sha256: each for each in manifest.files if each.push == number and there.get(each.object) != each.size_bytes}
        moved = Meter(sum(each.size_bytes for each in new.values()), tell)
        in_parallel(lambda each: prefix.send(each.object, places[each.path], moved), new.values())
    said = to_json(manifest)
    named = object_of(number, hash_bytes(said))
    prefix.put(named, said, over="")
    previous = before.manifest if before else ""
    pointer = Pointer(FORMAT, location.name, number, current.snapshot, named, previous, socket.gethostname())
    move_pointer(prefix, pointer, tag)
    return Transferred(location.name, prefix.address.uri, current.snapshot, True, len(new), moved.total, clean_up(prefix, pointer))


class Meter:
    """Adds up the bytes that threads move."""

    def __init__(self, total: int, tell: Tell) -> None:
        self.total, self._tell = total, tell
        self._done, self._lock = 0, threading.Lock()

    def __call__(self, count: int) -> None:
        with self._lock:
            self._done += count
            self._tell(self._done, self.total)


def in_parallel(work: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    """Return the results in order; the first error ends it, and what has not begun is left."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(work, item) for item in items]
        try:
            for done in as_completed(waiting):
                done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [each.result() for each in waiting]


def snapshot_files(location: CorpusLocation, current: Current) -> dict[str, Path]:
    """Return the files that a pinned snapshot is made of, by the path that they have in any home."""
    from storage.adjacency_files import place_of

    path = snapshot_path(location, current.snapshot)
    with catalog.opened(path, read_only=True) as connection:
        versions = catalog.read_head(connection, path).lance_versions
        artifacts = [row[0] for row in connection.execute("SELECT DISTINCT artifact FROM document_artifacts").fetchall()]
    kept = ArtifactStore(artifacts_folder(location.home))
    found = {f"snapshots/{path.name}": path} | {f"artifacts/{name}": kept.path(name) for name in artifacts}
    parts = [table_files(location.lance / f"{table}.lance", version) for table, version in versions.items()]
    for part in chain(*parts, place_of(location.lance, versions).glob("*")):
        found[part.relative_to(location.folder).as_posix()] = part
    return found


def table_files(table: Path, version: int) -> list[Path]:
    """Return the files of one version of a LanceDB table; what only others hold, a removed document's words too, stays.

    A manifest holds the names of its data files as they are, and the UUIDs of its indexes as 16 bytes. A deletion's file, which
    holds numbers of rows, is named FRAGMENT-VERSION-ID, after the version that it was made from.
    """
    manifest = table / "_versions" / f"{NEWEST - version}.manifest"
    try:
        said = manifest.read_bytes()
    except FileNotFoundError as error:
        raise GraphDamagedError(f"{str(manifest)!r} of the graph is missing; run `flowreader doctor`") from error
    indexes = [index for index in table.glob("_indices/*") if uuid.UUID(index.name).bytes in said]
    return [
        manifest,
        *(path for path in table.glob("data/*") if path.name.encode() in said),
        *(path for index in indexes for path in index.glob("*")),
        *(path for path in table.glob("_deletions/*") if int(path.name.split("-")[1]) < version),
    ]


def described(path: str, place: Path, known: dict[str, int], number: int) -> Sent:
    """Return a file as the manifest of this push names it; raise ArtifactDamagedError where it is damaged."""
    sha256 = file_hash(place)
    if sha256 is None or (path.startswith("artifacts/") and not path.endswith(sha256)):
        raise ArtifactDamagedError(f"{str(place)!r} is missing or damaged; run `flowreader doctor`")
    return Sent(path, sha256, place.stat().st_size, known.get(sha256, number))


def read_pointer(prefix: ObjectPrefix) -> tuple[Pointer | None, str]:
    """Return the pointer and its tag, None where nothing was pushed; raise TransferError where it is of no use."""
    found = prefix.read(POINTER)
    if found is None:
        return None, ""
    place = prefix.address.below(POINTER).uri
    said = re.search(rb'"format":([0-9]{1,9})[,}]', found.data)
    if said and int(said[1]) != FORMAT:
        raise TransferError(
            f"{place!r} has format {int(said[1])}, this FlowReader knows {FORMAT}; "
            "take the FlowReader that pushed it, or another prefix"
        )
    try:
        return from_json(Pointer, found.data), found.tag
    except CodecError as error:
        raise TransferError(f"{place!r} is damaged ({error}); push to another prefix, or delete it and push again") from error


def read_manifest(prefix: ObjectPrefix, pointer: Pointer) -> Manifest:
    """Return what the pointer names; raise MissingError where it is not there, TransferError where it is damaged."""
    found = prefix.read(pointer.manifest)
    place = prefix.address.below(pointer.manifest).uri
    if found is None:
        raise MissingError(f"{place!r} is missing; push the corpus to another prefix")
    try:
        if not pointer.manifest.endswith(hash_bytes(found.data)):
            raise CodecError("it does not match its hash")
        manifest = from_json(Manifest, found.data)
    except CodecError as error:
        raise TransferError(f"{place!r} is damaged ({error}); push the corpus to another prefix") from error
    for each in manifest.files:
        if not PATH.fullmatch(each.path) or (each.path.startswith("artifacts/") and not each.path.endswith(each.sha256)):
            raise TransferError(f"{place!r} names {each.path!r}, which is no file of a corpus; push the corpus to another prefix")
    return manifest


class MissingError(TransferError):
    """An object that a manifest names is gone: it was the last but one, or somebody deleted it."""


def require_successor(location: CorpusLocation, current: Current, before: Pointer | None, address: StoreAddress) -> None:
    """Raise TransferError where another corpus lies there, or a later snapshot of this one."""
    if before and before.corpus != location.name:
        raise TransferError(f"{address.uri!r} holds corpus {before.corpus!r}, not {location.name!r}; push to another prefix")
    if before and before.snapshot > current.snapshot:
        raise TransferError(
            f"{address.uri!r} holds snapshot {before.snapshot} of corpus {location.name!r}, pushed by {before.machine}, "
            f"which is later than snapshot {current.snapshot} here; pull that one with --as NAME, or push to another prefix"
        )


def move_pointer(prefix: ObjectPrefix, pointer: Pointer, tag: str) -> None:
    """Point at the manifest unless another push did meanwhile: this is the commit of a push."""
    if prefix.put(POINTER, to_json(pointer), over=tag):
        return
    found, _tag = read_pointer(prefix)
    # Where the answer to the first attempt was lost, it is our own that stands in the way of the second.
    if found != pointer:
        by = f" from {found.machine} (snapshot {found.snapshot})" if found else ""
        raise TransferError(f"{prefix.address.uri!r} got another push{by} meanwhile; run the same command again, it goes on")


def clean_up(prefix: ObjectPrefix, pointer: Pointer) -> str:
    """Delete what neither this push nor the one before it names; return in words why that could not be."""
    try:
        kept = {POINTER, pointer.manifest, pointer.previous}
        kept |= {each.object for each in read_manifest(prefix, pointer).files}
        if pointer.previous and (previous := prefix.read(pointer.previous)):
            kept |= {each.object for each in from_json(Manifest, previous.data).files}
        found = [name for name in prefix.sizes("files/") if int(name.split("/")[1]) <= pointer.push]
        prefix.delete([name for name in found if name not in kept])
    except (StoreError, TransferError, ValueError) as error:
        return f"the snapshot is pushed; what older ones left stays for now: {error}"
    return ""
