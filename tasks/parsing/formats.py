"""The file formats: one table of how each is recognised by its content and which parser reads it, and the recognition itself."""

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import BinaryIO

from storage.records.documents import DocumentState
from tasks.parsing import pictures, plain
from tasks.parsing.jobs import PDF, Job, ParseError, Reading
from tasks.settings.ingest import LimitSettings

HEAD_BYTES = 1 << 16
RATIO_COUNTS_FROM_BYTES = 32 << 20
PLAIN_TEXT = "text/plain"
ZIP_START, OLE_START = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)[\s>]", re.I | re.S
)
HTML_TAG = re.compile(rb"<(?:html|body|head|p|div|table|h1|title)[\s>]", re.I)
MHTML_START = re.compile(rb"(?=.{0,4096}?^mime-version:)(?=.{0,4096}?multipart/related)", re.I | re.S | re.M)


class Container(Enum):
    ZIP, OLE, TEXT, BYTES = auto(), auto(), auto(), auto()


@dataclass(frozen=True, slots=True)
class Format:
    """A file format; of those that fit a file, the first in the table is it.

    A file is recognised by its container and by what is `inside` (a file of the ZIP archive, a stream of the OLE container) or by
    what it `starts` with; the file `mimetype` of an archive may name the media type instead. Text is also recognised by the suffix
    of its name, where it `holds` what it must. Other text is plain text, but refused under the suffix of a binary format.
    A PDF has no parser here: it is read range by range.
    """

    media_type: str
    container: Container
    parse: Callable[[Job], Reading] | None
    suffixes: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    starts: re.Pattern[bytes] | None = None
    holds: re.Pattern[bytes] = re.compile(b"")


def _office(kind: str, parser_name: str, suffixes: tuple[str, ...], part: str) -> Format:
    media_type = f"application/vnd.openxmlformats-officedocument.{kind}"
    return Format(media_type, Container.ZIP, _by_mineru(parser_name), suffixes, (part,))


def _open_document(kind: str, suffix: str) -> Format:
    return Format(f"application/vnd.oasis.opendocument.{kind}", Container.ZIP, _by_mineru(suffix), (suffix,))


def _old_office(kind: str, suffix: str, *streams: str) -> Format:
    return Format(f"application/{kind}", Container.OLE, _by_mineru(suffix), (suffix,), streams)


def _picture(kind: str, suffixes: tuple[str, ...], starts: bytes) -> Format:
    return Format(f"image/{kind}", Container.BYTES, pictures.read_picture, suffixes, starts=re.compile(starts, re.S))


def _by_mineru(name: str) -> Callable[[Job], Reading]:
    """Return MinerU as the parser of the format that it calls so."""

    def read(job: Job) -> Reading:
        # Loaded where a file is read, not where one is recognised.
        from tasks.parsing import mineru

        return mineru.read_whole(job, format_name=name)

    return read


