"""Pictures: the kept one, else drawn from a checked copy of the very file that was read, else a reason in words; made small."""

import base64
import io
import os
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from storage.artifacts import ArtifactStore
from storage.records.documents import Page, PageParser
from tasks.finding.mirror import discover_objects
from tasks.readers.page_pictures import NoPictureError, SourceCopies
from tasks.report.pictures import page_picture, shrink_picture
from tasks.settings.ingest import IngestSettings, LimitSettings
from tests import hostile
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import BOX, DOCX, ROTATED_BOX, a_record, id_of, squares_pdf


@pytest.fixture
def artifacts(tmp_path):
    return ArtifactStore(tmp_path / "artifacts")


def drawn(artifacts, document, page, *width):
    with SourceCopies(1) as copies:
        return page_picture(artifacts, document, page, copies, *width)


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
def test_a_page_is_drawn_as_it_is_shown_also_turned(number, size, box, artifacts, tmp_path):
    path = squares_pdf(tmp_path / "squares.pdf")
    document = a_record(id_of(path), "squares.pdf", path=str(path))
    picture = drawn(artifacts, document, a_page(number, *size), 600)
    assert picture.width == pytest.approx(600, abs=4)
    middle, around = red_inside(decoded(picture), box)
    assert middle[0] > 200 and max(middle[1:]) < 60
    assert all(min(colour) > 200 for colour in around)


def test_a_kept_picture_is_taken_wherever_the_file_is(artifacts):
    buffer = io.BytesIO()
    Image.new("RGB", (2800, 400), "navy").save(buffer, "PNG")
    picture = drawn(artifacts, a_record(document_id("scan"), "scan.pdf"), a_page(image=artifacts.put(buffer.getvalue())))
    assert (picture.width, picture.height) == (1400, 200)


def test_a_file_that_changes_between_two_pages_is_drawn_as_it_was_read(artifacts, tmp_path):
    path = squares_pdf(tmp_path / "squares.pdf")
    document = a_record(id_of(path), "squares.pdf", path=str(path))
    with SourceCopies(1) as copies:
        page_picture(artifacts, document, a_page(1), copies)
        path.write_bytes(hostile.plain_pdf(tmp_path).read_bytes())
        picture = page_picture(artifacts, document, a_page(2, 800.0, 400.0), copies)
    assert red_inside(decoded(picture), ROTATED_BOX)[0][0] > 200


def test_an_encrypted_file_and_a_page_that_is_not_there_say_so(artifacts, tmp_path):
    path = hostile.encrypted_pdf(tmp_path)
    with pytest.raises(NoPictureError, match="encrypted"):
        drawn(artifacts, a_record(id_of(path), path.name, path=str(path)), a_page())
    plain = hostile.plain_pdf(tmp_path)
    with pytest.raises(NoPictureError, match="not a PDF with a page 9"):
        drawn(artifacts, a_record(id_of(plain), plain.name, path=str(plain)), a_page(9))


def test_a_full_disk_costs_the_picture_only(artifacts, tmp_path, monkeypatch):
    path = squares_pdf(tmp_path / "squares.pdf")
    document = a_record(id_of(path), path.name, path=str(path))
    with SourceCopies(1) as copies:
        copies.of(document)
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
        with pytest.raises(NoPictureError, match="cannot be drawn: "):
            page_picture(artifacts, document, a_page(), copies)


def test_documents_without_pages_have_no_picture_and_no_excuse(artifacts):
    with pytest.raises(NoPictureError, match=r"^$"):
        drawn(artifacts, a_record(document_id("letter"), "letter.docx", media_type=DOCX), a_page(width=0.0, height=0.0))


def encoded(size, kind="PNG", mode="RGB"):
    buffer = io.BytesIO()
    Image.new(mode, size, 200).save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("size", "kind", "mode", "shown"),
    [
        ((2800, 1400), "PNG", "L", (1400, 700)),
        ((2800, 1400), "JPEG", "RGB", (1400, 700)),
        ((40, 20), "PNG", "P", (40, 20)),
        ((40, 20), "PNG", "RGBA", (40, 20)),
        ((10, 8400), "PNG", "1", (5, 4200)),
    ],
)
def test_a_picture_is_made_small_in_its_proportions_and_never_blown_up(size, kind, mode, shown):
    picture = shrink_picture(encoded(size, kind, mode))
    assert (picture.width, picture.height) == shown
    with Image.open(io.BytesIO(base64.b64decode(picture.address.removeprefix("data:image/webp;base64,")))) as again:
        assert (again.format, again.size) == ("WEBP", shown)


