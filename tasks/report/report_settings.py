"""What a report may show and weigh."""

from __future__ import annotations

from pydantic import Field

from tasks.settings import Settings


class ReportSettings(Settings):
    """How much of the evidence one page shows; whatever it leaves out it says."""

    page_pictures: int = Field(12, ge=0, le=100, description="pages drawn, at most; the others show the cited element alone")
    picture_width: int = Field(1400, ge=200, le=4000, description="pixels; small print stays readable on a dense screen")
    picture_quality: int = Field(80, ge=1, le=100, description="WebP's; below 70 letters fray")
    megabytes: float = Field(12.0, gt=0, le=100, description="of the whole file; it must pass as an attachment")
    element_characters: int = Field(3000, ge=100, le=100_000, description="text of an element shown around the quoted words")
    table_rows: int = Field(24, ge=1, le=1000, description="rows of a table shown around the quoted ones")
    paths: int = Field(16, ge=1, le=100, description="paths drawn and listed; more become a thicket")
    candidate_pages: int = Field(40, ge=1, le=1000, description="candidate pages listed")
