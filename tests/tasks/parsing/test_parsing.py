"""A file becomes pages of blocks; what is wrong with it is reported in words and harms no other file."""

import hashlib
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from storage.artifacts import ArtifactStore
from storage.records.documents import DocumentState, NodeKind, PageParser, ParsedDocument
from tasks.parsing.parse import ParseError, count_pages, parse_file, render_page
from tasks.parsing.supervisor import CHILDREN, ParserStoppedError
from tasks.settings.ingest import IngestSettings, LimitSettings
from tests import hostile
from tests.waiting import wait_until

TIGHT = LimitSettings(memory_megabytes=1024, cpu_seconds_per_range=3, cpu_seconds_per_page=1)


def read(path, folder, *, document_id=None, password=None, on_pages=lambda done, total: None, **settings) -> ParsedDocument:
    document_id = document_id or hashlib.sha256(path.read_bytes()).hexdigest()
    store = ArtifactStore(folder / "artifacts")
    settings = IngestSettings(**settings)
    return parse_file(path=path, document_id=document_id, password=password, settings=settings, artifacts=store, on_pages=on_pages)


def words(document: ParsedDocument) -> str:
    return " ".join(block.text for page in document.pages for block in page.blocks)


def refusal(path: Path, folder: Path, **changes) -> ParseError:
    with pytest.raises(ParseError) as caught:
        read(path, folder, **changes)
    return caught.value


def test_a_plain_pdf_is_read_by_mineru_page_by_page(tmp_path):
    steps = []
    document = read(hostile.plain_pdf(tmp_path), tmp_path, on_pages=lambda done, total: steps.append((done, total)))
    assert document.media_type == "application/pdf"
    assert [page.number for page in document.pages] == [1, 2, 3]
    assert {page.parser for page in document.pages} == {PageParser.MINERU}
    assert all(page.width_points == 595 and page.height_points == 842 for page in document.pages)
    assert "3000 tonnes" in words(document)
    assert steps[0] == (0, 3)
    assert steps[-1] == (3, 3)


def test_every_page_of_every_range_comes_once_and_in_order(tmp_path):
    document = read(hostile.plain_pdf(tmp_path, pages=7), tmp_path, reading={"parse": {"pages_per_range": 2}})
    assert [page.number for page in document.pages] == list(range(1, 8))
    assert all(f"{page.number}005 tonnes" in " ".join(block.text for block in page.blocks) for page in document.pages)


def test_a_picture_in_a_page_becomes_a_figure_with_its_crop(tmp_path):
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    path = tmp_path / "figure.pdf"
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    for line in range(10):
        canvas.drawString(72, 780 - 15 * line, hostile.LINE.format(line))
    canvas.drawImage(ImageReader(Image.linear_gradient("L").resize((300, 200))), 100, 350, 300, 200)
    canvas.drawString(100, 330, "Figure 1: A gradient from dark to light.")
    canvas.save()
    document = read(path, tmp_path)
    figures = [block for block in document.pages[0].blocks if block.kind is NodeKind.FIGURE]
    assert len(figures) == 1
    assert figures[0].picture is not None
    with Image.open(ArtifactStore(tmp_path / "artifacts").path(figures[0].picture)) as crop:
        assert crop.width == pytest.approx(600, rel=0.05)
        assert crop.height == pytest.approx(400, rel=0.05)


def test_an_encrypted_pdf_asks_for_its_password_and_opens_with_it(tmp_path):
    path = hostile.encrypted_pdf(tmp_path)
    assert refusal(path, tmp_path).state is DocumentState.NEEDS_PASSWORD
    assert "does not open it" in refusal(path, tmp_path, password="wrong").reason
    document = read(path, tmp_path, password=hostile.PASSWORD)
    assert "3000 tonnes" in words(document)
    assert {page.parser for page in document.pages} == {PageParser.MINERU}


def test_a_pdf_that_claims_a_million_pages_has_the_one_that_is_there(tmp_path):
    document = read(hostile.lying_pdf(tmp_path), tmp_path)
    assert [page.number for page in document.pages] == [1]
    assert "One page" in words(document)


def test_a_file_that_changed_since_it_was_found_is_not_read(tmp_path):
    assert "changed while it was read" in refusal(hostile.plain_pdf(tmp_path), tmp_path, document_id="0" * 64).reason


