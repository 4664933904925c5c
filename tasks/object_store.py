"""An object store as far as it is read: what lies below an address, and the bytes of one object, checked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

from storage.object_address import StoreAddress
from tasks.progress import StoppedError, stop_requested

READ_BYTES = 1 << 20
CONNECT_SECONDS, READ_SECONDS = 3.0, 10.0
LISTING_ATTEMPTS, FETCHING_ATTEMPTS = 2, 5
"""A store that is not there is said to be so within some seconds; one that answered may be busy now and then."""

MD5 = re.compile(r"[0-9a-f]{32}")
REMEDIES = {
    "NoSuchBucket": "name a bucket that exists",
    "AccessDenied": "give the credentials the rights to list and to read there",
    "InvalidAccessKeyId": "give the credentials of this store: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, or AWS's own files",
    "SignatureDoesNotMatch": "give the credentials of this store: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, or AWS's own files",
    "ExpiredToken": "log in again",
    "PermanentRedirect": "set AWS_DEFAULT_REGION to the bucket's region",
    "NoCredentialsError": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "PartialCredentialsError": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, both",
    "ProfileNotFound": "set AWS_PROFILE to a profile of AWS's own files",
    "ParamValidationError": "name a bucket that exists",
}
REMEDY = "check the network and AWS_ENDPOINT_URL, and run the same command again, it goes on"


class ObjectStoreError(RuntimeError):
    """An object store cannot be read; the message names the address, the cause and the remedy."""


class ObjectSkippedError(Exception):
    """One object cannot be read, the others may; the message says why, in words for who looks for it."""


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object as a listing tells of it; the tag changes with its bytes."""

    key: str
    tag: str
    size_bytes: int


@dataclass(frozen=True)
class ObjectStore:
    """The store of an address, with the credentials and the endpoint that boto3 finds in the environment or AWS's own files."""

    address: StoreAddress

    def listed(self) -> Iterator[ListedObject]:
        """Yield every object at or below the address, by key; raise ObjectStoreError where that cannot be told."""
        with self._explained():
            pages = self._client(LISTING_ATTEMPTS).get_paginator("list_objects_v2")
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

        Raises ObjectSkippedError where it is another one now or may not be read, ObjectStoreError where the store is gone.
        """
        from botocore.exceptions import ClientError

        with self._explained():
            try:
                reply = self._fetching.get_object(Bucket=self.address.bucket, Key=wanted.key, IfMatch=f'"{wanted.tag}"')
            except ClientError as error:
                raise ObjectSkippedError(_why_not(error.response)) from error
            with closing(reply["Body"]) as body:
                size, digest = _copy(body, target, ended)
        if size != wanted.size_bytes or (_tag_is_md5(wanted.tag, reply) and digest != wanted.tag):
            raise ObjectSkippedError("what came is not what the store lists; the next ingest tries again")

    @cached_property
    def _session(self) -> Any:  # noqa: ANN401 - boto3 makes its classes when it runs
        import boto3

        return boto3.session.Session()

    @cached_property
    def _fetching(self) -> Any:  # noqa: ANN401
        return self._client(FETCHING_ATTEMPTS)

    def _client(self, attempts: int) -> Any:  # noqa: ANN401
        from botocore.config import Config

        bounds = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"total_max_attempts": attempts, "mode": "standard"},
        )
        return self._session.client("s3", config=bounds)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn every way in which boto3 fails into an ObjectStoreError."""
        try:
            from boto3.exceptions import Boto3Error
            from botocore.exceptions import BotoCoreError, ClientError
        except ImportError as error:
            raise ObjectStoreError(
                f"{self.address.shown!r} cannot be read: boto3 is not installed; run: pip install 'flowreader[s3]'"
            ) from error
        try:
            yield
        except (BotoCoreError, ClientError, Boto3Error, ValueError) as error:
            told = error.response["Error"] if isinstance(error, ClientError) else {}
            kind = told.get("Code") or type(error).__name__
            cause = " ".join(str(told.get("Message") or error).split()).rstrip(".").replace(";", ",")
            raise ObjectStoreError(
                f"{self.address.shown!r} cannot be read: {cause} ({kind}); {REMEDIES.get(kind, REMEDY)}"
            ) from error


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
    if code in {"NoSuchKey", "404", "PreconditionFailed", "412"}:
        return "it changed while it was fetched; the next ingest reads it"
    return f"the store refuses it ({code}); give the rights to read it"


def _tag_is_md5(tag: str, reply: Any) -> bool:  # noqa: ANN401
    """Say whether the tag is the MD5 of the bytes: not of what came in parts, nor of what the store encrypts with another's key."""
    ours = reply.get("ServerSideEncryption", "AES256") == "AES256" and "SSECustomerAlgorithm" not in reply
    return ours and MD5.fullmatch(tag) is not None
