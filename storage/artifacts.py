"""Artifacts by content hash: page images, crops, parsed output. Written whole or not at all, checked whenever read."""

import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from storage.errors import ExpectedError
from storage.locations import artifacts_folder
from storage.system import explain_full_disk


class ArtifactDamagedError(ExpectedError):
    """An artifact is missing, torn or altered; the step that made it must make it again."""


def hash_bytes(data: bytes) -> str:
    """Return the name that an artifact of these bytes has."""
    return hashlib.sha256(data).hexdigest()


PARTIAL = ".partial-"


def write_durably(path: Path, data: bytes, *, synced: bool = True) -> None:
    """Replace the file by `data`, as `replace_durably` does."""
    with replace_durably(path, synced=synced) as stream:
        stream.write(data)


@contextmanager
def replace_durably(path: Path, *, synced: bool = True) -> Iterator[io.BufferedRandom]:
    """Replace the file by what the block writes, in one step that survives a power cut: write, fsync, rename, fsync the folder.

    Where it is not `synced` it survives a kill only: for what is checked when it is read and can be made again.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=PARTIAL, dir=path.parent)
    try:
        with os.fdopen(descriptor, "w+b") as stream:
            yield stream
            if synced:
                stream.flush()
                os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    if synced:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the renames in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class ArtifactStore:
    """A folder of artifacts, each under the hash of its bytes; `synced` ones survive a power cut."""

    folder: Path
    synced: bool = True

    def path(self, name: str) -> Path:
        """Return where the artifact lies, whether or not it is there."""
        return self.folder / name[:2] / name

    def put(self, data: bytes) -> str:
        """Keep the bytes and return their hash; what is already there intact only gets young again, for clean-up is by age."""
        name = hash_bytes(data)
        path = self.path(name)
        try:
            os.utime(path)
            sound = hash_bytes(path.read_bytes()) == name
        except FileNotFoundError:
            sound = False
        if not sound:
            with explain_full_disk(self.folder, len(data)):
                write_durably(path, data, synced=self.synced)
        return name

    def read(self, name: str) -> bytes:
        """Return the bytes; raise ArtifactDamagedError where they are gone or are not what the name says."""
        try:
            data = self.path(name).read_bytes()
        except FileNotFoundError:
            raise ArtifactDamagedError(f"artifact {name} is missing", remedy="ingest its document again") from None
        if hash_bytes(data) != name:
            raise ArtifactDamagedError(f"artifact {name} does not match its hash", remedy="ingest its document again")
        return data

    def intact(self, name: str) -> bool:
        """Say whether the artifact is there and matches its hash."""
        try:
            self.read(name)
        except ArtifactDamagedError:
            return False
        return True

    def files(self) -> Iterator[Path]:
        """Return every file in the store: artifacts under their names, and what a killed write left."""
        return (path for path in self.folder.glob("??/*") if path.is_file())


def home_artifacts() -> ArtifactStore:
    return ArtifactStore(artifacts_folder())
