"""Reports that deployed runs leave behind: one HTML page for each answer, in the folder of reports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from storage.answer_records import Answer, Citation, PagePlace, RankedPage
from storage.artifacts import kept_artifacts
from storage.locations import corpus_location, reports_folder
from storage.snapshot import open_for_reading
from tasks.reporting import render_report, write_page


@dataclass(frozen=True, slots=True)
class KeptReport:
    """Where the report of an answer lies, and its evidence graph as an SVG, "" where there is none."""

    path: Path
    graph: str


def keep_report(answer: Answer) -> KeptReport:
    """Write the answer's report into the folder of reports; raise as `write_report` does.

    Its last line names the documents by their ids, so that `forget_reports` finds it.
    """
    path = reports_folder() / f"{answer.answer_id}.html"
    with open_for_reading(corpus_location(answer.corpus)) as snapshot:
        report = render_report(answer, snapshot, kept_artifacts())
    places: list[Citation | RankedPage | PagePlace] = [*answer.citations, *answer.pages, *answer.evidence_pages]
    shown = {place.document.id for place in places}
    write_page(replace(report, html=f"{report.html}\n<!-- {' '.join(sorted(shown))} -->\n"), path)
    return KeptReport(path, report.graph)
