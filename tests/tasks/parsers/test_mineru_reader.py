"""MinerU reads without starting processes of its own, and what it embeds becomes pictures."""

import io

import docx
import mineru.backend.analysis.pdf.window as pdf_window
from PIL import Image

from storage.records import NodeKind
from tasks.parsers.jobs import Job, Work
from tasks.parsers.media import detect
from tasks.parsers.mineru_reader import read_pages, read_sample, read_whole, render_nothing
from tasks.settings import LimitSettings, OcrSettings, ParseSettings
from tests import hostile


def job_for(source, folder, **changes) -> Job:
    given = {"parse": ParseSettings(), "ocr": OcrSettings(), "limits": LimitSettings()} | changes
    return Job(work=Work.MINERU, source=source, folder=folder, name=source.name, cpu_seconds=9, wall_seconds=9, **given)


def test_mineru_renders_nothing_itself():
    assert pdf_window.attach_visual_block_images_from_pdf is render_nothing


def test_a_range_has_the_numbers_of_the_whole_document(tmp_path):
    pages = read_pages(job_for(hostile.plain_pdf(tmp_path, pages=5), tmp_path, first_page=3, last_page=4))
    assert [page.number for page in pages] == [3, 4]
    assert "4000 tonnes" in " ".join(block.text for block in pages[1].blocks)


def test_pictures_in_a_document_are_kept_and_tiny_or_broken_ones_do_no_harm(tmp_path):
    buffer = io.BytesIO()
    Image.radial_gradient("L").save(buffer, "PNG")
    document = docx.Document()
    document.add_heading("Letter", 0)
    document.add_picture(buffer)
    document.save(tmp_path / "a.docx")
    media_type = detect(tmp_path / "a.docx", name="a.docx", limits=LimitSettings())
    title, (page,) = read_whole(job_for(tmp_path / "a.docx", tmp_path, media_type=media_type))
    assert title == ""
    (figure,) = [block for block in page.blocks if block.kind is NodeKind.FIGURE]
    assert figure.picture is not None
    with Image.open(tmp_path / figure.picture) as picture:
        assert picture.size == (256, 256)


def test_a_web_page_gives_its_title_and_neither_file_nor_address(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    path = hostile.external_html(tmp_path, secret, port=9)
    title, (page,) = read_whole(job_for(path, tmp_path, media_type="text/html"))
    assert title == "Outside"
    assert "The page itself." in [block.text for block in page.blocks]
    assert not any(block.picture for block in page.blocks)


def test_the_sample_warms_everything_up(tmp_path):
    read_sample(tmp_path / "sample.pdf")
    assert (tmp_path / "sample.pdf").stat().st_size > 100
