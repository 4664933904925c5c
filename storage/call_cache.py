"""What models said: replies by the content of the call, each owned by the document or question it was asked for.

One file for each owner, written a whole line at a time like lineage: a kill costs the line in flight and no other, and a reply
is kept in a fraction of a millisecond, where a file of its own takes four. It is not flushed to the disk: a power cut may cost
the last replies, which are then asked for again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from storage.disk import full_disk_explained
from storage.marked_lines import marked_line, read_marked
from storage.memo import HEXADECIMAL
from storage.records import identify
from storage.runs import append_lines


def questions_owner(corpus: str) -> str:
    """Return who owns the replies to a corpus's questions: they hold words of many documents, and go when one of these goes."""
    return identify("questions", corpus)


@dataclass(frozen=True, slots=True)
class CachedReply:
    """The words of a reply, who said them, what they took, and the hash of the prompt's file that asked for them."""

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
        with full_disk_explained(self.folder, len(line)):
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
        """Return every document and question with replies."""
        return sorted(entry.stem for entry in self.folder.glob("??/*.replies"))

    def forget(self, subject: str) -> None:
        """Drop all replies of a document or question."""
        self.path(subject).unlink(missing_ok=True)