def test_a_file_over_the_limit_is_refused(tmp_path):
    path = tmp_path / "large.txt"
    path.write_bytes(b"words " * 400_000)
    assert "larger than 1 MB" in refusal(path, tmp_path, limits=LimitSettings(file_megabytes=1)).reason


def test_no_entity_and_no_address_is_followed(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the-secret-of-this-machine")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        outside = read(hostile.external_html(tmp_path, secret, port=server.getsockname()[1]), tmp_path)
        assert outside.title == "Outside" and "The page itself." in words(outside)
        assert "the-secret" not in words(outside)
        assert not any(block.picture for page in outside.pages for block in page.blocks)
        for path in (hostile.xxe_html(tmp_path, secret), hostile.xxe_docx(tmp_path, secret)):
            assert "the-secret" not in words_or_reason(path, tmp_path)
        with pytest.raises(TimeoutError):
            server.accept()


def words_or_reason(path: Path, folder: Path, **changes) -> str:
    try:
        document = read(path, folder, **changes)
        return f"{words(document)} {document.pages[0].note}"
    except ParseError as error:
        return error.reason


@pytest.mark.torture
def test_a_page_that_burns_cpu_costs_its_own_layout_only(tmp_path):
    limits = LimitSettings(cpu_seconds_per_range=2, cpu_seconds_per_page=0.1)
    document = read(hostile.cpu_burning_pdf(tmp_path, good_pages=2), tmp_path, limits=limits)
    assert [page.parser for page in document.pages[:2]] == [PageParser.MINERU] * 2
    burning = document.pages[2]
    assert burning.parser is not PageParser.MINERU or "could not be cut" in burning.note
    assert "s of CPU time" in burning.note


@pytest.mark.torture
@pytest.mark.parametrize(
    "make", [hostile.nested_forms_pdf, hostile.memory_burning_pdf, hostile.cpu_burning_docx, hostile.memory_burning_docx]
)
def test_what_burns_ends_within_its_limits_in_words(make, tmp_path):
    found = words_or_reason(make(tmp_path), tmp_path, limits=TIGHT)
    assert "CPU time" in found or "1024 MB" in found


def test_a_scan_gets_an_image_of_each_page_and_is_the_same_every_time(tmp_path):
    path = hostile.image_only_pdf(tmp_path)
    document = read(path, tmp_path)
    store = ArtifactStore(tmp_path / "artifacts")
    assert len(document.pages) == 2 and all(page.image and store.intact(page.image) for page in document.pages)
    assert read(path, tmp_path) == document


@pytest.mark.torture
def test_stopping_ends_a_reading_at_once_and_the_next_one_works(tmp_path):
    path = hostile.cpu_burning_pdf(tmp_path)
    read(hostile.plain_pdf(tmp_path), tmp_path)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(read, path, tmp_path)
        wait_until(lambda: CHILDREN._busy)
        time.sleep(1.0)
        CHILDREN.stop()
        with pytest.raises(ParserStoppedError):
            reading.result(30)
    assert read(hostile.plain_pdf(tmp_path), tmp_path).pages


def test_children_die_with_a_parent_that_is_killed(tmp_path):
    path = hostile.cpu_burning_pdf(tmp_path, operators=9_000_000)
    script = (
        "import sys; from pathlib import Path; from tests.tasks.parsing.test_parsing import read;"
        "read(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    root = Path(__file__).parents[3]
    marker = {"TMPDIR": str(tmp_path), "PYTHONPATH": str(root), "PATH": os.environ["PATH"], "LANG": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", script, str(path), str(tmp_path)], env=marker) as parent:
        wait_until(lambda: len(_processes_with(str(tmp_path))) >= 3)
        parent.kill()
    wait_until(lambda: not _processes_with(str(tmp_path)), 60)


def _processes_with(mark: str) -> list[int]:
    """The processes whose environment names the folder; ours does not."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"LANG={mark}\0".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_pages_are_counted_and_drawn_without_reading_them(tmp_path):
    path = hostile.plain_pdf(tmp_path, pages=5)
    settings = IngestSettings()
    assert count_pages(path, settings) == 5 and count_pages(hostile.random_bytes(tmp_path), settings) is None
    drawn = tmp_path / "page"
    drawn.write_bytes(render_page(path, page=5, dpi=72, settings=settings))
    with Image.open(drawn) as picture:
        assert picture.size == (595, 842)
    with pytest.raises(ParseError, match="not a PDF with a page 6"):
        render_page(path, page=6, dpi=72, settings=settings)
