"""What an evaluation asked already, so that one that was stopped goes on where it stood: one file for each of its arms.

The answers quote the corpus's documents. An evaluation keeps them before it lets go of the snapshot: a removal drops all of
them, and again when its last reader is gone. Nothing is lost by that: their keys name the documents as they were.
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from storage.codec import canonical_json
from storage.errors import ExpectedError
from storage.memo import HEXADECIMAL
from storage.records.evaluations import Asked
from storage.runs.log import append_lines
from storage.runs.replies import marked_line, read_marked
from storage.system import explain_full_disk


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """A folder in that of the corpus, with a file for each arm; safe for many threads and processes."""

    folder: Path

    def keep(self, arm: str, asked: Iterable[Asked]) -> None:
        """Keep all of them in one write; raise DiskFullError where they do not fit, ExpectedError where the corpus is gone.

        Raise ValueError where the arm's name, or a key, is no hash.
        """
        path, lines = self.path(arm), b"".join(marked_line(each.key, each) for each in asked)
        with explain_full_disk(self.folder, len(lines)):
            try:
                self.folder.mkdir(exist_ok=True)
                append_lines(path, lines)
            except FileNotFoundError as error:
                raise ExpectedError(
                    f"{str(self.folder)!r} is gone: its corpus was removed meanwhile",
                    str(self.folder),
                    "ingest the documents and evaluate again",
                ) from error

    def recall(self, arm: str) -> dict[str, Asked]:
        """Return all that was kept for an arm, by key; what a kill cut, or is damaged, is left out."""
        try:
            return read_marked(Asked, self.path(arm).read_bytes())
        except FileNotFoundError:
            return {}

    def path(self, arm: str) -> Path:
        """Return where an arm's questions lie; raise ValueError for anything that could leave the folder."""
        if not HEXADECIMAL.fullmatch(arm):
            raise ValueError(f"no place for the questions of arm {arm!r}; arms are named by SHA-256 in hexadecimal")
        return self.folder / f"{arm}.asked"

    def forget(self) -> None:
        for path in self.folder.glob("*.asked"):
            path.unlink(missing_ok=True)


def count_variants(path: Path, *, benchmark: str, code: str, variants: Sequence[str], **more: str) -> int:
    """Add a line to the log of what was tried, and return how many variants were tried so far on a benchmark, by its hash.

    A variant is settings, by their hash, and code; a line that a kill cut counts nothing.
    """
    line = {"benchmark": benchmark, "code": code, "variants": list(variants), **more}
    path.parent.mkdir(parents=True, exist_ok=True)
    append_lines(path, canonical_json(line) + b"\n")
    tried: set[tuple[str, str]] = set()
    for each in path.read_bytes().splitlines():
        with suppress(ValueError):
            found = json.loads(each)
            tried |= {(found["code"], variant) for variant in found["variants"] if found["benchmark"] == benchmark}
    return len(tried)
