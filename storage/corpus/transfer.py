"""Push and pull: the published snapshot of a corpus, to an object store and from there to another machine.

At the prefix lie, below `files/N/`, what the N-th push sent, each file under its SHA-256, and `CURRENT`, which names all files of
the snapshot, also those of earlier pushes: its conditional put is the commit. A push uses of earlier ones only what the `CURRENT`
that it found names, and deletes, when it has put the N-th, only of `files/1/` to `files/N/`, and what that does not name. So no
delay of one push makes another one lose a file that it counts on; a pull that loses one begins anew.
"""

import re
import socket
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from storage.artifacts import ArtifactDamagedError, ArtifactStore, write_durably
from storage.catalog import catalog
from storage.catalog.current import (
    Current,
    CurrentDamagedError,
    drop_snapshot,
    file_hash,
    is_intact,
    read_current,
    read_pull_address,
    snapshot_numbers,
    snapshot_path,
)
from storage.catalog.removals import note_removals, read_removals
from storage.cleaning.garbage import KEEP_SECONDS, collect
from storage.cleaning.owners import forget
from storage.codec import CodecError, from_json, to_json
from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.errors import ExpectedError
from storage.graph import adjacency_files
from storage.graph.store import table_files
from storage.locations import CorpusLocation, artifacts_folder, corpus_location
from storage.lock import hold_lock
from storage.object_address import StoreAddress
from storage.object_client import ABSENT, ObjectPrefix, StoreError
from storage.system import explain_full_disk, require_room

FORMAT = 2
POINTER = "CURRENT"
AT_ONCE = 8
"""Files that are read, sent or fetched at a time; boto3 keeps ten connections."""
WAIT_SECONDS = 60.0
"""For another pull of the same corpus on this machine."""
PATH = re.compile(r"snapshots/[0-9]{1,18}\.duckdb|artifacts/[0-9a-f]{64}|lance(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*){2,5}")
"""What a push may name: nothing outside of a corpus."""

