"""A child leaves an answer or last words, and ends with the code that says which."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from storage.records import NodeKind
from tasks.parsers.jobs import ANSWER, CONFINEMENT, FAILED, READINGS, REFUSAL, REFUSALS, REFUSED, SURVEYS, Job, Work
from tasks.parsers.media import MARKDOWN, PLAIN
from tasks.parsers.plain_reader import decode_text, read_plain
from tasks.settings import LimitSettings, OcrSettings, ParseSettings
from tests import hostile


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("é".encode(), "é"),
        ("\ufeffé".encode(), "é"),
        ("é".encode("utf-16"), "é"),
        ("é".encode("latin-1"), "é"),
        (b"a\r\nb\rc", "a\nb\nc"),
    ],
)
def test_every_encoding_gives_the_same_words(data, expected):
    assert decode_text(data) == expected


def test_empty_lines_part_paragraphs_and_lines_are_joined(tmp_path):
    (tmp_path / "a").write_text("One\ntwo.\n\n \n# Three\n\n- a\n- b\n")
    (page,) = read_plain(tmp_path / "a", PLAIN)
    assert [(block.kind, block.text) for block in page.blocks] == [
        (NodeKind.PARAGRAPH, "One two."),
        (NodeKind.PARAGRAPH, "# Three"),
        (NodeKind.LIST, "- a\n- b"),
    ]


def test_markdown_has_titles_code_tables_and_lists(tmp_path):
    (tmp_path / "a").write_text(
        "# Top #\nWords\n## Next\n```py\nx = 1\n\n# no title\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. x\n2. y\n"
    )
    (page,) = read_plain(tmp_path / "a", MARKDOWN)
    assert [(block.kind, block.text, block.level) for block in page.blocks] == [
        (NodeKind.TITLE, "Top", 1),
        (NodeKind.PARAGRAPH, "Words", None),
        (NodeKind.TITLE, "Next", 2),
        (NodeKind.CODE, "x = 1\n\n# no title", None),
        (NodeKind.TABLE, "| a | b |\n|---|---|\n| 1 | 2 |", None),
        (NodeKind.LIST, "1. x\n2. y", None),
    ]


def test_an_open_fence_ends_with_the_text(tmp_path):
    (tmp_path / "a").write_text("```\ncode\n\nmore")
    (page,) = read_plain(tmp_path / "a", MARKDOWN)
    assert [block.text for block in page.blocks] == ["code\n\nmore"]


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
