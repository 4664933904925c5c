"""An object store that several machines share: a part of an S3 bucket whose objects are put only where nobody else was faster.

The condition is the store's own (If-None-Match, If-Match), so it holds between machines. boto3 is loaded at the first request; it
finds endpoint, region and keys where it always does, in the environment first.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from storage.object_address import StoreAddress

CONNECT_SECONDS = 5.0
"""A store that does not answer is told within a quarter of a minute: twice this and the pause between."""
READ_SECONDS = 30.0
ATTEMPTS = 3
DELETE_AT_ONCE = 1000
"""What S3 takes in one request."""
ABSENT = frozenset({"404", "NoSuchKey", "NotFound"})
REFUSED = frozenset({"412", "PreconditionFailed", "409", "ConditionalRequestConflict"})


class StoreError(RuntimeError):
    """An object store that cannot be reached or that refuses us; nothing is left half done."""


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
                raise self._failure("delete", names[first], str(refused[0].get("Message", "refused")))

    def _key(self, name: str) -> str:
        return self.address.below(name).key

    @contextmanager
    def _asked(self, what: str, name: str, *, none_where: Collection[str] = ()) -> Iterator[Any]:
        """Give the client; end the block in silence where the store answers with one of these codes, else with a StoreError."""
        s3 = client()
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield s3
        except (BotoCoreError, ClientError) as error:
            if not (isinstance(error, ClientError) and error.response["Error"]["Code"] in none_where):
                raise self._failure(what, name, str(error)) from error

    def _failure(self, what: str, name: str, reason: str) -> StoreError:
        return StoreError(
            f"cannot {what} {self.address.below(name).uri!r}: {reason}; "
            "look at FLOWREADER_STORE, AWS_ENDPOINT_URL, AWS_REGION and the keys, and run the same command again"
        )


@functools.cache
def client() -> Any:  # noqa: ANN401 - boto3 makes its classes at run time
    """Return this process's client, which many threads may use; raise StoreError where boto3 is not installed."""
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise StoreError("FLOWREADER_STORE is set and boto3 is not installed; pip install 'flowreader[s3]'") from error
    retries = {"max_attempts": ATTEMPTS, "mode": "standard"}
    return boto3.client("s3", config=Config(connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, retries=retries))


def lance_options() -> dict[str, str]:
    """Return what LanceDB, which finds the rest in the environment, must be told: that an endpoint without TLS is meant so."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    return {"aws_endpoint": endpoint, "allow_http": str(endpoint.startswith("http://")).lower()} if endpoint else {}
