"""The objects below an address: read, put where no other push was faster, sent from files and fetched into them.

Every method raises StoreError where the store does not answer or refuses us.
"""

import hashlib
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

from storage.artifacts import written_durably
from storage.object_address import StoreAddress
from storage.object_client import ABSENT, ATTEMPTS, REFUSED, StoreError, explained, failure, fetch_object, list_objects, make_client

DELETE_AT_ONCE = 1000
"""What S3 takes in one request."""
PROBE = "CONDITIONAL-PUTS"
NO_TAG = '"0"'
"""No object has this tag."""


class ObjectPrefix:
    """The objects below an address; many threads may use it."""

    def __init__(self, address: StoreAddress) -> None:
        self.address = StoreAddress(address.bucket, address.key.rstrip("/"))

    @cached_property
    def _s3(self) -> Any:  # noqa: ANN401 - boto3 makes its classes when it runs
        return make_client(ATTEMPTS)

    def uri(self, name: str) -> str:
        return self.address.below(name).uri

    def read(self, name: str) -> tuple[bytes | None, str]:
        """Return the object and the tag that changes with it, None where there is none."""
        with self._asked("read", name, none_where=ABSENT):
            got = self._s3.get_object(**self._named(name), ChecksumMode="ENABLED")
            return got["Body"].read(), str(got["ETag"])
        return None, ""

    def put(self, name: str, data: bytes, *, over: str) -> bool:
        """Put the object where there is none, or over the one with the tag `over`; say whether that was so.

        False may also mean that our own put went through and its answer was lost, so that it was sent again: read it to know.
        """
        condition = {"IfMatch": over} if over else {"IfNoneMatch": "*"}
        with self._asked("put", name, none_where=ABSENT | REFUSED):
            self._s3.put_object(**self._named(name), Body=data, **condition)
            return True
        return False

    def require_conditions(self) -> None:
        """Raise StoreError where the store puts an object whatever was asked of the one before; a small object stays there."""
        self.put(PROBE, b"", over="")
        if self.put(PROBE, b"", over="") or self.put(PROBE, b"", over=NO_TAG):
            raise StoreError(
                f"the store of {self.address.uri!r} knows no conditional puts (If-None-Match, If-Match), without which two pushes "
                "could mix; take a store that knows them"
            )

    def send(self, name: str, path: Path, moved: Callable[[int], None]) -> None:
        """Put a file, of any size, whatever is there."""
        with path.open("rb") as stream, self._asked("put", name):
            from boto3.s3.transfer import TransferConfig

            self._s3.upload_fileobj(stream, **self._named(name), Callback=moved, Config=TransferConfig(use_threads=False))

    def fetch(self, name: str, path: Path, sha256: str, moved: Callable[[int], None]) -> bool:
        """Make the file what the object holds, in one step that survives a power cut; False where there is none.

        Raise StoreError where the object does not match its hash.
        """
        with self._asked("read", name, none_where=ABSENT), written_durably(path) as stream:
            fetch_object(self._s3, self.address.below(name), stream, moved)
            stream.seek(0)
            if hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
                raise failure(f"read {self.uri(name)!r}", "damaged", "it does not match its hash")
            return True
        return False

    def sizes(self, below: str) -> dict[str, int]:
        """Return how many bytes each object has whose name begins so, which ends in a slash."""
        with self._asked("list", below):
            start = self.address.below("").key
            return {each.key.removeprefix(start): each.size_bytes for each in list_objects(self._s3, self.address.below(below))}

    def delete(self, names: Sequence[str]) -> None:
        """Delete the objects; one that is not there is no error."""
        for first in range(0, len(names), DELETE_AT_ONCE):
            keys = [{"Key": self.address.below(name).key} for name in names[first : first + DELETE_AT_ONCE]]
            with self._asked("delete", names[first]):
                reply = self._s3.delete_objects(Bucket=self.address.bucket, Delete={"Objects": keys, "Quiet": True})
            for refused in reply.get("Errors", ())[:1]:
                raise failure(f"delete {self.uri(names[first])!r}", str(refused["Code"]), str(refused.get("Message", "refused")))

    def _named(self, name: str) -> dict[str, str]:
        return {"Bucket": self.address.bucket, "Key": self.address.below(name).key}

    def _asked(self, what: str, name: str, *, none_where: Collection[str] = ()) -> AbstractContextManager[None]:
        """End the block in silence where the store answers with one of these codes, else with a StoreError."""
        return explained(f"{what} {self.uri(name)!r}", quiet_where=none_where)
