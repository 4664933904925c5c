"""The client of object stores: what lies below an address, the bytes of an object, and an error where the store fails us.

boto3 is loaded at the first request; it finds endpoint, region and keys where it always does, in the environment first.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, BinaryIO

from storage.errors import ExpectedError
from storage.object_address import StoreAddress
from storage.text import without_sign_in

CONNECT_SECONDS, READ_SECONDS = 3.0, 20.0
"""For a connection, and between two signs of life on one; to delete a thousand objects takes a busy store some seconds."""
ATTEMPTS = 4
"""A store that answered before may be busy now and then; with the pauses between them they last some seconds."""
FIRST_ATTEMPTS = 2
"""Of a command's first request, while its user waits: a store that is not there is an error at once."""

ABSENT = frozenset({"404", "NoSuchKey", "NotFound"})
REFUSED = frozenset({"412", "PreconditionFailed", "409", "ConditionalRequestConflict"})
"""What a store answers where an object is not there, or is not as a conditional request wants it."""

RIGHTS = "give the credentials the rights to list and to read there, and for `corpora push` those to write and to delete"
KEYS = "give the credentials of this store: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, or AWS's own files"
REMEDIES = {
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
}
REMEDY = "check the network and AWS_ENDPOINT_URL, and run the same command again, it goes on"


class StoreError(ExpectedError):
    """An object store that cannot be reached or that refuses us; nothing is left half done.

    The message names what was to be done and the address, the cause with the store's code for it, and the remedy.
    """


def failure(doing: str, code: str, cause: str) -> StoreError:
    """Return the error for what could not be done; the code is the store's own, or the kind of boto3's error."""
    # boto3 repeats the endpoint.
    words = without_sign_in(" ".join(cause.split()).rstrip(".").replace(";", ","))
    return StoreError(f"cannot {doing}: {words} ({code}); {remedy_for(code)}")


def remedy_for(code: str) -> str:
    return REMEDIES.get(code, REMEDY)


def make_client(attempts: int) -> Any:  # noqa: ANN401 - boto3 makes its classes when it runs
    """Return a client, which many threads may use, with the credentials as they are now. To be made inside `explained`."""
    import boto3
    from botocore.config import Config

    retries = {"total_max_attempts": attempts, "mode": "standard"}
    bounds = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries=retries,
        # else each download begins with a request for the checksum
        response_checksum_validation="when_required",
    )
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
    """Yield every object at or below the address, by key. To be used inside `explained`."""
    key = address.key
    # Of all keys that begin with `a`, `a` is the first, and `ab` is none of ours.
    listings = ((key, None),) if not key or key.endswith("/") else ((key, 1), (f"{key}/", None))
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
    tag: str | None = None,
) -> None:
    """Write the object's bytes to a stream that can seek; what is cut on the way goes on. To be used inside `explained`.

    With a `tag`, s3transfer's S3DownloadFailedError where the object has another one by now. What `moved` raises ends the fetch; it
    gets the bytes of each part, and takes them back where a part is fetched again.
    """
    from boto3.s3.transfer import TransferConfig, create_transfer_manager

    pinned = None if tag is None else f'"{tag}"'
    subscriber = SimpleNamespace(
        on_queued=lambda future, **_: future.meta.provide_object_etag(pinned),
        on_progress=lambda bytes_transferred, **_: moved(bytes_transferred),
    )
    config = TransferConfig(use_threads=False, num_download_attempts=ATTEMPTS, preferred_transfer_client="classic")
    with create_transfer_manager(client, config) as manager:
        manager.download(address.bucket, address.key, stream, subscribers=[subscriber]).result()


@contextmanager
def explained(doing: str, *, quiet_where: Collection[str] = ()) -> Iterator[None]:
    """Turn every way in which boto3 fails into a StoreError; end the block in silence where the store answers with these codes.

    `doing` is what is being done to which address, as a sentence goes on after "cannot".
    """
    try:
        import boto3  # noqa: F401 - botocore may be there without it
        from botocore.exceptions import BotoCoreError, ClientError
        from s3transfer.exceptions import RetriesExceededError, S3DownloadFailedError, S3ValidationError
    except ImportError as error:
        raise StoreError(f"cannot {doing}: boto3 is not installed; run: pip install 'flowreader[s3]'") from error
    try:
        yield
    except ClientError as error:
        refusal = error.response["Error"]
        code = str(refusal.get("Code") or type(error).__name__)
        if code not in quiet_where:
            raise failure(doing, code, str(refusal.get("Message") or error)) from error
    except RetriesExceededError as error:
        raise failure(doing, type(error.last_exception).__name__, str(error.last_exception)) from error
    except (S3DownloadFailedError, S3ValidationError) as error:
        raise failure(doing, type(error).__name__, "it changed while it was read") from error
    except (BotoCoreError, ValueError) as error:
        # An endpoint that is no address is a bare ValueError.
        raise failure(doing, type(error).__name__, str(error)) from error
