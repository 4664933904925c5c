"""An estimate counts pages without reading them."""

from tasks.estimating import STARTING_SECONDS, estimate
from tasks.planning import DocumentWork
from tasks.settings import IngestSettings
from tests.program import CORPUS


def work(name):
    path = str(CORPUS / name)
    return DocumentWork("a" * 64, "v", path, (path,), (CORPUS / name).stat().st_size, "")


def test_pages_of_a_pdf_are_counted_and_other_files_are_one():
    guess = estimate([work("annual_report.pdf"), work("budget.xlsx")], IngestSettings())
    assert guess.documents == 2 and guess.pages == 17 and guess.seconds > STARTING_SECONDS and guess.megabytes > 0.1


def test_nothing_to_do_takes_no_time():
    assert estimate([], IngestSettings()).seconds == 0
