"""Documents in an object store: what lies below an address, which of it may be a document, and its bytes, checked.

A copy is written under another name and renamed when it is whole.
"""

import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from storage.artifacts import written_durably
from storage.object_address import StoreAddress
from storage.object_client import ABSENT, ATTEMPTS, FIRST_ATTEMPTS, REFUSED, explained, make_client, remedy_for
from storage.system import full_disk_explained, require_room
from tasks.finding.files import UNREADABLE
from tasks.progress import StoppedError, stop_requested

READ_BYTES = 1 << 20
MD5 = re.compile(r"[0-9a-f]{32}")


class ObjectSkippedError(Exception):
    """One object cannot be read, the others may; the message says why, in words for who looks for it."""


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object as a listing tells of it; the tag changes with its bytes."""

    key: str
    tag: str
    size_bytes: int


@dataclass(frozen=True)
class ObjectSource:
    """What lies at or below an address; asked with the credentials as they are when it is made."""

    address: StoreAddress

    def listed(self) -> Iterator[ListedObject]:
        """Yield every object at or below the address, by key; raise StoreError where that cannot be told."""
        with explained(f"list {self.address.shown!r}"):
            pages = make_client(FIRST_ATTEMPTS).get_paginator("list_objects_v2")
            for prefix, most in self._listings():
                for page in pages.paginate(Bucket=self.address.bucket, Prefix=prefix, PaginationConfig={"MaxItems": most}):
                    _go_on()
                    for found in page.get("Contents", ()):
                        if self.address.holds(found["Key"]):
                            yield ListedObject(found["Key"], found["ETag"].strip('"'), found["Size"])

    def _listings(self) -> tuple[tuple[str, int | None], ...]:
        """Return prefixes and how many objects of each; of all keys that begin with `a`, `a` is the first, `ab` none of ours."""
        key = self.address.key
        return ((key, None),) if not key or key.endswith("/") else ((key, 1), (f"{key}/", None))

    def fetch(self, wanted: ListedObject, target: BinaryIO, *, ended: Callable[[], bool]) -> None:
        """Write the object's bytes, as the listing told of them; StoppedError where `ended` says so, or the user.

        Raises ObjectSkippedError where it is another one now or may not be read, StoreError where the store is gone.
        """
        with explained(f"read {StoreAddress(self.address.bucket, wanted.key).shown!r}"):
            from botocore.exceptions import ClientError

            try:
                reply = self._fetching.get_object(Bucket=self.address.bucket, Key=wanted.key, IfMatch=f'"{wanted.tag}"')
            except ClientError as error:
                raise ObjectSkippedError(_why_not(error.response)) from error
            with closing(reply["Body"]) as body:
                size, digest = _copy(body, target, ended)
        if size != wanted.size_bytes or (_tag_is_md5(wanted.tag, reply) and digest != wanted.tag):
            raise ObjectSkippedError("what came is not what the store lists; the next ingest tries again")

    @cached_property
    def _fetching(self) -> Any:  # noqa: ANN401 - boto3 makes its classes when it runs
        return make_client(ATTEMPTS)


def _copy(body: Any, target: BinaryIO, ended: Callable[[], bool]) -> tuple[int, str]:  # noqa: ANN401
    size, digest = 0, hashlib.md5(usedforsecurity=False)
    while piece := body.read(READ_BYTES):
        if ended():
            raise StoppedError
        _go_on()
        target.write(piece)
        digest.update(piece)
        size += len(piece)
    return size, digest.hexdigest()


def _go_on() -> None:
    if stop_requested():
        raise StoppedError


def _why_not(response: Any) -> str:  # noqa: ANN401
    code = str(response.get("Error", {}).get("Code", ""))
    if code in ABSENT | REFUSED:
        return "it changed while it was fetched; the next ingest reads it"
    return f"the store refuses it ({code}); {remedy_for(code)}"


def _tag_is_md5(tag: str, reply: Any) -> bool:  # noqa: ANN401
    """Say whether the tag is the MD5 of the bytes: not of what came in parts, nor of what the store encrypts with another's key."""
    ours = reply.get("ServerSideEncryption", "AES256") == "AES256" and "SSECustomerAlgorithm" not in reply
    return ours and MD5.fullmatch(tag) is not None


def is_mark(found: ListedObject) -> bool:
    """Say whether an object only marks a folder, as consoles make them."""
    return found.key.endswith("/") and not found.size_bytes


def reason_against(found: ListedObject, address: StoreAddress, *, most_bytes: int) -> str:
    """Return why an object below the address is not to be fetched, "" where it may be a document."""
    parts = found.key.split("/")
    if any(part.startswith(".") and part.strip(".") for part in parts if not part.startswith("..")):
        return "hidden; name it to have it read" if found.key != address.key else ""
    if not parts[-1]:
        return "its key ends in '/': the mark of a folder, not a document"
    if found.size_bytes > most_bytes:
        return f"larger than {most_bytes >> 20} MB (limits.file_megabytes)"
    return ""


FETCHED_AT_ONCE = 8
"""A store answers in some 30 ms; more at once gains little on one machine's line."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """What is about to be fetched from below an address, as that is shown."""

    shown: str
    objects: int
    size_bytes: int


Tell = Callable[[Ahead], None]


def tell_nobody(_ahead: Ahead) -> None:
    """Hear it where nobody waits for it."""


def fetch_all(source: ObjectSource, wanted: Mapping[ListedObject, Path], folder: Path, tell: Tell) -> dict[str, str]:
    """Fetch each object to its path in the folder; return by key why some could not be, "" for the others.

    `tell` hears of it before. Raises StoreError, DiskFullError or StoppedError; what was fetched by then is kept.
    """
    if not wanted:
        return {}
    needed_bytes = sum(found.size_bytes for found in wanted)
    require_room(folder, needed_bytes)
    tell(Ahead(source.address.shown, len(wanted), needed_bytes))
    ending = threading.Event()

    def one(found: ListedObject) -> str:
        try:
            with written_durably(wanted[found]) as stream:
                source.fetch(found, stream, ended=ending.is_set)
        except ObjectSkippedError as error:
            return f"{UNREADABLE}: {error}"
        return ""

    with full_disk_explained(folder, needed_bytes), ThreadPoolExecutor(FETCHED_AT_ONCE) as pool:
        try:
            return dict(zip((found.key for found in wanted), pool.map(one, wanted), strict=True))
        finally:
            # After an error or Ctrl-C, what is at work ends and what waits never begins.
            ending.set()
