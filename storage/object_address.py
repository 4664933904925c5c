"""Addresses in object stores, `s3://BUCKET/KEY`: what they name, and how they are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

from storage.errors import RequestError
from storage.text import escape_unprintable

SCHEME = "s3://"
CREDENTIALS = re.compile(f"{SCHEME}(?!arn:)[^/]*[:@]")
"""No bucket's name holds a colon or an `@`, unless it is an access point's; a password may hold a slash."""

WITHOUT_CREDENTIALS = (
    "write s3://BUCKET/PREFIX/ alone, and give the credentials in the environment "
    "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or in AWS's own files"
)


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A bucket, and the key of an object or of all objects below it; the key "" is the whole bucket."""

    bucket: str
    key: str

    @property
    def uri(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}" if self.key else f"{SCHEME}{self.bucket}"

    @property
    def shown(self) -> str:
        """The address fit for the catalog and a terminal; no two addresses are shown alike."""
        return StoreAddress(_printable(self.bucket), _printable(self.key)).uri

    def below(self, name: str) -> StoreAddress:
        """Return the place of that name inside this one, as inside a folder."""
        return StoreAddress(self.bucket, f"{self.key}/{name}".lstrip("/"))

    def holds(self, key: str) -> bool:
        """Say whether a key is this one or lies below it, as a file is a folder's: `a` holds `a` and `a/b`, never `ab`."""
        return not self.key or key == self.key or key.startswith(self.key if self.key.endswith("/") else f"{self.key}/")

    def inner(self, key: str) -> str:
        """Return what globs match: the key without this prefix, or its last part where it is the very object."""
        return key[len(self.key) :].lstrip("/") or key.rsplit("/", 1)[-1]


def is_address(source: str) -> bool:
    """Say whether a source lies in an object store; else it is a path."""
    return source.startswith(SCHEME)


def store_address(source: str) -> StoreAddress:
    """Return what `s3://BUCKET`, `s3://BUCKET/PREFIX/` or `s3://BUCKET/KEY` names; RequestError repeats no secret."""
    bucket, _, key = source.removeprefix(SCHEME).partition("/")
    if CREDENTIALS.match(source):
        raise RequestError("an s3 address holds a user or a password", remedy=WITHOUT_CREDENTIALS)
    if not bucket:
        raise RequestError(f"{source!r} names no bucket", source, "write s3://BUCKET/PREFIX/")
    return StoreAddress(bucket=bucket, key=key)


def check_source(source: str) -> str:
    """Return the source, a path or an address, as it is; raise RequestError where it is an address that cannot be used."""
    if is_address(source):
        store_address(source)
    return source


def _printable(text: str) -> str:
    return escape_unprintable(text.replace("\\", "\\\\"))
