"""A document is read in ranges of pages, by processes at once: what they answer, and what they leave, comes together here."""

import os
import random
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.artifacts import ArtifactStore, hash_bytes
from storage.records.documents import Block, NodeKind, PageParser, ParsedPage
from tasks.parsing import session as sessions
from tasks.parsing.jobs import ANSWER, READINGS, Reading, Work, read_left_bytes
from tasks.parsing.session import LOOK_BACK, cut_ranges, read_page_ranges, session_for
from tasks.parsing.supervisor import Ending
from tasks.settings.ingest import IngestSettings


def test_what_a_child_left_is_read_only_where_it_is_a_regular_file(tmp_path):
    (tmp_path / "answer").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert read_left_bytes(tmp_path, "answer", most_bytes=3) == b"123"
    assert [read_left_bytes(tmp_path, name, most_bytes=9) for name in ("link", "folder", "pipe", "absent")] == [None] * 4


@given(total=st.integers(1, 3000), most=st.integers(1, 200))
def test_ranges_cover_the_pages_evenly(total, most):
    ranges = cut_ranges(total, most)
    assert [page for first, last in ranges for page in range(first, last + 1)] == list(range(1, total + 1))
    lengths = [last - first + 1 for first, last in ranges]
    assert max(lengths) <= most
    assert max(lengths) - min(lengths) <= 1
    assert len(ranges) == -(-total // most)


class ScriptedSession:
    """A session whose children need a set time for each page, fail on some, and end in any order."""

    def __init__(self, seconds: list[float], bad: set[int], *, at_once: int, limit: float) -> None:
        self.seconds, self.bad, self.random = seconds, bad, random.Random(at_once)
        self.settings = IngestSettings(
            reading={"parse": {"pages_per_range": 2}},
            limits={"cpu_seconds_per_document": limit},
            work={"parsers_at_once": at_once},
        )

    def run(self, work, *, pages, first, last):
        time.sleep(self.random.random() / 500)
        numbers = range(first, last + 1)
        problem = "crashed (SIGSEGV)" if work is Work.MINERU and self.bad & set(numbers) else ""
        used = sum(self.seconds[number - 1] for number in numbers) if work is Work.MINERU else 0.25
        parser = PageParser.MINERU if work is Work.MINERU else PageParser.PDFIUM
        reading = Reading("", tuple(ParsedPage(number, 9, 9, parser, ()) for number in numbers))
        return Ending(problem, None, used, answered=not problem), reading

    def clear(self, folder):
        pass

    def take_answer(self, ending, folder):
        return folder if ending.answered else None


def read(seconds, bad, *, at_once, limit):
    return read_page_ranges(ScriptedSession(seconds, bad, at_once=at_once, limit=limit), len(seconds), lambda done, total: None)


def test_pages_that_fail_are_read_alone_and_then_by_their_text_layer():
    pages = read([1.0] * 6, {4}, at_once=2, limit=1000.0)
    assert [page.number for page in pages] == [1, 2, 3, 4, 5, 6]
    assert [page.parser for page in pages].count(PageParser.PDFIUM) == 1
    assert pages[3].note == "MinerU crashed (SIGSEGV); text layer read by pdfium"


@pytest.mark.parametrize("seed", range(4))
def test_which_pages_are_read_by_mineru_is_the_same_however_many_children_there_are(seed):
    chance = random.Random(seed)
    seconds = [chance.choice([0.5, 1.0, 30.0]) for _ in range(60)]
    bad = {number for number in range(1, 61) if chance.random() < 0.2}
    readings = [read(seconds, bad, at_once=at_once, limit=200.0) for at_once in (1, 2, 5, 32)]
    assert all(reading == readings[0] for reading in readings)
    exhausted = [page.number for page in readings[0] if "200 s of CPU time" in page.note]
    assert exhausted and exhausted[0] > 2 * LOOK_BACK


def test_an_error_of_one_range_ends_the_others():
    class Broken(ScriptedSession):
        def run(self, work, *, pages, first, last):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        read_page_ranges(Broken([1.0] * 40, set(), at_once=4, limit=10.0), 40, lambda done, total: None)


ANSWERED = Ending(problem="", refusal=None, cpu_seconds=1.0, answered=True)


@pytest.fixture
def artifacts(tmp_path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(b"words")
    return path


def session_of(source: Path, artifacts: ArtifactStore, document_id: str | None = None):
    return session_for(source, settings=IngestSettings(), document_id=document_id, artifacts=artifacts)


def answer(folder: Path, picture: str) -> None:
    folder.mkdir()
    figure = Block(kind=NodeKind.FIGURE, text="", box=(0, 0, 1, 1), picture=picture)
    page = ParsedPage(1, 9, 9, PageParser.MINERU, (figure,), image=picture)
    (folder / ANSWER).write_bytes(READINGS.dump_json(Reading(title="", pages=(page,))))


def test_the_copy_is_gone_when_the_work_is_done(source, artifacts):
    with session_of(source, artifacts, hash_bytes(b"words")) as session:
        assert session.source.read_bytes() == b"words"
        assert session.scratch.stat().st_mode & 0o077 == 0
    assert not session.scratch.exists()


def test_pictures_become_artifacts(source, artifacts, tmp_path):
    with session_of(source, artifacts) as session:
        answer(tmp_path / "job", "figure-1-0")
        (tmp_path / "job" / "figure-1-0").write_bytes(b"a picture")
        (page,) = session.take_answer(ANSWERED, tmp_path / "job").pages
    assert page.image == page.blocks[0].picture == hash_bytes(b"a picture")
    assert artifacts.read(page.image) == b"a picture"
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize("name", ["../a.txt", "/etc/passwd", "figure-9-9", "figure-1-0"])
def test_a_name_that_leads_elsewhere_is_no_picture(name, source, artifacts, tmp_path):
    with session_of(source, artifacts) as session:
        answer(tmp_path / "job", name)
        (tmp_path / "job" / "figure-1-0").symlink_to(source)
        (page,) = session.take_answer(ANSWERED, tmp_path / "job").pages
    assert page.image is page.blocks[0].picture is None


@pytest.mark.parametrize("data", [b"", b"{}", b'{"title": 1', b"\x80\x04pickle"])
def test_an_answer_out_of_form_is_none(data, source, artifacts, tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / ANSWER).write_bytes(data)
    with session_of(source, artifacts) as session:
        assert session.take_answer(ANSWERED, tmp_path / "job") is None


def test_what_killed_processes_left_is_swept_and_what_living_ones_use_is_not(source, artifacts, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, used = tmp_path / "flowreader-parse-999999999-x", tmp_path / f"flowreader-parse-{os.getpid()}-x"
    left.mkdir()
    used.mkdir()
    sessions._sweep_scratch.cache_clear()
    with session_of(source, artifacts):
        assert not left.exists()
        assert used.exists()


def test_a_full_disk_is_no_fault_of_the_document(source, artifacts, monkeypatch):
    full = Ending(problem="failed (OSError: [Errno 28] No space left)", refusal=None, cpu_seconds=0, answered=False)
    monkeypatch.setattr(sessions.CHILDREN, "run", lambda job, at_once: full)
    with session_of(source, artifacts) as session, pytest.raises(OSError, match="disk full"):
        session.run(Work.SURVEY, pages=1)


def test_a_name_that_is_no_text_is_escaped():
    assert sessions.writable_name(Path(os.fsdecode(b"/in/inv\xffalid.txt"))) == "inv\\xffalid.txt"
