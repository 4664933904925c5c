"""Documents in an object store: what lies below an address, and the bytes of one object, checked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

from storage.object_address import StoreAddress
from storage.object_client import ABSENT, ATTEMPTS, FIRST_ATTEMPTS, REFUSED, explained, make_client, remedy_for
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
