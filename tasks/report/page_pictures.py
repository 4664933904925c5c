"""The picture of a page: the one that was kept when it was read, else drawn again from the file, if that is still the same."""

from __future__ import annotations

from dataclasses import dataclass

from storage.artifacts import ArtifactDamagedError, ArtifactStore
from storage.records import DocumentRecord, DocumentState, Page
from tasks.parsers.media import PDF
from tasks.parsing import ParseError, ParserStartError, render_page
from tasks.report.pictures import Picture, PictureError, shrink_picture
from tasks.report.report_settings import ReportSettings
from tasks.report.source_copies import NoPictureError, SourceCopies
from tasks.settings import LimitSettings, WorkSettings

POINTS_PER_INCH = 72
DPI_BOUNDS = (18, 300)


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

    def page(self, document: DocumentRecord, page: Page, copies: SourceCopies) -> Picture:
        """Return the page's picture, drawn from a copy of the file; raise NoPictureError where there is none and none can be."""
        if page.image:
            return self.kept(page.image)
        if document.media_type != PDF or page.width_points <= 0:
            raise NoPictureError("")
        path = copies.of(document)
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
