"""What a file is follows from its content; its name only tells kinds of text apart."""

import zipfile

import docx
import openpyxl
import pptx
import pytest

from storage.records.documents import DocumentState
from tasks.parsing.formats import detect
from tasks.parsing.jobs import PDF, ParseError
from tasks.settings.ingest import LimitSettings
from tests import hostile

LIMITS = LimitSettings()
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def kind(folder, data: bytes, name: str = "file") -> str:
    path = folder / "copy"
    path.write_bytes(data)
    return detect(path, name=name, limits=LIMITS)


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"\n%PDF-1.7\n", "a.txt", PDF),
        (b"\x89PNG\r\n\x1a\n....", "a.pdf", "image/png"),
        (b"\xff\xd8\xff\xe0", "a", "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "a", "image/webp"),
        (b"{\\rtf1 Hello}", "a.txt", "application/rtf"),
        (b"<!DOCTYPE html><html><p>x", "a.txt", "text/html"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<html>", "a", "text/html"),
        (b"<p>Only a piece of a page</p>", "a.html", "text/html"),
        (b"From: x\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n", "a.mht", "multipart/related"),
        (b"# Title\n\nWords", "a.MD", "text/markdown"),
        (b"a,b\n1,2\n", "a.csv", "text/csv"),
        (b"Words", "no-suffix", "text/plain"),
        ("Gr\u00fc\u00dfe aus K\u00f6ln".encode("latin-1"), "a.txt", "text/plain"),
        ("\ufeffWords".encode("utf-16"), "a.txt", "text/plain"),
        (("\u00e9" * 40_000).encode()[: (1 << 16) + 1], "a.txt", "text/plain"),
    ],
)
def test_content_names_the_kind(data, name, expected, tmp_path):
    assert kind(tmp_path, data, name) == expected


def test_office_documents_are_distinguished_by_what_is_in_the_archive(tmp_path):
    docx.Document().save(tmp_path / "a")
    openpyxl.Workbook().save(tmp_path / "b")
    pptx.Presentation().save(tmp_path / "c")
    endings = [detect(tmp_path / name, name="x.zip", limits=LIMITS).rpartition(".")[2] for name in "abc"]
    assert endings == ["document", "sheet", "presentation"]


def test_an_open_document_names_its_own_type(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
    assert detect(tmp_path / "a.odt", name="a.odt", limits=LIMITS).endswith("opendocument.text")


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("WordDocument", "application/msword"),
        ("PowerPoint Document", "application/vnd.ms-powerpoint"),
        ("Workbook", "application/vnd.ms-excel"),
    ],
)
def test_old_office_documents_are_distinguished_by_their_streams(stream, expected, tmp_path):
    assert kind(tmp_path, OLE + bytes(504) + stream.encode("utf-16-le")) == expected


@pytest.mark.parametrize(
    ("data", "name", "words", "state"),
    [
        (b"", "a.pdf", "zero bytes", DocumentState.FAILED),
        (bytes(range(256)) * 9, "a.pdf", "neither text", DocumentState.FAILED),
        (b"\xe9\xe8" * 900, "a.txt", "neither text", DocumentState.FAILED),
        (b"Words", "a.docx", "its name says DOCX, its content is plain text", DocumentState.FAILED),
        (b"PK\x03\x04 cut short", "a.docx", "damaged ZIP", DocumentState.FAILED),
        (OLE + bytes(99), "a.doc", "OLE container", DocumentState.FAILED),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "a.docx", "encrypted Office", DocumentState.NEEDS_PASSWORD),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(data, name, words, state, tmp_path):
    with pytest.raises(ParseError, match=words) as caught:
        kind(tmp_path, data, name)
    assert caught.value.state is state


def test_a_plain_archive_is_no_document(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x.txt", "x")
    with pytest.raises(ParseError, match="unpack it"):
        detect(tmp_path / "a.zip", name="a.zip", limits=LIMITS)


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (LimitSettings(archive_entries=10), "archive_entries"),
        (LimitSettings(archive_megabytes=1), "archive_megabytes"),
        (LIMITS, "archive_ratio"),
    ],
)
def test_an_archive_is_weighed_before_it_is_opened(limits, name, tmp_path):
    with pytest.raises(ParseError, match=name):
        detect(hostile.zip_bomb_docx(tmp_path, megabytes=40), name="bomb.docx", limits=limits)
