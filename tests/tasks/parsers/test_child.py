"""A child leaves an answer or last words, and ends with the code that says which."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.parsers.jobs import ANSWER, CONFINEMENT, FAILED, READINGS, REFUSAL, REFUSALS, REFUSED, SURVEYS, Job, Work
from tasks.settings import LimitSettings, OcrSettings, ParseSettings
from tests import hostile

SCRIPT = "import os, sys; from tasks.parsers.child import live; os._exit(live(sys.argv[1].encode(), parent=os.getppid()))"


def run(source: Path, folder: Path, **changes) -> int:
    folder.mkdir()
    given = {"work": Work.SURVEY, "parse": ParseSettings(), "ocr": OcrSettings(), "limits": LimitSettings()} | changes
    job = Job(source=source, folder=folder, name=source.name, cpu_seconds=20, wall_seconds=60, **given)
    root = Path(__file__).parents[3]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(root), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-c", SCRIPT, job.model_dump_json()], env=environment, check=False, cwd=root).returncode


def test_a_survey_is_answered(tmp_path):
    assert run(hostile.plain_pdf(tmp_path), tmp_path / "job") == 0
    assert SURVEYS.validate_json((tmp_path / "job" / ANSWER).read_bytes()).page_labels == ("", "", "")
    assert (tmp_path / "job" / CONFINEMENT).read_text() == "[]"


@pytest.mark.parametrize("work", [Work.MINERU, Work.TEXT_LAYER])
def test_pages_are_answered(work, tmp_path):
    assert run(hostile.plain_pdf(tmp_path), tmp_path / "job", work=work, last_page=2) == 0
    reading = READINGS.validate_json((tmp_path / "job" / ANSWER).read_bytes())
    assert [page.number for page in reading.pages] == [1, 2]


def test_a_refusal_is_final_and_an_exception_is_not(tmp_path):
    assert run(hostile.zero_bytes(tmp_path), tmp_path / "one") == REFUSED
    assert REFUSALS.validate_json((tmp_path / "one" / REFUSAL).read_bytes()).final
    assert run(hostile.plain_pdf(tmp_path), tmp_path / "two", work=Work.TEXT_LAYER, first_page=9, last_page=9) == FAILED
    assert not REFUSALS.validate_json((tmp_path / "two" / REFUSAL).read_bytes()).final


def test_a_page_is_drawn(tmp_path):
    assert run(hostile.plain_pdf(tmp_path), tmp_path / "job", work=Work.RENDER, dpi=72) == 0
    assert (tmp_path / "job" / ANSWER).read_bytes()[:4] in (b"\x89PNG", b"\xff\xd8\xff\xe0")


def test_text_is_read_whole(tmp_path):
    (tmp_path / "a.md").write_text("# Title")
    assert run(tmp_path / "a.md", tmp_path / "job", work=Work.WHOLE, media_type="text/markdown") == 0
    assert READINGS.validate_json((tmp_path / "job" / ANSWER).read_bytes()).pages[0].blocks[0].text == "Title"
