"""What a home gathers under daily use and nobody asks for any more: it goes by age, with the nightly maintenance.

In the folder of reports lie the pages of answers, what Prefect keeps there for who asked, and what questions were called with,
which goes with the answer unless the service is killed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from storage.answers import answer_ids
from storage.corpora import corpora_in
from storage.garbage import KEEP_UNNAMED_SECONDS
from storage.in_use import delete_files, is_older
from storage.locations import called_with_folder, corpora_folder, reports_folder

PAGE = ".html"


class AgedOut(BaseModel):
    """How many files went: pages of answers that no corpus keeps, results kept by Prefect, what questions were called with."""

    model_config = ConfigDict(frozen=True)

    reports: int = 0
    results: int = 0
    called_with: int = 0
    bytes_freed: int = 0


def age_out() -> AgedOut:
    """Delete what is older than a month and no answer's that a corpus of this home keeps; return what went."""
    before = time.time() - KEEP_UNNAMED_SECONDS
    old, called_with = list(_older(reports_folder(), before)), list(_older(called_with_folder(), before))
    pages = [path for path in old if path.suffix == PAGE]
    kept = {answer for corpus in corpora_in(corpora_folder()) for answer in answer_ids(corpus)} if pages else set()
    reports, of_reports = delete_files(path for path in pages if path.stem not in kept)
    results, of_results = delete_files(path for path in old if path.suffix != PAGE)
    calls, of_calls = delete_files(called_with)
    size = of_reports + of_results + of_calls
    return AgedOut(reports=len(reports), results=len(results), called_with=len(calls), bytes_freed=size)


def _older(folder: Path, before: float) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.is_file() and is_older(path, before))
