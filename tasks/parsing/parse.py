"""Reading a file into pages of blocks: in children with limits and no network, with a fallback for what misbehaves."""

import importlib.metadata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from storage.artifacts import ArtifactStore
from storage.records.documents import DocumentState, PageParser, ParsedDocument, identify
from tasks.parsing.jobs import ANSWER, PDF, SURVEYS, FileSurvey, Reading, Work, read_left_bytes, read_left_json
from tasks.parsing.jobs import ParseError as ParseError
from tasks.parsing.session import Session, read_page_ranges, session_for
from tasks.parsing.supervisor import Ending
from tasks.settings.ingest import IngestSettings, OcrSettings, ParseSettings

PARSING_VERSION = 5
"""Counts the changes of tasks/parsing that change what a document becomes."""


def parser_identity() -> str:
    """Return the names and versions of what reads documents; it enters their version."""
    versions = (f"{name} {importlib.metadata.version(name)}" for name in ("mineru", "pypdfium2", "pillow"))
    return ", ".join([*versions, f"reader {PARSING_VERSION}"])


def parse_inputs(document_id: str, parse: ParseSettings, ocr: OcrSettings) -> str:
    """Name all that decides what a file is parsed to: its bytes, the parser of this installation and its settings."""
    return identify(document_id, parser_identity(), parse.model_dump_json(), ocr.model_dump_json())


def parse_file(
    *,
    path: Path,
    document_id: str,
    password: str | None,
    settings: IngestSettings,
    artifacts: ArtifactStore,
    on_pages: Callable[[int, int], None],
) -> ParsedDocument:
    """Read the file into pages of blocks; pictures go into the artifacts. `on_pages(done, total)` is called from this thread.

    Pages without geometry (slides, sheets, DOCX, HTML, text) measure 0 by 0 points, their blocks' boxes are the whole page.
    A range of pages that MinerU cannot read within the limits is read again page by page, and such a page by pdfium's
    text layer; its `note` says why. Raises ParseError where no page can be read or the file is not `document_id` any more;
    OSError where the disk is full or the file cannot be read; ParserStoppedError once the children were stopped.
    """
    with session_for(path, settings=settings, document_id=document_id, password=password, artifacts=artifacts) as session:
        survey = _survey(session)
        on_pages(0, max(len(survey.page_labels), 1))
        reading = _read_pdf(session, survey, on_pages) if survey.media_type == PDF else _read_whole(session, survey)
        on_pages(len(reading.pages), len(reading.pages))
    return ParsedDocument(
        document_id=document_id,
        media_type=survey.media_type,
        title=survey.title or reading.title,
        pages=reading.pages,
        outline=survey.outline,
    )


def count_pages(path: Path, settings: IngestSettings) -> int | None:
    """Count a PDF's pages without reading them; None where the file is something else or cannot be opened."""
    try:
        with session_for(path, settings=settings) as session:
            return len(_survey(session).page_labels) or None
    except (ParseError, OSError):
        return None


def sample_file(
    *, path: Path, document_id: str, password: str | None, pages: int, settings: IngestSettings, artifacts: ArtifactStore
) -> tuple[ParsedDocument, int]:
    """Read `pages` from the middle of a PDF, or all of another document; return them and how many pages it has.

    Raises ParseError where they cannot be read, OSError where the file cannot.
    """
    with session_for(path, settings=settings, document_id=document_id, password=password, artifacts=artifacts) as session:
        survey = _survey(session)
        count = len(survey.page_labels)
        if survey.media_type == PDF:
            first = max(1, (count - pages) // 2 + 1)
            last = min(count, first + pages - 1)
            ending, folder = session.run(Work.MINERU, pages=last - first + 1, first=first, last=last)
            _check(ending, parser="MinerU")
            reading = session.take_answer(ending, folder) or Reading(title="", pages=())
        else:
            reading = _read_whole(session, survey)
    return ParsedDocument(document_id, survey.media_type, survey.title, reading.pages), count or len(reading.pages)


def render_page(path: Path, *, page: int, dpi: int, settings: IngestSettings) -> bytes:
    """Return a PDF's page (1-based) drawn at the resolution, as PNG or JPEG; raise ParseError where it cannot be drawn."""
    with open_pages(path, settings=settings) as draw:
        return draw(page, dpi)


@contextmanager
def open_pages(
    path: Path, *, settings: IngestSettings, document_id: str | None = None, password: str | None = None
) -> Iterator[Callable[[int, int], bytes]]:
    """Give what draws a PDF's pages by number and resolution, as PNG or JPEG, all from one copy of the file.

    Raises ParseError where the file cannot be opened, or is not the one named `document_id` any more; so does drawing.
    """
    with session_for(path, settings=settings, document_id=document_id, password=password) as session:
        count = len(_survey(session).page_labels)

        def draw(page: int, dpi: int) -> bytes:
            if not 1 <= page <= count:
                raise ParseError(DocumentState.FAILED, f"{path.name} is not a PDF with a page {page}")
            ending, folder = session.run(Work.RENDER, pages=1, first=page, last=page, dpi=dpi)
            try:
                _check(ending, parser=f"page {page} cannot be drawn: pdfium")
                return read_left_bytes(folder, ANSWER, most_bytes=settings.limits.output_megabytes << 20) or b""
            finally:
                session.clear(folder)

        yield draw


def _survey(session: Session) -> FileSurvey:
    """Learn what the file is; from here on the session's source is the copy without encryption, if it had any."""
    ending, folder = session.run(Work.SURVEY, pages=1)
    _check(ending, parser="the file cannot be opened: pdfium")
    survey = read_left_json(folder, ANSWER, SURVEYS, most_bytes=session.settings.limits.answer_megabytes << 20)
    if survey is None:
        raise ParseError(DocumentState.FAILED, "pdfium's account of the file cannot be read")
    if survey.decrypted:
        session.source = folder / "decrypted.pdf"
        # a child that was taken over may have left a link to another file
        if session.source.is_symlink() or not session.source.is_file():
            raise ParseError(DocumentState.FAILED, "the file could not be decrypted")
    return survey


def _check(ending: Ending, *, parser: str) -> None:
    """Raise ParseError where the child refused the document or did not come to an answer."""
    if ending.refusal:
        raise ParseError(ending.refusal.state, ending.refusal.reason)
    if ending.problem or not ending.answered:
        raise ParseError(DocumentState.FAILED, f"{parser} {ending.problem or 'gave no answer'}")


def _read_whole(session: Session, survey: FileSurvey) -> Reading:
    """Read a document that has no page ranges, in one child with the limits of one range."""
    ending, folder = session.run(Work.WHOLE, pages=session.settings.reading.parse.pages_per_range, media_type=survey.media_type)
    _check(ending, parser="MinerU")
    reading = session.take_answer(ending, folder)
    if reading is None or not any(page.blocks or page.image for page in reading.pages):
        raise ParseError(DocumentState.FAILED, "nothing to read was found in it")
    return reading


def _read_pdf(session: Session, survey: FileSurvey, on_pages: Callable[[int, int], None]) -> Reading:
    pages = read_page_ranges(session, len(survey.page_labels), on_pages)
    if all(page.parser is PageParser.NONE for page in pages):
        raise ParseError(DocumentState.FAILED, f"no page could be read; page 1: {pages[0].note or 'it is empty'}")
    labelled = (replace(page, label=label or None) for page, label in zip(pages, survey.page_labels, strict=True))
    return Reading(title="", pages=tuple(labelled))
