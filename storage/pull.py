"""Pull: a pushed snapshot becomes a read-only corpus of this home, or renews it."""

from collections.abc import Collection
from pathlib import Path

from storage import catalog
from storage.artifacts import ArtifactStore, write_durably
from storage.codec import CodecError, from_json, to_json
from storage.current import (
    Current,
    CurrentDamagedError,
    drop_snapshot,
    file_hash,
    intact,
    read_current,
    snapshot_numbers,
    snapshot_path,
)
from storage.disk import full_disk_explained, require_room
from storage.forgetting import forget_told
from storage.in_use import KEEP_SECONDS
from storage.kept_replies import CallCache
from storage.locations import CorpusLocation, artifacts_folder, calls_folder, corpus_location, steps_folder
from storage.lock import acquire
from storage.memo import StepMemo
from storage.object_address import StoreAddress
from storage.object_prefix import ObjectPrefix
from storage.pulled import pulled_from
from storage.records import DocumentRecord
from storage.removals import note_removals, noted_removals, removal_of
from storage.tidying import collect
from storage.transfer import (
    Manifest,
    Meter,
    MissingError,
    Pointer,
    Sent,
    Tell,
    TransferError,
    Transferred,
    in_parallel,
    read_manifest,
    read_pointer,
)

WAIT_SECONDS = 60.0
"""For another pull of the same corpus on this machine."""


def pull(address: StoreAddress, name: str | None, tell: Tell) -> Transferred:
    """Make the snapshot at the prefix a read-only corpus of this home, or renew it; readers of the one before go on with it.

    Whatever ends it before CURRENT is written leaves the corpus as it was. Raise TransferError where the name is another corpus's.
    """
    prefix = ObjectPrefix(address)
    pointer = pushed(prefix)
    location = corpus_location(name or pointer.corpus)
    require_free(location, prefix.address)
    location.folder.mkdir(parents=True, exist_ok=True)
    # While the lock is held nobody on this machine deletes artifacts that no snapshot names yet.
    lock = acquire(location.lock, wait_seconds=WAIT_SECONDS, known_fence=int)
    try:
        require_free(location, prefix.address)
        write_durably(location.pulled, prefix.address.uri.encode())
        while True:
            try:
                return renew(location, prefix, pointer, tell)
            except MissingError:
                # Two pushes came meanwhile and deleted what this pull began with; or somebody deleted an object.
                missed, pointer = pointer, pushed(prefix)
                if missed == pointer:
                    raise
    finally:
        lock.release()


def pushed(prefix: ObjectPrefix) -> Pointer:
    pointer, _tag = read_pointer(prefix)
    if pointer is None:
        raise TransferError(
            f"nothing was pushed to {prefix.address.uri!r}; push with `flowreader corpora push NAME s3://BUCKET/PREFIX`"
        )
    return pointer


def require_free(location: CorpusLocation, address: StoreAddress) -> None:
    """Raise TransferError where the corpus of that name is of this machine, or of another address."""
    came_from = pulled_from(location)
    if came_from and came_from != address.uri:
        raise TransferError(
            f"corpus {location.name!r} was pulled from {came_from}, not from {address.uri}; take another name with --as"
        )
    if not came_from and (location.current.exists() or location.catalog.exists()):
        raise TransferError(f"corpus {location.name!r} was made here and is not overwritten; take another name with --as")


def renew(location: CorpusLocation, prefix: ObjectPrefix, pointer: Pointer, tell: Tell) -> Transferred:
    """Fetch what is not here as the manifest has it, then publish the snapshot here. The caller holds the corpus's lock."""
    manifest = read_manifest(prefix, pointer)
    catalog.refuse_newer(manifest.current.schema_version, prefix.address.uri)
    before = published(location)
    require_same_making(location, before, manifest)
    kept = ArtifactStore(artifacts_folder(location.home))
    places = {each: place_of(location, kept, each) for each in manifest.files}
    sound = in_parallel(lambda each: file_hash(places[each]) == each.sha256, manifest.files)
    missing = [each for each, here in zip(manifest.files, sound, strict=True) if not here]
    moved = Meter(sum(each.size_bytes for each in missing), tell)
    require_room(location.folder, moved.total)

    def fetch(each: Sent) -> None:
        if not prefix.fetch(each.object, places[each], each.sha256, moved):
            raise MissingError(f"{prefix.address.below(each.object).uri!r} is missing; push the corpus to another prefix")

    with full_disk_explained(location.folder, moved.total):
        in_parallel(fetch, missing)
        publish(location, before, manifest)
        tidy_up(location, manifest.current)
    files, changed = len(missing), before != manifest.current
    return Transferred(location.name, prefix.address.uri, manifest.current.snapshot, changed, files, moved.total)


