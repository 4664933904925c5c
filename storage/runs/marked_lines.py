"""Records as lines that each prove themselves: a key, the hash of what the line says, and the record in JSON.

A file of such lines is appended to and never mended: what a kill, a full disk or a flipped bit spoilt is left out when it is read.
"""

from collections.abc import Iterator
from typing import TypeVar

from storage.artifacts import hash_bytes
from storage.codec import CodecError, from_json, to_json
from storage.memo import HEXADECIMAL

T = TypeVar("T")


def marked_line(key: str, record: object) -> bytes:
    """Return the record's line; raise ValueError where `key` is no hash, CodecError where no bytes can hold the record."""
    if not HEXADECIMAL.fullmatch(key):
        raise ValueError(f"{key!r} is no key of {type(record).__name__}; keys are SHA-256 in hexadecimal")
    body = to_json(record)
    return b" ".join((key.encode(), _mark(key, body), body)) + b"\n"


def read_marked(kind: type[T], data: bytes) -> dict[str, T]:
    """Return the records of the lines that are as they were written, by key; the last one of a key counts."""
    return dict(_whole(kind, data.split(b"\n")))


def _whole(kind: type[T], lines: list[bytes]) -> Iterator[tuple[str, T]]:
    for line in lines:
        key, _, rest = line.partition(b" ")
        mark, _, body = rest.partition(b" ")
        try:
            if mark == _mark(key.decode(), body):
                yield key.decode(), from_json(kind, body)
        except (UnicodeDecodeError, CodecError):
            continue


def _mark(key: str, body: bytes) -> bytes:
    return hash_bytes(key.encode() + b" " + body).encode()
