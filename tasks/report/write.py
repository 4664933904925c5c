"""The report of an answer: gathered from an open snapshot, written as one file that needs no other."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from storage.artifacts import ArtifactStore, home_artifacts, write_durably
from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.locations import corpus_location, reports_folder
from storage.records.answers import Answer, Citation, PagePlace, RankedPage
from storage.system import NotWritableError, check_writable, explain_full_disk, is_full_disk
from tasks.report.evidence import gather_evidence
from tasks.report.page import show_page
from tasks.views.answers import view_answer

ANOTHER_FILE = "name another file"


@dataclass(frozen=True, slots=True)
class Report:
    """The page, and in words what could not be shown on it."""

    html: str
    left_out: tuple[str, ...]


def render_report(answer: Answer, snapshot: Snapshot, artifacts: ArtifactStore) -> Report:
    """Return the answer's report as one HTML page without script, remote address or style from a document.

    The snapshot may be newer than the answer's: the report says what is gone. `storage.runs.answers` took the words of removed
    documents out of the answer before.
    Raises GraphDamagedError where the graph cannot be read, ParserStoppedError after Ctrl-C.
    """
    evidence = gather_evidence(answer, snapshot, artifacts)
    return Report(show_page(view_answer(answer, snapshot), evidence), evidence.left_out)


def report_of(answer_id: str, corpus: str) -> str:
    """Return the report of a kept answer, which is found as `Snapshot.answer` does."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        answer = snapshot.answer(answer_id)
        return render_report(answer, snapshot, home_artifacts()).html


def write_report(answer: Answer, snapshot: Snapshot, artifacts: ArtifactStore, path: Path) -> tuple[str, ...]:
    """Write the answer's report to the file, as `write_page` does; return in words what could not be shown."""
    check_target(path)
    report = render_report(answer, snapshot, artifacts)
    write_page(report, path)
    return report.left_out


def write_page(report: Report, path: Path) -> None:
    """Write the page to the file, whole or not at all.

    Raises NotWritableError where the folder is missing or may not be written, or the path is no plain file; DiskFullError.
    """
    check_target(path)
    page = report.html.encode()
    with explain_full_disk(path.parent, len(page)):
        try:
            write_durably(path, page)
            # A report is made to be shown, as far as its owner wants: it gets the mode of any new file.
            mask = os.umask(0o077)
            os.umask(mask)
            path.chmod(0o666 & ~mask)
        except OSError as error:
            if is_full_disk(error):
                raise
            raise NotWritableError(f"report {str(path)!r} cannot be written: {error.strerror}", path, ANOTHER_FILE) from error


def check_target(path: Path) -> None:
    """Raise NotWritableError, before any work is done, where the report cannot be written to the path."""
    if not path.parent.is_dir():
        raise NotWritableError(f"the folder of report {str(path)!r} does not exist", path, f"make it, or {ANOTHER_FILE}")
    if path.exists() and not path.is_file():
        raise NotWritableError(f"report {str(path)!r} would replace something that is not a plain file", path, ANOTHER_FILE)


def keep_report(answer: Answer) -> Path:
    """Write the answer's report into the folder of reports and return where; raise as `write_report` does.

    Its last line names the documents by their ids, so that `forget_reports` finds it.
    """
    path = reports_folder() / f"{answer.answer_id}.html"
    check_writable(path.parent)
    with open_for_reading(corpus_location(answer.corpus)) as snapshot:
        report = render_report(answer, snapshot, home_artifacts())
    places: list[Citation | RankedPage | PagePlace] = [*answer.citations, *answer.pages, *answer.evidence_pages]
    shown = {place.document.id for place in places}
    write_page(replace(report, html=f"{report.html}\n<!-- {' '.join(sorted(shown))} -->\n"), path)
    return path
