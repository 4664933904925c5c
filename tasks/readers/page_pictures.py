"""Pictures of whole pages: kept when a page was read, else drawn again from a copy of its file, checked by hash."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from storage.artifacts import ArtifactDamagedError, ArtifactStore, hash_bytes, home_artifacts
from storage.corpus.snapshot import Snapshot
from storage.records.documents import DocumentRecord, DocumentState, Page, PageKey
from storage.system import open_plain
from tasks.asking.calls import call_book
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import PathText, Question
from tasks.finding.plan import real_path
from tasks.parsing.jobs import PDF
from tasks.parsing.parse import ParseError, render_page
from tasks.parsing.supervisor import ParserStartError
from tasks.settings.ingest import IngestSettings

SETTINGS = IngestSettings()
MODEL_DPI = 108
"""Of pages that a model is shown; a server's limit of pixels may make them smaller."""


class NoPictureError(LookupError):
    """A page or an element without a picture; the message tells the user why."""


def page_images(keys: Sequence[PageKey], snapshot: Snapshot, *, until: float | None = None) -> dict[PageKey, bytes]:
    """Return the pictures of these pages that can be had, as PNG or JPEG; what cannot be drawn is noted once.

    After the moment `until` of time.monotonic() no more are drawn.
    """
    documents = {record.id: record for record in snapshot.documents()}
    pages = {(page.document_id, page.number): page for document in {key[0] for key in keys} for page in snapshot.pages(document)}
    found, artifacts = dict[PageKey, bytes](), home_artifacts()
    with SourceCopies(SETTINGS.limits.file_megabytes) as copies:
        for key in keys:
            try:
                if until is not None and time.monotonic() >= until:
                    raise NoPictureError("no time was left to draw it")
                found[key] = page_bytes(artifacts, documents[key[0]], pages[key], copies, dpi=MODEL_DPI)
            except NoPictureError as error:
                if str(error) and (note := f"the model was not shown every page: {error}") not in call_book.get().notes:
                    call_book.get().notes.append(note)
    return found


def _hash_pages(texts: Sequence[PathText]) -> Mapping[str, str]:
    return {f"{document} {page}": hash_bytes(data) for text in texts for (document, page), data in text.pages.items()}


@question_step("show-pages", _hash_pages, retries=0)
def show_pages(_question: Question, texts: tuple[PathText, ...], context: AskContext, *, most: int) -> tuple[PathText, ...]:
    """Show the worthiest pages of each path whole, at most `most`."""

    def wanted(text: PathText) -> list[PageKey]:
        worthiest = sorted(text.nodes, key=lambda node: -text.worth[node.id])
        return list(dict.fromkeys((node.document_id, node.page) for node in worthiest))[:most]

    images = page_images([*dict.fromkeys(chain(*map(wanted, texts)))], context.snapshot, until=call_book.get().deadline)
    return tuple(replace(text, pages={key: images[key] for key in wanted(text) if key in images}) for text in texts)


async def with_pages(question: Question, texts: tuple[PathText, ...], context: AskContext, *, most: int) -> tuple[PathText, ...]:
    """Show whole pages, too, to a model that sees and is still asked."""
    if not context.reader.sees or call_book.get().over:
        return texts
    return await show_pages.submit(question, texts, context, most=most)


READ_BYTES = 1 << 20


class SourceCopies(ExitStack):
    """Copies of documents' files, made when they are first asked for and removed with the block."""

    def __init__(self, megabytes: int) -> None:
        super().__init__()
        self._most_bytes = megabytes << 20
        self._made: dict[str, Path | str] = {}

    @cached_property
    def _folder(self) -> str:
        """The folder of all copies; by its name a later parser finds what a kill left."""
        return self.enter_context(tempfile.TemporaryDirectory(prefix=f"flowreader-parse-{os.getpid()}-"))

    def of(self, document: DocumentRecord) -> Path:
        """Return a copy with the document's very bytes; raise NoPictureError, every time, where there is none."""
        if document.id not in self._made:
            try:
                self._made[document.id] = self._copy(document)
            except OSError as error:
                self._made[document.id] = f"the page cannot be drawn: {error}"
        made = self._made[document.id]
        if isinstance(made, str):
            raise NoPictureError(made)
        return made

    def _copy(self, document: DocumentRecord) -> Path | str:
        """Copy the first of the document's paths, as the catalog shows them, that still has its bytes; say why none has."""
        reason = "its file was moved or changed since it was read, so the page cannot be drawn"
        for found in filter(None, map(real_path, document.paths)):
            try:
                stream = open_plain(found)
            except OSError:
                continue
            with stream:
                if os.fstat(stream.fileno()).st_size > self._most_bytes:
                    reason = f"its file is larger than {self._most_bytes >> 20} MB (limits.file_megabytes)"
                    continue
                copy = Path(tempfile.mkdtemp(dir=self._folder)) / Path(found).name
                if self._copy_bytes(stream, copy) == document.id:
                    return copy
                copy.unlink()
        return reason

    def _copy_bytes(self, stream: BinaryIO, target: Path) -> str:
        """Copy the bytes, of a file that grows no more than allowed; return the hash of what was copied."""
        digest = hashlib.sha256()
        with target.open("xb") as copy:
            while copy.tell() <= self._most_bytes and (piece := stream.read(READ_BYTES)):
                digest.update(piece)
                copy.write(piece)
        return digest.hexdigest()


def read_kept_picture(artifacts: ArtifactStore, name: str) -> bytes:
    """Return a kept picture; raise NoPictureError where it is gone or damaged."""
    try:
        return artifacts.read(name)
    except ArtifactDamagedError as error:
        raise NoPictureError("its picture is missing or damaged; ingest the document again") from error


def page_bytes(artifacts: ArtifactStore, document: DocumentRecord, page: Page, copies: SourceCopies, *, dpi: int) -> bytes:
    """Return the page's picture, drawn from a copy of the file; raise NoPictureError where there is none and none can be."""
    if page.image:
        return read_kept_picture(artifacts, page.image)
    if document.media_type != PDF or page.width_points <= 0:
        raise NoPictureError("")
    try:
        return render_page(copies.of(document), page=page.number, dpi=dpi, settings=SETTINGS)
    except ParseError as error:
        locked = error.state is DocumentState.NEEDS_PASSWORD
        raise NoPictureError("its file is encrypted, so the page cannot be drawn" if locked else error.reason) from error
    except (OSError, ParserStartError) as error:
        raise NoPictureError(f"the page cannot be drawn: {error}") from error
