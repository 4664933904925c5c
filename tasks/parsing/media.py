"""What a file is, by its content: magic numbers, the names in a ZIP archive, and whether it is text at all."""

import re
import zipfile
from pathlib import Path
from typing import BinaryIO

from storage.records.documents import DocumentState
from tasks.parsing.jobs import ParseError
from tasks.settings.ingest import LimitSettings

HEAD_BYTES = 1 << 16
RATIO_COUNTS_FROM_BYTES = 32 << 20
OFFICE = "application/vnd.openxmlformats-officedocument."
OPEN_DOCUMENT = "application/vnd.oasis.opendocument."

PDF = "application/pdf"
HTML = "text/html"
PLAIN = "text/plain"
MARKDOWN = "text/markdown"

MINERU_SUFFIX = {
    f"{OFFICE}wordprocessingml.document": "docx",
    f"{OFFICE}presentationml.presentation": "pptx",
    f"{OFFICE}spreadsheetml.sheet": "xlsx",
    f"{OPEN_DOCUMENT}text": "odt",
    f"{OPEN_DOCUMENT}presentation": "odp",
    f"{OPEN_DOCUMENT}spreadsheet": "ods",
    "application/epub+zip": "epub",
    "application/ofd": "ofd",
    "application/msword": "doc",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.ms-excel": "xls",
    "application/rtf": "rtf",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    HTML: "html",
    "multipart/related": "mhtml",
}
"""The media types that MinerU reads whole, and its name for each."""

MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"BM", "image/bmp"),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", "image/jp2"),
    (b"{\\rtf", "application/rtf"),
)
ZIP_PARTS = (
    ("word/document.xml", f"{OFFICE}wordprocessingml.document"),
    ("ppt/presentation.xml", f"{OFFICE}presentationml.presentation"),
    ("xl/workbook.xml", f"{OFFICE}spreadsheetml.sheet"),
    ("OFD.xml", "application/ofd"),
)
OLE_STREAMS = (
    ("EncryptedPackage", "encrypted"),
    ("WordDocument", "application/msword"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
    ("Workbook", "application/vnd.ms-excel"),
    ("Book", "application/vnd.ms-excel"),
)
BINARY_SUFFIXES = frozenset(
    {"pdf", "docx", "docm", "pptx", "pptm", "xlsx", "xlsm", "odt", "odp", "ods", "epub", "ofd", "doc", "ppt", "xls"}
    | {"png", "jpg", "jpeg", "gif", "tif", "tiff", "bmp", "webp", "jp2", "zip"}
)
TEXT_SUFFIXES = {"md": MARKDOWN, "markdown": MARKDOWN, "csv": "text/csv", "tsv": "text/tab-separated-values"}
HTML_START = re.compile(rb"\s*(?:<!--.*?-->\s*)*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)[\s>]", re.I | re.S)
HTML_TAG = re.compile(rb"<(?:html|body|head|p|div|table|h1|title)[\s>]", re.I)
MHTML_START = re.compile(rb"(?=.{0,4096}?^mime-version:)(?=.{0,4096}?multipart/related)", re.I | re.S | re.M)
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def detect(path: Path, *, name: str, limits: LimitSettings) -> str:
    """Return the media type of the file's content; `name` only tells kinds of text apart.

    Raises ParseError for what is empty, no document, text under the name of something else, or an archive bomb.
    """
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
        if not head:
            raise ParseError(DocumentState.FAILED, "the file is empty (zero bytes)")
        if head.startswith(b"PK\x03\x04"):
            return _archive_type(stream, limits=limits)
        if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
            return _compound_type(stream)
    return _binary_type(head) or _text_type(head, suffix=name.rpartition(".")[2].lower() if "." in name else "")


def _binary_type(head: bytes) -> str | None:
    if b"%PDF-" in head[:1024]:
        return PDF
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for magic, media_type in MAGIC if head.startswith(magic)), None)


def _text_type(head: bytes, *, suffix: str) -> str:
    if not _is_text(head):
        raise ParseError(DocumentState.FAILED, "its content is neither text nor PDF, DOCX, PPTX, XLSX, HTML or a picture")
    if HTML_START.match(head.removeprefix(b"\xef\xbb\xbf")) or (suffix in {"html", "htm"} and HTML_TAG.search(head)):
        return HTML
    if MHTML_START.match(head):
        return "multipart/related"
    if suffix in BINARY_SUFFIXES:
        raise ParseError(
            DocumentState.FAILED, f"its name says {suffix.upper()}, its content is plain text; rename it to .txt to read it as text"
        )
    return TEXT_SUFFIXES.get(suffix, PLAIN)


def _is_text(head: bytes) -> bool:
    """Say whether the bytes are UTF-16 with its mark, UTF-8, or an 8-bit text without control characters."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return True
    if CONTROL.search(head):
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:
            return sum(byte >= 128 for byte in head) < 0.3 * len(head)
    return True


def _archive_type(stream: BinaryIO, *, limits: LimitSettings) -> str:
    """Name the document in a ZIP archive, after its directory was weighed."""
    try:
        with zipfile.ZipFile(stream) as archive:
            entries = archive.infolist()
            _refuse_bomb(entries, limits=limits)
            names = {entry.filename for entry in entries}
            if "mimetype" in names:
                with archive.open("mimetype") as part:
                    named = part.read(256).decode("ascii", "replace").strip()
                if named in MINERU_SUFFIX:
                    return named
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise ParseError(DocumentState.FAILED, f"the file is a damaged ZIP archive or Office document ({error})") from error
    found = next((media_type for part, media_type in ZIP_PARTS if part in names), None)
    if found is None:
        raise ParseError(DocumentState.FAILED, "it is a ZIP archive and no document; unpack it and ingest what is in it")
    return found


def _refuse_bomb(entries: list[zipfile.ZipInfo], *, limits: LimitSettings) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    problem = ""
    if len(entries) > limits.archive_entries:
        problem = f"it holds {len(entries)} files; {limits.archive_entries} are allowed (limits.archive_entries)"
    elif unpacked > limits.archive_megabytes << 20:
        problem = f"it unpacks to {unpacked >> 20} MB; {limits.archive_megabytes} are allowed (limits.archive_megabytes)"
    elif unpacked > RATIO_COUNTS_FROM_BYTES and unpacked > limits.archive_ratio * max(packed, 1):
        problem = f"it unpacks {packed >> 10} KB to {unpacked >> 20} MB, like a ZIP bomb (limits.archive_ratio)"
    if problem:
        raise ParseError(DocumentState.FAILED, problem)


def _compound_type(stream: BinaryIO) -> str:
    stream.seek(0)
    content = stream.read()
    for stream_name, media_type in OLE_STREAMS:
        if stream_name.encode("utf-16-le") in content:
            if media_type == "encrypted":
                raise ParseError(
                    DocumentState.NEEDS_PASSWORD,
                    "it is an encrypted Office document; save it without its password and ingest it again",
                )
            return media_type
    raise ParseError(DocumentState.FAILED, "it is an OLE container without a Word, Excel or PowerPoint document in it")
