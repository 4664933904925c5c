"""The page tells of every corpus, and of what is wrong with its remedy."""

from storage.records import Finding
from tasks.ageing import AgedOut
from tasks.maintaining import Upkeep
from tasks.upkeep_page import summary, upkeep_markdown

WELL = Upkeep(corpus="reports", artifacts_deleted=3, bytes_freed=4_500)
BUSY = Upkeep(corpus="busy", skipped="corpus 'busy' is being written by process 7")
BROKEN = Upkeep(corpus="broken", mended=("CURRENT was cut",), findings=(Finding("counts", "5 nodes, not <6>", "read it again"),))


def test_every_corpus_has_a_row_and_its_details():
    page = upkeep_markdown([WELL, BUSY, BROKEN])
    assert "| reports | well | 3 | 4\\,500 | 0 | 0 |" in page and "## reports" not in page
    assert "| busy | skipped |" in page and "- skipped\\: corpus" in page and "process 7" in page
    assert "| broken | 1 finding |" in page and "- mended\\: CURRENT was cut" in page
    assert "- counts\\: 5 nodes\\, not \\<6\\>\\; read it again" in page


def test_what_waits_is_told():
    assert "clean\\-up waits\\: corpus" in upkeep_markdown([Upkeep(corpus="a", postponed="corpus 'b' is being written")])


def test_a_line_sums_up():
    assert summary([]) == "there is no corpus yet" and "|" not in upkeep_markdown([])
    assert summary([WELL, BUSY, BROKEN]) == "2 corpora looked after, 1 skipped, 1 finding"
    assert summary([WELL]) == "1 corpus looked after, 0 skipped, 0 findings"


def test_runs_that_were_killed_are_told():
    assert "- the ingest of \\/in was killed" in upkeep_markdown([Upkeep(corpus="a", killed=("the ingest of /in was killed",))])


def test_what_went_by_age_is_counted():
    page = upkeep_markdown([WELL], AgedOut(reports=2, results=3, called_with=1, bytes_freed=12_000))
    assert "Deleted for their age\\, 30 days\\: 2 reports" in page and "3 results" in page and "what 1 killed" in page
    assert "12\\,000 bytes" in page and "Deleted" not in upkeep_markdown([WELL])