FORMATS = (
    Format(PDF, Container.BYTES, None, ("pdf",), starts=re.compile(rb".{0,1019}%PDF-", re.S)),
    _office("wordprocessingml.document", "docx", ("docx", "docm"), "word/document.xml"),
    _office("presentationml.presentation", "pptx", ("pptx", "pptm"), "ppt/presentation.xml"),
    _office("spreadsheetml.sheet", "xlsx", ("xlsx", "xlsm"), "xl/workbook.xml"),
    Format("application/ofd", Container.ZIP, _by_mineru("ofd"), ("ofd",), ("OFD.xml",)),
    _open_document("text", "odt"),
    _open_document("presentation", "odp"),
    _open_document("spreadsheet", "ods"),
    Format("application/epub+zip", Container.ZIP, _by_mineru("epub"), ("epub",)),
    _old_office("msword", "doc", "WordDocument"),
    _old_office("vnd.ms-powerpoint", "ppt", "PowerPoint Document"),
    _old_office("vnd.ms-excel", "xls", "Workbook", "Book"),
    Format("application/rtf", Container.BYTES, _by_mineru("rtf"), starts=re.compile(rb"\{\\rtf")),
    _picture("png", ("png",), rb"\x89PNG\r\n\x1a\n"),
    _picture("jpeg", ("jpg", "jpeg"), rb"\xff\xd8\xff"),
    _picture("gif", ("gif",), rb"GIF8[79]a"),
    _picture("tiff", ("tif", "tiff"), rb"II\*\x00|MM\x00\*"),
    _picture("bmp", ("bmp",), rb"BM"),
    _picture("jp2", ("jp2",), rb"\x00\x00\x00\x0cjP  \r\n\x87\n"),
    _picture("webp", ("webp",), rb"RIFF.{4}WEBP"),
    Format("text/html", Container.TEXT, _by_mineru("html"), ("html", "htm"), starts=HTML_START, holds=HTML_TAG),
    Format("multipart/related", Container.TEXT, _by_mineru("mhtml"), starts=MHTML_START),
    Format("text/markdown", Container.TEXT, plain.read_markdown, ("md", "markdown")),
    Format("text/csv", Container.TEXT, _by_mineru("csv"), ("csv",)),
    Format("text/tab-separated-values", Container.TEXT, _by_mineru("tsv"), ("tsv",)),
    Format(PLAIN_TEXT, Container.TEXT, plain.read_plain),
)
PARSERS = {each.media_type: each.parse for each in FORMATS if each.parse}
NO_TEXT = {"zip", *(suffix for each in FORMATS if each.container is not Container.TEXT for suffix in each.suffixes)}


def detect(path: Path, *, name: str, limits: LimitSettings) -> str:
    """Return the media type of the file's content; `name` only tells kinds of text apart.

    Raises ParseError for an empty file, one that is no document, text under a wrong suffix, or an archive bomb.
    """
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
        if head.startswith(ZIP_START):
            return _archive_type(stream, limits=limits)
        return _compound_type(stream) if head.startswith(OLE_START) else type_of_head(head, name=name)


def type_of_head(head: bytes, *, name: str) -> str:
    """Return the media type of a file that begins with these HEAD_BYTES, "" for a container: that takes the whole file.

    Raises ParseError as `detect` does.
    """
    if not head:
        raise ParseError(DocumentState.FAILED, "the file is empty (zero bytes)")
    if head.startswith((ZIP_START, OLE_START)):
        return ""
    started = (each.media_type for each in FORMATS if each.container is Container.BYTES and each.starts and each.starts.match(head))
    return next(started, None) or _text_type(head, suffix=name.rpartition(".")[2].lower() if "." in name else "")


def _text_type(head: bytes, *, suffix: str) -> str:
    if not _is_text(head):
        raise ParseError(DocumentState.FAILED, "its content is neither text nor PDF, DOCX, PPTX, XLSX, HTML or a picture")
    for each in FORMATS:
        by_name = suffix in each.suffixes and each.holds.search(head)
        if each.container is Container.TEXT and (by_name or (each.starts and each.starts.match(head))):
            return each.media_type
    if suffix in NO_TEXT:
        raise ParseError(
            DocumentState.FAILED, f"its name says {suffix.upper()}, its content is plain text; rename it to .txt to read it as text"
        )
    return PLAIN_TEXT


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
                if any(each.media_type == named for each in FORMATS if each.container is Container.ZIP):
                    return named
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise ParseError(DocumentState.FAILED, f"the file is a damaged ZIP archive or Office document ({error})") from error
    found = next(
        (each.media_type for each in FORMATS if each.container is Container.ZIP and not names.isdisjoint(each.inside)), None
    )
    if found is None:
        raise ParseError(DocumentState.FAILED, "it is a ZIP archive, not a document; unpack it and ingest what is in it")
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
    if "EncryptedPackage".encode("utf-16-le") in content:
        raise ParseError(
            DocumentState.NEEDS_PASSWORD, "it is an encrypted Office document; save it without its password and ingest it again"
        )
    for each in FORMATS:
        if each.container is Container.OLE and any(name.encode("utf-16-le") in content for name in each.inside):
            return each.media_type
    raise ParseError(DocumentState.FAILED, "it is an OLE container without a Word, Excel or PowerPoint document in it")
