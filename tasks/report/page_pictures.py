"""The picture of a page: the one that was kept when it was read, else drawn again from the file, if that is still the same."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from storage.artifacts import ArtifactDamagedError, ArtifactStore
from storage.records import DocumentRecord, DocumentState, Page
from tasks.parsers.media import PDF
from tasks.parsing import ParseError, ParserStartError, render_page
from tasks.planning import real_path
from tasks.report.pictures import Picture, PictureError, shrink_picture
from tasks.report.report_settings import ReportSettings
from tasks.settings import LimitSettings, WorkSettings

POINTS_PER_INCH = 72
DPI_BOUNDS = (18, 300)


class NoPictureError(LookupError):
    """A page, or an element, of which no picture can be had; the message says why, in words for the report's reader."""


@dataclass(frozen=True, slots=True)
class PictureDesk:
    """Where pictures come from, and under which limits."""

    artifacts: ArtifactStore
    report: ReportSettings
    limits: LimitSettings
    work: WorkSettings

    def kept(self, artifact: str) -> Picture:
        """Return a kept picture, made small; raise NoPictureError where it is gone or damaged."""
        try:
            return self._shrink(self.artifacts.read(artifact))
        except ArtifactDamagedError as error:
            raise NoPictureError("its picture is missing or damaged; ingest the document again") from error

    def page(self, document: DocumentRecord, page: Page) -> Picture:
        """Return the page's picture; raise NoPictureError where there is none and none can be drawn."""
        if page.image:
            return self.kept(page.image)
        if document.media_type != PDF or page.width_points <= 0:
            raise NoPictureError("")
        path = find_unchanged(document.paths, document.id)
        if path is None:
            raise NoPictureError("its file was moved or changed since it was read, so the page cannot be drawn")
        low, high = DPI_BOUNDS
        dpi = min(max(round(self.report.picture_width * POINTS_PER_INCH / page.width_points), low), high)
        try:
            return self._shrink(render_page(path, page=page.number, dpi=dpi, password=None, limits=self.limits, work=self.work))
        except ParseError as error:
            locked = error.state is DocumentState.NEEDS_PASSWORD
            raise NoPictureError("its file is encrypted, so the page cannot be drawn" if locked else error.reason) from error
        except (OSError, ParserStartError) as error:
            raise NoPictureError(f"the page cannot be drawn: {error}") from error

    def _shrink(self, data: bytes) -> Picture:
        try:
            return shrink_picture(
                data,
                width=self.report.picture_width,
                quality=self.report.picture_quality,
                megapixels=self.limits.image_megapixels,
            )
        except PictureError as error:
            raise NoPictureError(str(error)) from error


def find_unchanged(paths: Sequence[str], document_id: str) -> Path | None:
    """Return the first of the paths, as the catalog shows them, where the document's very bytes still lie."""
    for shown in paths:
        found = real_path(shown)
        try:
            if found and stat.S_ISREG(Path(found).lstat().st_mode):
                with Path(found).open("rb") as stream:
                    if hashlib.file_digest(stream, "sha256").hexdigest() == document_id:
                        return Path(found)
        except OSError:
            continue
    return None
