"""The picture of a page: the kept one, else drawn from the very file that was read, else a reason in words."""

import io

import pytest
from PIL import Image

from storage.artifacts import ArtifactStore
from storage.records import Page, PageParser
from tasks.report.page_pictures import PictureDesk
from tasks.report.report_settings import ReportSettings
from tasks.report.source_copies import NoPictureError, SourceCopies
from tasks.settings import LimitSettings, WorkSettings
from tests import hostile
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import BOX, DOCX, ROTATED_BOX, a_record, id_of, squares_pdf


def desk_in(folder, **report):
    return PictureDesk(ArtifactStore(folder / "artifacts"), ReportSettings(**report), LimitSettings(), WorkSettings())


def drawn(desk, document, page):
    with SourceCopies(LimitSettings().file_megabytes) as copies:
        return desk.page(document, page, copies)


def a_page(number=1, width=400.0, height=800.0, image=None):
    return Page("page", "document", "version", number, None, width, height, PageParser.MINERU, "", "", image)


def decoded(picture):
    return Image.open(io.BytesIO(picture.data)).convert("RGB")


def red_inside(image, box):
    """The red of a point in the middle of the box, and the least white of points just outside."""
    x0, y0, x1, y1 = box
    middle = image.getpixel((int((x0 + x1) / 2 * image.width), int((y0 + y1) / 2 * image.height)))
    around = [(x0 - 0.03, (y0 + y1) / 2), (x1 + 0.03, (y0 + y1) / 2), ((x0 + x1) / 2, y0 - 0.03), ((x0 + x1) / 2, y1 + 0.03)]
    return middle, [image.getpixel((int(x * image.width), int(y * image.height))) for x, y in around]


@pytest.mark.parametrize(("number", "size", "box"), [(1, (400.0, 800.0), BOX), (2, (800.0, 400.0), ROTATED_BOX)])
def test_a_page_is_drawn_as_it_is_shown_also_turned(number, size, box, tmp_path):
    path = squares_pdf(tmp_path / "squares.pdf")
    document = a_record(id_of(path), "squares.pdf", path=str(path))
    picture = drawn(desk_in(tmp_path, picture_width=600), document, a_page(number, *size))
    assert picture.width == pytest.approx(600, abs=4)
    middle, around = red_inside(decoded(picture), box)
    assert middle[0] > 200 and max(middle[1:]) < 60
    assert all(min(colour) > 200 for colour in around)


def test_a_kept_picture_is_taken_wherever_the_file_is(tmp_path):
    desk = desk_in(tmp_path, picture_width=200)
    buffer = io.BytesIO()
    Image.new("RGB", (800, 400), "navy").save(buffer, "PNG")
    name = desk.artifacts.put(buffer.getvalue())
    picture = drawn(desk, a_record(document_id("scan"), "scan.pdf"), a_page(image=name))
    assert (picture.width, picture.height) == (200, 100)


def test_a_kept_picture_that_is_gone_or_no_picture_says_so(tmp_path):
    desk = desk_in(tmp_path)
    with pytest.raises(NoPictureError, match="missing or damaged"):
        desk.kept("0" * 64)
    with pytest.raises(NoPictureError, match="cannot be decoded"):
        desk.kept(desk.artifacts.put(b"no picture"))


def test_a_file_that_moved_or_changed_is_not_drawn(tmp_path):
    path = squares_pdf(tmp_path / "squares.pdf")
    document = a_record(id_of(path), "squares.pdf", path=str(path))
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(NoPictureError, match="moved or changed"):
        drawn(desk_in(tmp_path), document, a_page())
    path.unlink()
    with pytest.raises(NoPictureError, match="moved or changed"):
        drawn(desk_in(tmp_path), document, a_page())


def test_a_file_that_changes_between_two_pages_is_drawn_as_it_was_read(tmp_path):
    path = squares_pdf(tmp_path / "squares.pdf")
    document, desk = a_record(id_of(path), "squares.pdf", path=str(path)), desk_in(tmp_path)
    with SourceCopies(LimitSettings().file_megabytes) as copies:
        desk.page(document, a_page(1), copies)
        path.write_bytes(hostile.plain_pdf(tmp_path).read_bytes())
        picture = desk.page(document, a_page(2, 800.0, 400.0), copies)
    assert red_inside(decoded(picture), ROTATED_BOX)[0][0] > 200


def test_an_encrypted_file_and_a_page_that_is_not_there_say_so(tmp_path):
    path = hostile.encrypted_pdf(tmp_path)
    with pytest.raises(NoPictureError, match="encrypted"):
        drawn(desk_in(tmp_path), a_record(id_of(path), path.name, path=str(path)), a_page())
    plain = hostile.plain_pdf(tmp_path)
    with pytest.raises(NoPictureError, match="no PDF with a page 9"):
        drawn(desk_in(tmp_path), a_record(id_of(plain), plain.name, path=str(plain)), a_page(9))


def test_a_full_disk_costs_the_picture_only(tmp_path, monkeypatch):
    path = squares_pdf(tmp_path / "squares.pdf")
    document, desk = a_record(id_of(path), path.name, path=str(path)), desk_in(tmp_path)
    with SourceCopies(LimitSettings().file_megabytes) as copies:
        copies.of(document)
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
        with pytest.raises(NoPictureError, match="cannot be drawn: "):
            desk.page(document, a_page(), copies)


def test_documents_without_pages_have_no_picture_and_no_excuse(tmp_path):
    with pytest.raises(NoPictureError, match=r"^$"):
        drawn(desk_in(tmp_path), a_record(document_id("letter"), "letter.docx", media_type=DOCX), a_page(width=0.0, height=0.0))
