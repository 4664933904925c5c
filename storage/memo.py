"""What was done already: for a document, a step and its key, the artifacts that came out of it."""

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from storage.artifacts import ArtifactDamagedError, ArtifactStore, write_durably
from storage.codec import CodecError, from_json, to_json
from storage.locations import CorpusLocation, artifacts_folder, steps_folder

HEXADECIMAL = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Note:
    """The artifacts that a step made, by name, and `within` them those that they refer to."""

    outputs: Mapping[str, str]
    within: tuple[str, ...]

    @property
    def artifacts(self) -> set[str]:
        return {*self.outputs.values(), *self.within}


@dataclass(frozen=True, slots=True)
class StepMemo:
    """A folder of one small file for each finished step of each document; shared by all corpora.

    Where it is `spare`, what cannot be kept or read is made again, and nothing fails for it.
    """

    folder: Path
    artifacts: ArtifactStore
    spare: bool = False

    def remember(self, document_id: str, step: str, key: str, outputs: Mapping[str, str], within: Iterable[str] = ()) -> None:
        """Note, as durably as the artifacts are, what the step made; hashes by name, as in Note."""
        note = to_json(Note(outputs, tuple(sorted(set(within)))))
        write_durably(self.path(document_id, step, key), note, synced=self.artifacts.synced)

    def lookup(self, document_id: str, step: str, key: str) -> dict[str, str] | None:
        """Return the step's artifacts; None where it was not done, or where one of them, or one within, is damaged."""
        note = read_note(self.path(document_id, step, key))
        with self.sparing():
            return dict(note.outputs) if note and all(map(self.artifacts.intact, note.artifacts)) else None
        return None

    @contextmanager
    def sparing(self) -> Iterator[None]:
        """Leave the block where something cannot be kept or read that is spare; else raise what it raises."""
        try:
            yield
        except (OSError, ArtifactDamagedError, CodecError):
            if not self.spare:
                raise

    def path(self, document_id: str, step: str, key: str) -> Path:
        return self.of_document(document_id) / f"{step}-{key}.json"

    def of_document(self, document_id: str) -> Path:
        return self.folder / document_id[:2] / document_id

    def documents(self) -> list[str]:
        return sorted(entry.name for entry in self.folder.glob("??/*") if HEXADECIMAL.fullmatch(entry.name))

    def artifacts_of(self, document_id: str) -> set[str]:
        notes = map(read_note, self.of_document(document_id).glob("*.json"))
        return {name for note in notes if note is not None for name in note.artifacts}

    def forget_step(self, document_id: str, step: str) -> None:
        """Drop what this step made of the document, whatever it was made of, as `forget` does."""
        for path in self.of_document(document_id).glob(f"{step}-*.json"):
            path.unlink(missing_ok=True)

    def forget(self, document_id: str) -> None:
        """Drop the document's notes; its artifacts become orphans unless something else names them."""
        shutil.rmtree(self.of_document(document_id), ignore_errors=True)


def home_memo(home: Path) -> StepMemo:
    return StepMemo(steps_folder(home), ArtifactStore(artifacts_folder(home)))


def question_memo(location: CorpusLocation, snapshot: int) -> StepMemo:
    """Return the memo of questions to one snapshot, in a folder that is deleted with it."""
    folder = location.question_folder(snapshot)
    return StepMemo(folder / "steps", ArtifactStore(folder / "artifacts", synced=False), spare=True)


def read_note(path: Path) -> Note | None:
    """Return what a note says, None where it is missing or damaged: then the step is done again."""
    try:
        return from_json(Note, path.read_bytes())
    except (OSError, CodecError):
        return None
