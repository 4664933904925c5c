"""The report sums up a run, and nothing in a name can break its page."""

from tasks.ingest.report import FAILURES_SHOWN, Failure, IngestReport, asked, report_markdown

REPORT = IngestReport(
    corpus="Q3_reports.2024",
    snapshot=7,
    read=3,
    unchanged=2,
    renamed=1,
    pages=40,
    nodes=400,
    failures=(Failure(name="a|b`c\n.pdf", state="failed", reason="it is empty"),),
    skipped=1,
    mended=("CURRENT was behind",),
    step_seconds={"parse": 12.5},
    steps_remembered=4,
    calls=0,
    calls_remembered=0,
    tokens=0,
    cost=0.0,
)


def test_the_page_has_counts_times_failures_and_what_was_mended():
    page = report_markdown(REPORT)
    assert "3 documents read (40 pages, 400 nodes)" in page and "| parse | 12.5 |" in page
    assert "it is empty" in page and "CURRENT was behind" in page


def test_the_page_has_no_name_of_a_file_as_markup():
    page = report_markdown(REPORT.model_copy(update={"vanished": ("/in/`a`.pdf: gone",)}))
    assert r"- \/in\/\`a\`\.pdf\: gone" in page
    assert r"| a\|b\`c \.pdf | failed | it is empty |" in page.splitlines()


def test_of_many_failures_the_page_counts_those_that_it_does_not_show():
    failures = tuple(Failure(name=f"{number}.pdf", state="failed", reason="it is empty") for number in range(FAILURES_SHOWN + 2))
    page = report_markdown(REPORT.model_copy(update={"failures": failures}))
    assert page.count("it is empty") == FAILURES_SHOWN and "\nand 2 more\n" in page


def test_the_page_says_what_was_asked_of_a_model():
    assert "No model was called" in report_markdown(REPORT)
    used = REPORT.model_copy(update={"calls": 1200, "calls_remembered": 7, "tokens": 3_400_000, "cost": 1.5})
    assert asked(used) == "1,200 calls of the model and 7 remembered: 3,400,000 tokens, cost 1.50"
    assert asked(used) in report_markdown(used)
