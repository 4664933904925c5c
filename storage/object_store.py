"""An object store that several machines share: a part of an S3 bucket whose objects are put only where nobody else was faster.

The condition is the store's own (If-None-Match, If-Match), so it holds between machines.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from storage.object_address import StoreAddress
from storage.object_client import client, explained, failure

DELETE_AT_ONCE = 1000
"""What S3 takes in one request."""
ABSENT = frozenset({"404", "NoSuchKey", "NotFound"})
REFUSED = frozenset({"412", "PreconditionFailed", "409", "ConditionalRequestConflict"})


@dataclass(frozen=True, slots=True)
class Stored:
    """An object's bytes and the tag that changes with them."""

    data: bytes
    tag: str


@dataclass(frozen=True, slots=True)
class Look:
    """What a store says of an object: how many bytes it has, and its tag."""

    size_bytes: int
    tag: str


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """The objects below an address. Every method raises StoreError where the store does not answer or refuses us."""

    address: StoreAddress

    def read(self, name: str) -> Stored | None:
        """Return the object, None where there is none."""
        with self._asked("read", name, none_where=ABSENT) as s3:
            got = s3.get_object(Bucket=self.address.bucket, Key=self._key(name))
            return Stored(got["Body"].read(), str(got["ETag"]))
        return None

    def look(self, name: str) -> Look | None:
        """Return what is to be known of the object without reading it, None where there is none."""
        with self._asked("look at", name, none_where=ABSENT) as s3:
            got = s3.head_object(Bucket=self.address.bucket, Key=self._key(name))
            return Look(int(got["ContentLength"]), str(got["ETag"]))
        return None

    def put(self, name: str, data: bytes, *, over: str | None) -> str | None:
        """Put the object where there is none, or over the one with the tag `over`; return its tag, None where that is not so.

        None may also mean that our own put went through and its answer was lost, so that it was sent again: who minds reads.
        """
        condition = {"IfNoneMatch": "*"} if over is None else {"IfMatch": over}
        with self._asked("put", name, none_where=ABSENT | REFUSED) as s3:
            return str(s3.put_object(Bucket=self.address.bucket, Key=self._key(name), Body=data, **condition)["ETag"])
        return None

    def names(self, below: str) -> Iterator[str]:
        """Yield the names of all objects that begin so, in order."""
        with self._asked("list", below) as s3:
            pages = s3.get_paginator("list_objects_v2").paginate(Bucket=self.address.bucket, Prefix=self._key(below))
            for page in pages:
                for entry in page.get("Contents", ()):
                    yield entry["Key"].removeprefix(self._key(""))

    def folders(self, below: str) -> list[str]:
        """Return what stands between `below`, which ends in a slash, and the next slash of the names that begin so, in order."""
        begin = self._key(below)
        with self._asked("list", below) as s3:
            listing = s3.get_paginator("list_objects_v2")
            pages = listing.paginate(Bucket=self.address.bucket, Prefix=begin, Delimiter="/")
            return [entry["Prefix"].removeprefix(begin)[:-1] for page in pages for entry in page.get("CommonPrefixes", ())]

    def delete(self, names: Sequence[str]) -> None:
        """Delete the objects; one that is not there is no error."""
        for first in range(0, len(names), DELETE_AT_ONCE):
            keys = [{"Key": self._key(name)} for name in names[first : first + DELETE_AT_ONCE]]
            with self._asked("delete", names[first]) as s3:
                refused = s3.delete_objects(Bucket=self.address.bucket, Delete={"Objects": keys, "Quiet": True}).get("Errors")
            if refused:
                told = refused[0]
                raise failure(self._doing("delete", names[first]), str(told.get("Code", "")), str(told.get("Message", "refused")))

    def _key(self, name: str) -> str:
        return self.address.below(name).key

    @contextmanager
    def _asked(self, what: str, name: str, *, none_where: Collection[str] = ()) -> Iterator[Any]:
        """Give the client; end the block in silence where the store answers with one of these codes, else with a StoreError."""
        with explained(self._doing(what, name), quiet_where=none_where):
            yield client()

    def _doing(self, what: str, name: str) -> str:
        return f"{what} {self.address.below(name).uri!r} of FLOWREADER_STORE"


def lance_options() -> dict[str, str]:
    """Return what LanceDB, which finds the rest in the environment, must be told: that an endpoint without TLS is meant so."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    return {"aws_endpoint": endpoint, "allow_http": str(endpoint.startswith("http://")).lower()} if endpoint else {}
