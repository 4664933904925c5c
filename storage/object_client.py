"""The client of object stores: what lies below an address, its bytes to read and to put, and an error where the store fails us.

boto3 is loaded at the first request; it finds endpoint, region, keys and how often to try where it always does, in the
environment first. Whatever is asked here raises StoreError where the store does not answer or refuses us.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

from storage.artifacts import replace_durably
from storage.errors import ExpectedError
from storage.object_address import StoreAddress
from storage.text import without_sign_in

CONNECT_SECONDS, READ_SECONDS = 3.0, 20.0
"""For a connection, and between two signs of life on one; to delete a thousand objects takes a busy store some seconds."""
DELETE_AT_ONCE = 1000
"""What S3 takes in one request."""

ABSENT = frozenset({"404", "NoSuchKey", "NotFound"})
CHANGED = "PreconditionFailed"
REFUSED = frozenset({"412", CHANGED, "409", "ConditionalRequestConflict"})
"""What a store answers where an object is not there, or is not as a conditional request wants it."""
PROBE = "CONDITIONAL-PUTS"
NO_TAG = '"0"'
"""No object has this tag."""

RIGHTS = "give the credentials the rights to list and to read there, and for `corpora push` those to write and to delete"
KEYS = "give the credentials of this store: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, or AWS's own files"
REMEDIES = {
    "NoSuchKey": "push the corpus to another prefix",
    "404": "push the corpus to another prefix",
    "NoSuchBucket": "name a bucket that exists",
    "InvalidBucketName": "name a bucket that exists",
    "ParamValidationError": "name a bucket that exists",
    "AccessDenied": RIGHTS,
    "403": RIGHTS,
    "InvalidAccessKeyId": KEYS,
    "SignatureDoesNotMatch": KEYS,
    "ExpiredToken": "log in again",
    "NotImplemented": "take a store that knows conditional puts (If-None-Match, If-Match)",
    "PermanentRedirect": "set AWS_DEFAULT_REGION to the bucket's region",
    "NoCredentialsError": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "PartialCredentialsError": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, both",
    "ProfileNotFound": "set AWS_PROFILE to a profile of AWS's own files",
    "ModuleNotFoundError": "run: pip install 'flowreader[s3]'",
}
REMEDY = "check the network and AWS_ENDPOINT_URL, and run the same command again, it goes on"


class StoreError(ExpectedError):
    """An object store that cannot be reached or that refuses us; nothing is left half done.

    The message names what was to be done and the address, and then why: the cause with its code, and the remedy. `refusal` is the
    code where it is the store's own, "" where it did not answer.
    """

    why = refusal = ""


def failure(doing: str, at: str, code: str, cause: str, *, refusal: str = "") -> StoreError:
    """Return the error for what could not be done; the code is the store's own, or the kind of boto3's error."""
    # boto3 repeats the endpoint.
    words = without_sign_in(" ".join(cause.split()).rstrip(".").replace(";", ","))
    remedy = REMEDIES.get(code, REMEDY)
    error = StoreError(f"cannot {doing} {at!r}: {words} ({code})", at, remedy)
    error.why, error.refusal = f"{words} ({code}); {remedy}", refusal
    return error


@contextmanager
def explain_failure(doing: str, at: str) -> Iterator[None]:
    """Turn every way in which boto3 fails into a StoreError; `doing` is what, to which address, as one goes on after "cannot"."""
    try:
        import boto3  # noqa: F401 - botocore may be there without it
        from botocore.exceptions import BotoCoreError, ClientError
        from s3transfer.exceptions import RetriesExceededError, S3DownloadFailedError, S3ValidationError
    except ImportError as error:
        raise failure(doing, at, type(error).__name__, "boto3 is not installed") from error
    try:
        yield
    except ClientError as error:
        told = error.response["Error"]
        code = str(told.get("Code") or type(error).__name__)
        raise failure(doing, at, code, str(told.get("Message") or error), refusal=code) from error
    except S3DownloadFailedError as error:
        raise failure(doing, at, CHANGED, "it changed while it was read", refusal=CHANGED) from error
    except (BotoCoreError, RetriesExceededError, S3ValidationError, ValueError) as error:
        # An endpoint that is no address is a bare ValueError.
        cause = getattr(error, "last_exception", error)
        raise failure(doing, at, type(cause).__name__, str(cause)) from error


@contextmanager
def quiet_where(codes: Collection[str]) -> Iterator[None]:
    """End the block in silence where the store answers with one of these codes."""
    try:
        yield
    except StoreError as error:
        if error.refusal not in codes:
            raise


def make_client(address: StoreAddress) -> Any:  # noqa: ANN401 - boto3 makes its classes when it runs
    """Return a client, which many threads may use, with the credentials as they are now."""
    with explain_failure("reach", address.shown):
        import boto3
        from botocore.config import Config

        # else each download begins with a request for the checksum
        bounds = Config(connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, response_checksum_validation="when_required")
        return boto3.session.Session().client("s3", config=bounds)


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as a listing has it; the tag changes with its bytes."""

    address: StoreAddress
    tag: str
    size_bytes: int

    @property
    def key(self) -> str:
        return self.address.key


