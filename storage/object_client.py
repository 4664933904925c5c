"""The client of an object store: how long it waits, and what is said where the store does not answer or refuses us.

boto3 is loaded at the first request; it finds endpoint, region and keys where it always does, in the environment first.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from storage.codec import without_sign_in

CONNECT_SECONDS, READ_SECONDS = 3.0, 20.0
"""For a connection, and between two signs of life on one; to delete a thousand objects takes a busy store some seconds."""
ATTEMPTS = 4
"""A store that answered before may be busy now and then; with the pauses between them they last some seconds."""
FIRST_ATTEMPTS = 2
"""Of what is asked first, while somebody waits: a store that is not there is said to be so at once."""

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


class StoreError(RuntimeError):
    """An object store that cannot be reached or that refuses us; nothing is left half done.

    The message names what was to be done and the address, the cause with the store's code for it, and the remedy.
    """


def failure(doing: str, code: str, cause: str) -> StoreError:
    """Return the error for what could not be done; the code is the store's own, or the kind of boto3's error."""
    # boto3 repeats the endpoint.
    said = without_sign_in(" ".join(cause.split()).rstrip(".").replace(";", ","))
    return StoreError(f"cannot {doing}: {said} ({code}); {remedy_for(code)}")


def remedy_for(code: str) -> str:
    return REMEDIES.get(code, REMEDY)


def make_client(attempts: int) -> Any:  # noqa: ANN401 - boto3 makes its classes when it runs
    """Return a client, which many threads may use, with the credentials as they are now. To be made inside `explained`."""
    import boto3
    from botocore.config import Config

    retries = {"total_max_attempts": attempts, "mode": "standard"}
    bounds = Config(connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, retries=retries)
    return boto3.session.Session().client("s3", config=bounds)


@contextmanager
def explained(doing: str, *, quiet_where: Collection[str] = ()) -> Iterator[None]:
    """Turn every way in which boto3 fails into a StoreError; end the block in silence where the store answers with these codes.

    `doing` is what is being done to which address, as a sentence goes on after "cannot".
    """
    try:
        import boto3  # noqa: F401 - botocore may be there without it
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise StoreError(f"cannot {doing}: boto3 is not installed; run: pip install 'flowreader[s3]'") from error
    try:
        yield
    except ClientError as error:
        told = error.response["Error"]
        code = str(told.get("Code") or type(error).__name__)
        if code not in quiet_where:
            raise failure(doing, code, str(told.get("Message") or error)) from error
    except (BotoCoreError, ValueError) as error:
        # An endpoint that is no address is a bare ValueError.
        raise failure(doing, type(error).__name__, str(error)) from error