def test_other_formats_damaged_and_huge_pictures_are_refused_in_words(monkeypatch):
    for data in (encoded((20, 20), "GIF"), encoded((20, 20), "EPS"), encoded((400, 400))[:90], b"no picture"):
        with pytest.raises(NoPictureError, match="cannot be decoded"):
            shrink_picture(data)
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    with pytest.raises(NoPictureError):
        shrink_picture(b"\x89PNG\r\n\x1a\n" + chunk)
    monkeypatch.setattr("tasks.report.pictures.SETTINGS", IngestSettings(limits=LimitSettings(image_megapixels=1)))
    with pytest.raises(NoPictureError, match="2000 x 2000 pixels; 1 megapixels"):
        shrink_picture(encoded((2000, 2000), "JPEG"))


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def plain(tmp_path):
    return hostile.plain_pdf(tmp_path)


def a_document(path, *paths):
    return replace(a_record(id_of(path), path.name), paths=paths or (str(path),))


def test_the_unchanged_file_is_found_among_all_paths_and_nothing_but_a_plain_file_is_opened(temporary, tmp_path, plain):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(plain)
    (tmp_path / "other").write_bytes(b"other")
    names = ("missing", "pipe", "link", "other", "", plain.name)
    paths = [str(tmp_path / name) for name in names]
    with SourceCopies(1) as copies:
        found = copies.of(a_document(plain, *paths))
        assert found.read_bytes() == plain.read_bytes() and found != plain and found.name == plain.name
        assert [path for path in temporary.rglob("*") if path.is_file()] == [found]
    for lacking in (paths[:5], ["/nowhere/\\xff/x"], []):
        with SourceCopies(1) as copies, pytest.raises(NoPictureError, match="moved or changed"):
            copies.of(replace(a_document(plain), paths=tuple(lacking)))


def test_an_objects_bytes_are_found_in_our_copy_of_it(temporary, plain, home, store):
    store.put("in/plain.pdf", plain.read_bytes())
    discover_objects([store.address()], include=(), exclude=(), file_megabytes=1)
    with SourceCopies(1) as copies:
        assert copies.of(a_document(plain, store.address("in/plain.pdf"))).read_bytes() == plain.read_bytes()
    with SourceCopies(1) as copies, pytest.raises(NoPictureError, match="moved or changed"):
        copies.of(a_document(plain, store.address("in/gone.pdf")))


def test_nothing_is_left_and_where_nothing_was_asked_nothing_is_made(temporary, plain):
    with SourceCopies(1):
        assert list(temporary.iterdir()) == []
    with SourceCopies(1) as copies:
        copies.of(a_document(plain))
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []


def test_a_file_is_read_once_whatever_was_found(temporary, plain):
    missing = replace(a_document(plain), id="f" * 64)
    with SourceCopies(1) as copies:
        first = copies.of(a_document(plain))
        with pytest.raises(NoPictureError, match="moved or changed"):
            copies.of(missing)
        plain.write_bytes(b"something else")
        assert copies.of(a_document(first, "/nowhere")) == first
        with pytest.raises(NoPictureError, match="moved or changed"):
            copies.of(replace(missing, paths=(str(first),)))


def test_a_file_that_is_too_large_is_not_copied_however_it_grew(temporary, plain, monkeypatch):
    plain.write_bytes(plain.read_bytes() + b" " * (2 << 20))
    with SourceCopies(1) as copies:
        with pytest.raises(NoPictureError, match=r"larger than 1 MB \(limits.file_megabytes\)"):
            copies.of(a_document(plain))
        assert list(temporary.iterdir()) == []


def test_a_file_that_grows_while_it_is_copied_does_not_fill_the_disk(temporary, plain, monkeypatch):
    def copied(copies, stream, target):
        with plain.open("ab") as growing:
            growing.write(b" " * (4 << 20))
        return copy(copies, stream, target)

    copy, sizes = SourceCopies._copy_bytes, []
    monkeypatch.setattr(SourceCopies, "_copy_bytes", copied)
    monkeypatch.setattr(Path, "unlink", lambda path: sizes.append(path.stat().st_size))
    with SourceCopies(1) as copies, pytest.raises(NoPictureError, match="moved or changed"):
        copies.of(a_document(plain))
    assert sizes == [2 << 20]