def published(location: CorpusLocation) -> Current | None:
    """Return what is published here; None where nothing is, or where it is damaged, which a pull mends."""
    try:
        current = read_current(location)
        if current is None or not intact(location, current):
            return None
        listed(location, current.snapshot)
    except (CurrentDamagedError, CodecError, FileNotFoundError):
        return None
    return current


def list_of(location: CorpusLocation, snapshot: int) -> Path:
    """Return where the manifest of a pulled snapshot lies."""
    return location.snapshots / f"{snapshot}.files"


def listed(location: CorpusLocation, snapshot: int) -> Manifest:
    return from_json(Manifest, list_of(location, snapshot).read_bytes())


def place_of(location: CorpusLocation, kept: ArtifactStore, file: Sent) -> Path:
    folder, _, name = file.path.partition("/")
    return kept.path(name) if folder == "artifacts" else location.folder / file.path


def require_same_making(location: CorpusLocation, before: Current | None, manifest: Manifest) -> None:
    """Raise TransferError where the new snapshot has other files under names that readers of the old one may have open."""
    known = {each.path: each.sha256 for each in listed(location, before.snapshot).files} if before else {}
    if any(known.get(each.path, each.sha256) != each.sha256 for each in manifest.files):
        raise TransferError(
            f"corpus {location.name!r} was removed and made anew where it was pushed, so that it is another one than that here; "
            f"run `flowreader corpora remove {location.name}` and the same command again, or take another name with --as"
        )


def publish(location: CorpusLocation, before: Current | None, manifest: Manifest) -> None:
    """Point CURRENT at the fetched snapshot; nobody is shown words of documents any more that it does not have."""
    documents = documents_of(location, manifest.current)
    present, paths = {record.id for record in documents}, {path for record in documents for path in record.paths}
    if before:
        # A document whose path now holds another content was replaced, not removed: answers from it stay.
        gone = [old for old in documents_of(location, before) if old.id not in present and paths.isdisjoint(old.paths)]
        if gone:
            note_removals(location, map(removal_of, gone))
    write_durably(list_of(location, manifest.current.snapshot), to_json(manifest))
    write_durably(location.current, to_json(manifest.current))
    forget_told(location, {removal.document_id for removal in noted_removals(location)} - present)


def documents_of(location: CorpusLocation, current: Current) -> list[DocumentRecord]:
    with catalog.opened(snapshot_path(location, current.snapshot), read_only=True) as connection:
        return catalog.read_documents(connection)


def tidy_up(location: CorpusLocation, current: Current) -> None:
    """Drop the older snapshots that nobody reads, the files that only they had, and old artifacts that nothing names."""
    dropped = [number for number in snapshot_numbers(location) if number != current.snapshot and drop_snapshot(location, number)]
    for number in dropped:
        list_of(location, number).unlink(missing_ok=True)
    kept = {place for number in snapshot_numbers(location) for place in lance_files(location, number)}
    for path in location.lance.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()
    memo = StepMemo(steps_folder(location.home), ArtifactStore(artifacts_folder(location.home)))
    collect(location.folder.parent, memo, CallCache(calls_folder(location.home)), keep_seconds=KEEP_SECONDS, own=location)


def lance_files(location: CorpusLocation, snapshot: int) -> Collection[Path]:
    return [location.folder / each.path for each in listed(location, snapshot).files if each.path.startswith("lance/")]