Moved = Callable[[int, int], None]
"""Called from many threads with how many bytes were just moved, and how many there are to move in all."""


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file of a snapshot: where it belongs, what it holds, and the push that sent it."""

    path: str
    sha256: str
    size_bytes: int
    push: int

    @property
    def object(self) -> str:
        return f"files/{self.push}/{self.sha256}"


@dataclass(frozen=True, slots=True)
class Pushed:
    """The pushed snapshot and its files; `machine` is for people."""

    format: int
    corpus: str
    push: int
    machine: str
    current: Current
    files: tuple[SentFile, ...]


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


def push(location: CorpusLocation, address: StoreAddress, moved: Moved) -> Transferred:
    """Put the published snapshot at the prefix; a push that ends anywhere before its end leaves the snapshot that was there.

    Raise ExpectedError where another push was faster, or something else lies there, and StoreError where the store fails.
    """
    prefix = ObjectPrefix(address)
    with open_for_reading(location) as snapshot, ThreadPoolExecutor(AT_ONCE) as pool:
        current = snapshot.current
        before, tag = read_pushed(prefix)
        require_successor(location, current, before, prefix.address)
        prefix.require_conditions()
        known = {each.sha256: each.push for each in before.files} if before else {}
        number = before.push + 1 if before else 1
        places = snapshot_files(snapshot)
        files = tuple(pool.map(lambda path: describe_file(path, places[path], known, number), sorted(places)))
        if before and (before.current, before.files) == (current, files):
            return Transferred(location.name, prefix.address.uri, current.snapshot, False, 0, 0, clean_up(prefix, before))
        there = prefix.sizes(f"files/{number}/")
        new = {each.sha256: each for each in files if each.push == number and there.get(each.object) != each.size_bytes}
        total = sum(each.size_bytes for each in new.values())
        do_all(pool, lambda each: prefix.send(each.object, places[each.path], lambda count: moved(count, total)), new.values())
    pushed = Pushed(FORMAT, location.name, number, socket.gethostname(), current, files)
    move_pointer(prefix, pushed, tag)
    return Transferred(location.name, prefix.address.uri, current.snapshot, True, len(new), total, clean_up(prefix, pushed))


def do_all(pool: ThreadPoolExecutor, move: Callable[[SentFile], object], files: Iterable[SentFile]) -> None:
    """Move the files; after an error what has not begun is left."""
    for _ in pool.map(move, files):
        pass


def snapshot_files(snapshot: Snapshot) -> dict[str, Path]:
    """Return the files that a snapshot is made of, by the path that they have in any home."""
    location, versions = snapshot.location, snapshot.table_versions
    path, kept = snapshot_path(location, snapshot.number), ArtifactStore(artifacts_folder(location.home))
    found = {f"snapshots/{path.name}": path} | {f"artifacts/{name}": kept.path(name) for _document, name in snapshot.artifacts()}
    parts = list(adjacency_files.place_of(location.lance, versions).glob("*"))
    for table, version in versions.items():
        parts += table_files(location.lance / f"{table}.lance", version)
    return found | {part.relative_to(location.folder).as_posix(): part for part in parts}


def describe_file(path: str, place: Path, known: dict[str, int], number: int) -> SentFile:
    """Return a file as this push names it; raise ArtifactDamagedError where it is damaged."""
    sha256 = file_hash(place)
    if sha256 is None or (path.startswith("artifacts/") and not path.endswith(sha256)):
        raise ArtifactDamagedError(f"{str(place)!r} is missing or damaged", str(place), "run `flowreader doctor`")
    return SentFile(path, sha256, place.stat().st_size, known.get(sha256, number))


def read_pushed(prefix: ObjectPrefix) -> tuple[Pushed | None, str]:
    """Return what was pushed and its tag, None where nothing was; raise ExpectedError where it is of no use."""
    data, tag = prefix.read(POINTER)
    if data is None:
        return None, ""
    place = prefix.uri(POINTER)
    found = re.search(rb'"format":([0-9]{1,9})[,}]', data)
    if found and int(found[1]) != FORMAT:
        raise ExpectedError(
            f"{place!r} has format {int(found[1])}, this FlowReader knows {FORMAT}",
            place,
            "take the FlowReader that pushed it, or another prefix",
        )
    try:
        pushed = from_json(Pushed, data)
        for each in pushed.files:
            if not PATH.fullmatch(each.path) or (each.path.startswith("artifacts/") and each.path != f"artifacts/{each.sha256}"):
                raise CodecError(f"it names {each.path!r}, which is no file of a corpus", each.path)
    except CodecError as error:
        raise ExpectedError(
            f"{place!r} is damaged ({error})", place, "push to another prefix, or delete it and push again"
        ) from error
    return pushed, tag


def require_successor(location: CorpusLocation, current: Current, before: Pushed | None, address: StoreAddress) -> None:
    """Raise ExpectedError where another corpus lies there, or a later snapshot of this one."""
    if before and before.corpus != location.name:
        raise ExpectedError(
            f"{address.uri!r} holds corpus {before.corpus!r}, not {location.name!r}", address.uri, "push to another prefix"
        )
    if before and before.current.snapshot > current.snapshot:
        raise ExpectedError(
            f"{address.uri!r} holds snapshot {before.current.snapshot} of corpus {location.name!r}, pushed by "
            f"{before.machine}, which is later than snapshot {current.snapshot} here",
            address.uri,
            "pull that one with --as NAME, or push to another prefix",
        )


def move_pointer(prefix: ObjectPrefix, pushed: Pushed, tag: str) -> None:
    """Point at the snapshot unless another push did meanwhile: this is the commit of a push."""
    if prefix.put(POINTER, to_json(pushed), over=tag):
        return
    found, _tag = read_pushed(prefix)
    # Where the answer to the first attempt was lost, it is our own that stands in the way of the second.
    if found != pushed:
        by = f" from {found.machine} (snapshot {found.current.snapshot})" if found else ""
        raise ExpectedError(
            f"{prefix.address.uri!r} got another push{by} meanwhile", prefix.address.uri, "run the same command again, it goes on"
        )


def clean_up(prefix: ObjectPrefix, pushed: Pushed) -> str:
    """Delete what this push does not name; return in words why that could not be."""
    kept = {each.object for each in pushed.files}
    try:
        found = [name for name in prefix.sizes("files/") if int(name.split("/")[1]) <= pushed.push]
        prefix.delete([name for name in found if name not in kept])
    except (StoreError, ValueError) as error:
        return f"the snapshot is pushed; what older ones left stays for now: {error}"
    return ""


def pull(address: StoreAddress, name: str | None, moved: Moved) -> Transferred:
    """Make the snapshot at the prefix a read-only corpus of this home, or renew it; readers of the one before go on with it.

    Whatever ends it before CURRENT is written leaves the corpus as it was. Raise ExpectedError where the name is another corpus's.
    """
    prefix = ObjectPrefix(address)
    pushed = require_pushed(prefix)
    location = corpus_location(name or pushed.corpus)
    require_free(location, prefix.address)
    location.folder.mkdir(parents=True, exist_ok=True)
    # While the lock is held, artifacts that no snapshot names yet are not deleted.
    with hold_lock(location.lock, wait_seconds=WAIT_SECONDS):
        require_free(location, prefix.address)
        write_durably(location.pulled, prefix.address.uri.encode())
        while True:
            try:
                return renew(location, prefix, pushed, moved)
            except StoreError as error:
                if error.refusal not in ABSENT:
                    raise
                # Another push came meanwhile and deleted what this pull began with; or an object was deleted by hand.
                missed, pushed = pushed, require_pushed(prefix)
                if missed == pushed:
                    raise


def require_pushed(prefix: ObjectPrefix) -> Pushed:
    pushed, _tag = read_pushed(prefix)
    if pushed is None:
        raise ExpectedError(
            f"nothing was pushed to {prefix.address.uri!r}",
            prefix.address.uri,
            "push with `flowreader corpora push NAME s3://BUCKET/PREFIX`",
        )
    return pushed


def require_free(location: CorpusLocation, address: StoreAddress) -> None:
    """Raise ExpectedError where the corpus of that name is of this machine, or of another address."""
    came_from = read_pull_address(location)
    if came_from and came_from != address.uri:
        raise ExpectedError(
            f"corpus {location.name!r} was pulled from {came_from}, not from {address.uri}",
            location.name,
            "take another name with --as",
        )
    if not came_from and (location.current.exists() or location.catalog.exists()):
        raise ExpectedError(
            f"corpus {location.name!r} was made here and is not overwritten", location.name, "take another name with --as"
        )


def renew(location: CorpusLocation, prefix: ObjectPrefix, pushed: Pushed, moved: Moved) -> Transferred:
    """Fetch what is not here as it was pushed, then publish the snapshot here. The caller holds the corpus's lock."""
    catalog.refuse_other_versions(pushed.current.schema_version, prefix.address.uri)
    before = read_published(location)
    require_same_making(location, before, pushed)
    kept = ArtifactStore(artifacts_folder(location.home))

    def place_of(file: SentFile) -> Path:
        return kept.path(file.sha256) if file.path.startswith("artifacts/") else location.folder / file.path

    def fetch(file: SentFile) -> None:
        prefix.fetch(file.object, place_of(file), file.sha256, lambda count: moved(count, total))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        sound = pool.map(lambda file: file_hash(place_of(file)) == file.sha256, pushed.files)
        missing = [file for file, here in zip(pushed.files, sound, strict=True) if not here]
        total = sum(file.size_bytes for file in missing)
        require_room(location.folder, total)
        with explain_full_disk(location.folder, total):
            do_all(pool, fetch, missing)
            publish(location, before, pushed)
            tidy_up(location, pushed.current)
    changed = before is None or before.current != pushed.current
    return Transferred(location.name, prefix.address.uri, pushed.current.snapshot, changed, len(missing), total)


