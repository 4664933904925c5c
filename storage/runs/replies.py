"""Looking up kept replies again and again: of each owner's file only what was written since the last look is read.

What is remembered is where the reply to each key stands, some 250 bytes a reply; the words stay in the file until they are wanted.
"""

import os
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeVar

from storage.artifacts import hash_bytes
from storage.codec import CodecError, from_json, to_json
from storage.memo import HEXADECIMAL
from storage.records.documents import identify
from storage.runs.log import append_lines
from storage.system import explain_full_disk

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


def questions_owner(corpus: str) -> str:
    """Return the owner of the replies to a corpus's questions: they quote many documents, and are deleted with any of these."""
    return identify("questions", corpus)


@dataclass(frozen=True, slots=True)
class CachedReply:
    """The words of a reply, the model, what they took, and the hash of the prompt's file that asked for them."""

    text: str
    model: str
    input_tokens: int
    output_tokens: int
    prompt_hash: str = ""


@dataclass(frozen=True, slots=True)
class CallCache:
    """A folder of one file for each owner; safe for many threads and processes."""

    folder: Path

    def keep(self, subject: str, key: str, reply: CachedReply) -> None:
        """Keep the reply; raise DiskFullError where it does not fit, ValueError where `key` is no hash or the text no Unicode."""
        path, line = self.path(subject), marked_line(key, reply)
        with explain_full_disk(self.folder, len(line)):
            try:
                append_lines(path, line)
            except FileNotFoundError:
                path.parent.mkdir(parents=True, exist_ok=True)
                append_lines(path, line)

    def recall(self, subject: str) -> dict[str, CachedReply]:
        """Return all that was kept for a document or question, by key; what is damaged is left out."""
        try:
            return read_marked(CachedReply, self.path(subject).read_bytes())
        except FileNotFoundError:
            return {}

    def path(self, subject: str) -> Path:
        """Return where an owner's replies lie; raise ValueError for anything that could leave the folder."""
        if not HEXADECIMAL.fullmatch(subject):
            raise ValueError(f"no place for the replies of {subject!r}; owners are SHA-256 in hexadecimal")
        return self.folder / subject[:2] / f"{subject}.replies"

    def subjects(self) -> list[str]:
        return sorted(entry.stem for entry in self.folder.glob("??/*.replies"))

    def forget(self, subject: str) -> None:
        """Drop all replies of a document or question."""
        self.path(subject).unlink(missing_ok=True)


MOST_OWNERS = 64
"""Files with their lines' places in memory; the one not used for longest is dropped, and read anew when it is wanted."""

HEAD_BYTES = 129
"""Key and mark of a line: no other line begins with them."""


@dataclass(slots=True)
class _Places:
    """Where the last line to each key begins in a file, read up to the byte `end`; `last` begins its last line, at `last_place`."""

    file: tuple[int, int]
    by_key: dict[str, int] = field(default_factory=dict)
    end: int = 0
    last: bytes = b""
    last_place: int = 0


class KeptReplies:
    """The replies of a cache, by owner and key; safe for many threads, and any process may write meanwhile."""

    def __init__(self, cache: CallCache) -> None:
        self._cache = cache
        self._owners: dict[str, _Places] = {}
        self._lock = threading.Lock()

    def find(self, subject: str, keys: Collection[str]) -> dict[str, CachedReply]:
        """Return those of the replies that are kept for the owner now; what is damaged is left out.

        A file that was forgotten, cut or replaced is read from its beginning.
        """
        with self._lock:
            known = self._owners.pop(subject, None)
            try:
                with self._cache.path(subject).open("rb") as stream:
                    places = self._owners[subject] = _up_to_date(known, stream)
                    while len(self._owners) > MOST_OWNERS:
                        del self._owners[next(iter(self._owners))]
                    wanted = sorted((places.by_key[key], key) for key in set(keys) if key in places.by_key)
                    found = {key: _reply_at(stream, place, key) for place, key in wanted}
            except FileNotFoundError:
                return {}
        return {key: reply for key, reply in found.items() if reply is not None}


def _up_to_date(known: _Places | None, stream: BinaryIO) -> _Places:
    """Return the places of the file as it is now; only whole lines count, for the last one may be half written."""
    status = os.fstat(stream.fileno())
    file = (status.st_dev, status.st_ino)
    places = known if known is not None and known.file == file and _still_holds(stream, known) else _Places(file)
    stream.seek(places.end)
    for line in stream:
        if not line.endswith(b"\n"):
            break
        places.by_key.update(dict.fromkeys(read_marked(CachedReply, line), places.end))
        places.last, places.last_place = line[:HEAD_BYTES], places.end
        places.end += len(line)
    return places


def _still_holds(stream: BinaryIO, known: _Places) -> bool:
    """Tell whether the last line that was read stands where it stood: the number of a deleted file is given to the next one."""
    stream.seek(known.last_place)
    return stream.read(len(known.last)) == known.last


def _reply_at(stream: BinaryIO, place: int, key: str) -> CachedReply | None:
    """Return the reply of the line that begins here; None where it is not the key's own any more."""
    stream.seek(place)
    return read_marked(CachedReply, stream.readline()).get(key)
