"""Finding documents in object stores: our copies are brought up to date, and found as files in folders are."""

import fcntl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from storage.artifacts import replace_durably
from storage.locations import home, mirrors_folder
from storage.lock import try_lock
from storage.object_address import StoreAddress, is_address, store_address
from storage.object_client import ABSENT, CHANGED, StoredObject, StoreError, fetch_object, list_objects, make_client
from storage.object_copies import LOCK, copies_lock, copy_name, copy_sign, forget_copies
from storage.records.documents import SkippedFile, SourceFile
from storage.system import explain_full_disk, require_room
from tasks.finding.files import UNREADABLE, Discovery, hash_file, is_wanted
from tasks.progress import StoppedError, stop_requested

POLL_SECONDS = 0.1
FETCHED_AT_ONCE = 8
"""A store answers in some 30 ms; more at once gains little on one machine's line."""
LATER = "it changed while it was being fetched; the next ingest reads it"


Announce = Callable[[str, int, int], None]
"""Called with an address as it is shown, and with how many objects and bytes are about to be fetched from below it."""


@contextmanager
def copies_in_use(sources: Sequence[str]) -> Iterator[None]:
    """Have all copies stay while the block runs, where one of the sources is an address; StoppedError where the user asks."""
    if not any(map(is_address, sources)):
        yield
        return
    with _hold_lock(LOCK, fcntl.LOCK_SH):
        yield


@contextmanager
def _hold_lock(lock: str, kind: int) -> Iterator[None]:
    with copies_lock(home(), lock) as descriptor:
        while not try_lock(descriptor, kind):
            if stop_requested():
                raise StoppedError
            threading.Event().wait(POLL_SECONDS)
        yield


def discover_objects(
    addresses: Sequence[str],
    *,
    include: Sequence[str],
    exclude: Sequence[str],
    file_megabytes: int,
    announce: Announce = lambda *_: None,
) -> Discovery:
    """Find every object below the addresses, fetch what is new or changed, and hash it; larger ones are left out.

    Globs match the key below the address, or its last part. Raises RequestError, StoreError, DiskFullError or StoppedError; what
    was fetched by then is kept.
    """
    found: dict[str, SourceFile | SkippedFile] = {}
    listed: set[str] = set()
    with copies_in_use(addresses):
        for address in map(store_address, addresses):
            # A second run of the address waits, and then finds what the first one fetched.
            with _hold_lock(f"{LOCK}-{copy_sign(address.shown)}", fcntl.LOCK_EX):
                client = make_client(address)
                objects = _list_objects(client, address)
                reasons = {each: _reason_against(each, address, most_bytes=file_megabytes << 20) for each in objects}
                chosen = [each for each in objects if reasons[each] or is_wanted(address.inner(each.key), include, exclude)]
                copies = {each: mirrors_folder() / copy_name(each.address, each.tag) for each in chosen}
                missing = {
                    each: copies[each] for each in chosen if not reasons[each] and not _is_whole(copies[each], each.size_bytes)
                }
                if missing:
                    reasons |= _fetch(client, address, missing, announce)
                # one copy of each stays, that of its bytes as they are now
                forget_copies((each.address.shown for each in chosen), home(), but=set(copies.values()))
            listed |= {each.address.shown for each in objects}
            found |= {each.address.shown: _hash_copy(each.address.shown, copies[each], reasons[each]) for each in chosen}
    in_order = [one for _, one in sorted(found.items())]
    return Discovery(
        files=tuple(one for one in in_order if isinstance(one, SourceFile)),
        skipped=tuple(one for one in in_order if isinstance(one, SkippedFile)),
        listed=frozenset(listed),
    )


def _list_objects(client: Any, address: StoreAddress) -> list[StoredObject]:  # noqa: ANN401
    """Return all objects at or below the address, but for those that only mark a folder, as consoles make them."""
    objects = []
    for each in list_objects(client, address):
        if stop_requested():
            raise StoppedError
        if each.size_bytes or not each.key.endswith("/"):
            objects.append(each)
    return objects


def _fetch(
    client: Any,  # noqa: ANN401
    address: StoreAddress,
    missing: Mapping[StoredObject, Path],
    announce: Announce,
) -> dict[StoredObject, str]:
    """Fetch each object to its path; return why some could not be, "" for the others."""
    folder, needed_bytes = mirrors_folder(), sum(each.size_bytes for each in missing)
    require_room(folder, needed_bytes)
    announce(address.shown, len(missing), needed_bytes)
    ending = threading.Event()

    def stop_where_wanted(_moved: int = 0) -> None:
        if ending.is_set() or stop_requested():
            raise StoppedError

    def fetch(each: StoredObject) -> str:
        stop_where_wanted()
        try:
            with replace_durably(missing[each]) as stream:
                fetch_object(client, each.address, stream, stop_where_wanted, listed=each)
        except StoreError as error:
            if not error.refusal:
                raise
            return f"{UNREADABLE}: {LATER if error.refusal in {*ABSENT, CHANGED} else error.why}"
        return ""

    with explain_full_disk(folder, needed_bytes), ThreadPoolExecutor(FETCHED_AT_ONCE) as pool:
        try:
            return dict(zip(missing, pool.map(fetch, missing), strict=True))
        finally:
            # After an error or Ctrl-C, running fetches end and waiting ones never begin.
            ending.set()


def _reason_against(each: StoredObject, address: StoreAddress, *, most_bytes: int) -> str:
    """Return why an object below the address is not to be fetched, "" where it may be a document."""
    parts = each.key.split("/")
    if any(part.startswith(".") and part.strip(".") for part in parts if not part.startswith("..")):
        return "hidden; name it to have it read" if each.key != address.key else ""
    if not parts[-1]:
        return "its key ends in '/': the mark of a folder, not a document"
    if each.size_bytes > most_bytes:
        return f"larger than {most_bytes >> 20} MB (limits.file_megabytes)"
    return ""


def _is_whole(copy: Path, size_bytes: int) -> bool:
    try:
        return copy.stat().st_size == size_bytes
    except FileNotFoundError:
        return False


def _hash_copy(shown: str, copy: Path, reason: str) -> SourceFile | SkippedFile:
    """Return the copy of an object as a file, or the reason to skip it."""
    if reason:
        return SkippedFile(path=shown, reason=reason)
    try:
        return replace(hash_file(str(copy)), address=shown)
    except OSError as error:
        # Another run of the same address may have found it changed or gone since.
        return SkippedFile(path=shown, reason=f"{UNREADABLE}: {error.strerror}")