def list_objects(client: Any, address: StoreAddress) -> Iterator[StoredObject]:  # noqa: ANN401
    """Yield every object at or below the address, by key."""
    key = address.key
    # Of all keys that begin with `a`, `a` is the first, and `ab` is none of ours.
    listings = ((key, None),) if not key or key.endswith("/") else ((key, 1), (f"{key}/", None))
    with explain_failure("list", address.shown):
        for prefix, most in listings:
            pages = client.get_paginator("list_objects_v2").paginate(
                Bucket=address.bucket, Prefix=prefix, PaginationConfig={"MaxItems": most}
            )
            for found in (found for page in pages for found in page.get("Contents", ())):
                if address.holds(found["Key"]):
                    yield StoredObject(StoreAddress(address.bucket, found["Key"]), found["ETag"].strip('"'), found["Size"])


def fetch_object(
    client: Any,  # noqa: ANN401
    address: StoreAddress,
    stream: BinaryIO,
    moved: Callable[[int], None],
    *,
    listed: StoredObject | None = None,
) -> None:
    """Write the object's bytes to a stream that can seek; what is cut on the way goes on.

    Where it is not as it was `listed` the refusal is CHANGED. What `moved` raises ends the fetch; it gets the bytes of each part,
    and takes them back where a part is fetched again.
    """
    with explain_failure("read", address.shown):
        from boto3.s3.transfer import TransferConfig, create_transfer_manager
        from s3transfer.exceptions import S3DownloadFailedError

        pinned = f'"{listed.tag}"' if listed else None
        subscriber = SimpleNamespace(
            on_queued=lambda future, **_: future.meta.provide_object_etag(pinned),
            on_progress=lambda bytes_transferred, **_: moved(bytes_transferred),
        )
        with create_transfer_manager(client, TransferConfig(use_threads=False, preferred_transfer_client="classic")) as manager:
            manager.download(address.bucket, address.key, stream, subscribers=[subscriber]).result()
        if listed and stream.seek(0, os.SEEK_END) != listed.size_bytes:
            # the store knows no conditions
            raise S3DownloadFailedError


class ObjectPrefix:
    """The objects below an address: put where no other push was faster, sent from files and fetched into them, by many threads."""

    def __init__(self, address: StoreAddress) -> None:
        self.address = StoreAddress(address.bucket, address.key.rstrip("/"))
        self._s3 = make_client(address)

    def uri(self, name: str) -> str:
        return self.address.below(name).uri

    def read(self, name: str) -> tuple[bytes | None, str]:
        """Return the object and the tag that changes with it, None where there is none."""
        with quiet_where(ABSENT), explain_failure("read", self.uri(name)):
            got = self._s3.get_object(**self._arguments(name), ChecksumMode="ENABLED")
            return got["Body"].read(), str(got["ETag"])
        return None, ""

    def put(self, name: str, data: bytes, *, over: str) -> bool:
        """Put the object where there is none, or over the one with the tag `over`; say whether that was so.

        False may also mean that our own put went through and its answer was lost, so that it was sent again: read it to know.
        """
        condition = {"IfMatch": over} if over else {"IfNoneMatch": "*"}
        with quiet_where(ABSENT | REFUSED), explain_failure("put", self.uri(name)):
            self._s3.put_object(**self._arguments(name), Body=data, **condition)
            return True
        return False

    def require_conditions(self) -> None:
        """Raise StoreError where the store puts an object whatever was asked of the one before; a small object stays there."""
        self.put(PROBE, b"", over="")
        if self.put(PROBE, b"", over="") or self.put(PROBE, b"", over=NO_TAG):
            raise failure("push to", self.address.uri, "NotImplemented", "without conditional puts two pushes could mix")

    def send(self, name: str, path: Path, moved: Callable[[int], None]) -> None:
        """Put a file, of any size, whatever is there."""
        with path.open("rb") as stream, explain_failure("put", self.uri(name)):
            from boto3.s3.transfer import TransferConfig

            self._s3.upload_fileobj(stream, **self._arguments(name), Callback=moved, Config=TransferConfig(use_threads=False))

    def fetch(self, name: str, path: Path, sha256: str, moved: Callable[[int], None]) -> None:
        """Make the file what the object holds, in one step that survives a power cut; StoreError where that has another hash."""
        with replace_durably(path) as stream:
            fetch_object(self._s3, self.address.below(name), stream, moved)
            stream.seek(0)
            if hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
                raise failure("read", self.uri(name), "damaged", "it does not match its hash")

    def sizes(self, below: str) -> dict[str, int]:
        """Return the size of each object below this name, which ends in a slash."""
        start = self.address.below("").key
        return {each.key.removeprefix(start): each.size_bytes for each in list_objects(self._s3, self.address.below(below))}

    def delete(self, names: Sequence[str]) -> None:
        """Delete the objects; one that is not there is no error."""
        for first in range(0, len(names), DELETE_AT_ONCE):
            keys = [{"Key": self.address.below(name).key} for name in names[first : first + DELETE_AT_ONCE]]
            doing, at = "delete", self.uri(names[first])
            with explain_failure(doing, at):
                reply = self._s3.delete_objects(Bucket=self.address.bucket, Delete={"Objects": keys, "Quiet": True})
            for refused in reply.get("Errors", ())[:1]:
                raise failure(doing, at, str(refused["Code"]), str(refused.get("Message", "refused")))

    def _arguments(self, name: str) -> dict[str, str]:
        return {"Bucket": self.address.bucket, "Key": self.address.below(name).key}
