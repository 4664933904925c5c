"""What a report may show and weigh."""

from tasks.setting_group import Settings


class ReportSettings(Settings):
    """How much of the evidence one page shows; whatever it leaves out it says."""

    page_pictures: int = 12  # pages drawn, at most; the others show the cited element alone
    picture_width: int = 1400  # pixels; small print stays readable on a dense screen
    picture_quality: int = 80  # WebP's; below 70 letters fray
    megabytes: float = 12.0  # of the whole file; it must pass as an attachment
    element_characters: int = 3000  # text of an element shown around the quoted words
    table_rows: int = 24  # rows of a table shown around the quoted ones
    paths: int = 16  # paths drawn and listed; more become a thicket
    candidate_pages: int = 40  # candidate pages listed