def read_published(location: CorpusLocation) -> Pushed | None:
    """Return what is published here; None where nothing is, or where it is damaged, which a pull mends."""
    try:
        current = read_current(location)
        return read_file_list(location, current.snapshot) if current and is_intact(location, current) else None
    except (CurrentDamagedError, CodecError, FileNotFoundError):
        return None


def file_list_path(location: CorpusLocation, snapshot: int) -> Path:
    """Return where it stands which files a pulled snapshot has."""
    return location.snapshots / f"{snapshot}.files"


def read_file_list(location: CorpusLocation, snapshot: int) -> Pushed:
    return from_json(Pushed, file_list_path(location, snapshot).read_bytes())


def require_same_making(location: CorpusLocation, before: Pushed | None, pushed: Pushed) -> None:
    """Raise ExpectedError where the new snapshot has other files under names that readers of the old one may have open."""
    known = {each.path: each.sha256 for each in before.files} if before else {}
    if any(known.get(each.path, each.sha256) != each.sha256 for each in pushed.files):
        raise ExpectedError(
            f"corpus {location.name!r} was removed and made anew where it was pushed, so that it is another one than that here",
            location.name,
            f"run `flowreader corpora remove {location.name}` and the same command again, or take another name with --as",
        )


def publish(location: CorpusLocation, before: Pushed | None, pushed: Pushed) -> None:
    """Point CURRENT at the fetched snapshot; words of documents that it does not have are no longer shown."""
    documents = catalog.documents_in(snapshot_path(location, pushed.current.snapshot), read_only=True)
    present, paths = {record.id for record in documents}, {path for record in documents for path in record.paths}
    earlier = catalog.documents_in(snapshot_path(location, before.current.snapshot), read_only=True) if before else []
    # A document whose path now holds another content was replaced, not removed: answers from it stay.
    gone = {old.id: old.paths for old in earlier if old.id not in present and paths.isdisjoint(old.paths)}
    if gone:
        note_removals(location, gone)
    write_durably(file_list_path(location, pushed.current.snapshot), to_json(pushed))
    write_durably(location.current, to_json(pushed.current))
    forget(location, read_removals(location).paths.keys() - present)


def tidy_up(location: CorpusLocation, current: Current) -> None:
    """Drop the older snapshots without a reader, the files that only they had, and old artifacts that nothing names."""
    for number in snapshot_numbers(location):
        if number != current.snapshot and drop_snapshot(location, number):
            file_list_path(location, number).unlink(missing_ok=True)
    try:
        kept = {
            location.folder / file.path for number in snapshot_numbers(location) for file in read_file_list(location, number).files
        }
    except (CodecError, FileNotFoundError):
        # What an older snapshot has is not known, and a reader holds it: it goes with a later pull.
        return
    for path in location.lance.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()
    collect(location, keep_seconds=KEEP_SECONDS)
