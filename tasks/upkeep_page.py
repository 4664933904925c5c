"""What a maintenance run did and found, as the page that Prefect's UI shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from storage.garbage import KEEP_UNNAMED_SECONDS
from tasks.ageing import AgedOut
from tasks.maintaining import Upkeep
from tasks.markdown import as_text, table_row

COLUMNS = ("corpus", "outcome", "files deleted", "bytes freed", "answers erased", "pages deleted")


def upkeep_markdown(done: Sequence[Upkeep], aged: AgedOut | None = None) -> str:
    """Return a table of the corpora, what the home lost by age, and what was mended, postponed and found, each with its remedy."""
    lines = ["# Maintenance", "", summary(done), ""]
    if done:
        lines += [table_row(COLUMNS), "|---|---|--:|--:|--:|--:|"]
        lines += [table_row(_cells(one)) for one in done]
    if aged is not None:
        lines += ["", as_text(told_of_age(aged))]
    return "\n".join([*lines, *(line for one in done for line in _details(one))]) + "\n"


def summary(done: Sequence[Upkeep]) -> str:
    """Say in a line how it went."""
    skipped, findings = sum(bool(one.skipped) for one in done), sum(len(one.findings) for one in done)
    if not done:
        return "there is no corpus yet"
    corpora = "1 corpus" if len(done) - skipped == 1 else f"{len(done) - skipped} corpora"
    return f"{corpora} looked after, {skipped} skipped, {_findings(findings)}"


def told_of_age(aged: AgedOut) -> str:
    """Say in a line what went by age, of no corpus in particular."""
    days = f"{KEEP_UNNAMED_SECONDS / 86_400:.0f} days"
    return (
        f"Deleted for their age, {days}: {aged.reports} reports of answers that no corpus keeps, {aged.results} results "
        f"that Prefect kept, what {aged.called_with} killed questions were called with; {aged.bytes_freed:,} bytes."
    )


def _findings(count: int) -> str:
    return "1 finding" if count == 1 else f"{count} findings"


def _cells(one: Upkeep) -> tuple[str, ...]:
    outcome = "skipped" if one.skipped else _findings(len(one.findings)) if one.findings else "well"
    counts = (one.artifacts_deleted, one.bytes_freed, one.answers_erased, one.pages_deleted)
    return one.corpus, outcome, *(f"{count:,}" for count in counts)


def _details(one: Upkeep) -> Iterator[str]:
    told = [
        *([f"skipped: {one.skipped}"] if one.skipped else []),
        *(f"mended: {message}" for message in one.mended),
        *one.killed,
        *([f"clean-up waits: {one.postponed}"] if one.postponed else []),
        *(f"{finding.check}: {finding.what}; {finding.remedy}" for finding in one.findings),
    ]
    if told:
        yield from ("", f"## {as_text(one.corpus)}", "", *(f"- {as_text(line)}" for line in told))
