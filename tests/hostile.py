"""Hostile words; hostile and broken files, made when needed: each function writes one file into a folder and returns its path."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

import docx
import numpy as np
import pypdfium2 as pdfium
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

LINE = "The harbour of Northwick handled {} tonnes of grain, and the warehouses were full."
PASSWORD = "open sesame"
HOSTILE = "<b>b</b> ![p](http://x/p) [bold]r[/bold] :smile: \x1b[31m \u202e {{ 7 * 7 }} | a\n# b"
HOSTILE_WORDS = (
    HOSTILE,
    "<script>alert(1)</script><img src=x onerror=alert(1)> </style></title> <!-- &amp; &lt;b&gt; \"'",
    "[click](http://evil.example/) ![pixel](http://evil.example/p.png) <http://evil.example> [1]: http://evil.example",
    "[bold red]rich[/bold red] [/] [link=http://evil.example]here[/link] :smile:",
    "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x1b[2J\x9b1m \x08",
    "left \u202eright\u202c \u2066alone\u2069 wide\u200bless \u2028 line",
    "a line\nanother\r\n\n# heading\n\n- point\n> quote\n```",
    "{{ 7 * 7 }} {% include 'page.html' %} {# gone #} {0} %s $HOME",
    "a | b || c |\n|---|\n",
    "`code` **strong** _under_ ~~gone~~ \\ backslash",
)
"""Words that a terminal, rich, Markdown, HTML or a template would obey: whatever draws them shows them, and obeys none."""


def plain_pdf(folder: Path, name: str = "plain.pdf", *, pages: int = 3, encrypt: StandardEncryption | str | None = None) -> Path:
    """A PDF with a heading and a paragraph on each page."""
    path = folder / name
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1, encrypt=encrypt)
    for number in range(1, pages + 1):
        canvas.setFont("Helvetica-Bold", 20)
        canvas.drawString(72, 760, f"Chapter {number}")
        canvas.setFont("Helvetica", 11)
        for line in range(12):
            canvas.drawString(72, 720 - 15 * line, LINE.format(1000 * number + line))
        canvas.showPage()
    canvas.save()
    return path


def raw_pdf(path: Path, contents: list[bytes], *, extra: list[bytes] = (), filters: bytes = b"", count: int | None = None) -> Path:
    """A PDF written by hand: a page for each content stream, `extra` objects after them, /Count as given."""
    pages = len(contents)
    first_stream = 3 + pages
    kids = b" ".join(b"%d 0 R" % (3 + place) for place in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages if count is None else count),
    ]
    font = b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> /XObject << %s >> >>" % b" ".join(
        b"/X%d %d 0 R" % (place, first_stream + pages + place) for place in range(len(extra))
    )
    objects += [
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources %s /Contents %d 0 R >>" % (font, first_stream + place)
        for place in range(pages)
    ]
    objects += [b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), filters, data) for data in contents]
    objects += list(extra)
    out, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return made(path, out)


def made(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def zero_bytes(folder: Path) -> Path:
    return made(folder / "empty.pdf", b"")


def random_bytes(folder: Path) -> Path:
    """Noise under the name of a PDF."""
    return made(folder / "random.pdf", np.random.default_rng(7).bytes(20_000))


def truncated_pdf(folder: Path) -> Path:
    """The first 200 bytes of a PDF: no page is left."""
    whole = plain_pdf(folder, "truncated.pdf")
    return made(whole, whole.read_bytes()[:200])


def bit_flipped_pdf(folder: Path, seed: int = 3, *, share: float = 0.02) -> Path:
    """A PDF with a share of its bytes altered, its first line apart."""
    path = plain_pdf(folder, f"flipped-{seed}.pdf")
    data = np.frombuffer(path.read_bytes(), dtype=np.uint8).copy()
    generator = np.random.default_rng(seed)
    places = generator.integers(16, len(data), int(share * len(data)))
    data[places] ^= (1 << generator.integers(0, 8, len(places))).astype(np.uint8)
    return made(path, data.tobytes())


def encrypted_pdf(folder: Path) -> Path:
    """A PDF that opens with PASSWORD only."""
    return plain_pdf(folder, "encrypted.pdf", encrypt=StandardEncryption(PASSWORD, ownerPassword="owner", strength=128))


def owner_locked_pdf(folder: Path) -> Path:
    """A PDF that may be opened and not copied from."""
    return plain_pdf(folder, "locked.pdf", encrypt=StandardEncryption("", ownerPassword="owner", canCopy=0, strength=128))


def text_named_pdf(folder: Path) -> Path:
    """Plain text under the name of a PDF."""
    return made(folder / "notes.pdf", b"These are notes, and no PDF.\n" * 20)


def pdf_named_text(folder: Path) -> Path:
    """A PDF under the name of a text."""
    return plain_pdf(folder, "report.txt")


def image_only_pdf(folder: Path, *, pages: int = 2) -> Path:
    """A scan: pictures of words, no text layer."""
    words = pdfium.PdfDocument(plain_pdf(folder, "words.pdf", pages=pages))
    (folder / "words.pdf").unlink()
    path = folder / "scan.pdf"
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    for page in words:
        canvas.drawImage(ImageReader(page.render(scale=1.5).to_pil()), 0, 0, 595, 842)
        canvas.showPage()
    canvas.save()
    return path


def long_pdf(folder: Path, *, pages: int = 2000) -> Path:
    """Many small pages."""
    return plain_pdf(folder, "long.pdf", pages=pages)


def lying_pdf(folder: Path, *, claimed: int = 900_000) -> Path:
    """A PDF of one page that claims many."""
    return raw_pdf(folder / "lying.pdf", [text_stream(["One page and no more."])], count=claimed)


def text_stream(lines: list[str]) -> bytes:
    """A content stream that writes the lines."""
    shown = b" ".join(b"(%s) Tj 0 -16 Td" % line.encode() for line in lines)
    return b"BT /F1 12 Tf 72 760 Td %s ET\n" % shown


def cpu_burning_pdf(folder: Path, *, operators: int = 2_000_000, good_pages: int = 0) -> Path:
    """A small PDF whose page has millions of path operators; before it stand `good_pages` of plain text."""
    burning = text_stream(["This page burns."]) + b"0 0 m 100 100 l S\n" * (operators // 3)
    good = [text_stream([f"Good page {number} says something."] * 5) for number in range(good_pages)]
    return raw_pdf(folder / "burning.pdf", [zlib.compress(data, 9) for data in [*good, burning]], filters=b"/Filter /FlateDecode")


def nested_forms_pdf(folder: Path, *, depth: int = 12, width: int = 10) -> Path:
    """Forms that draw forms that draw forms: width ** depth operations in a few KB."""
    forms = []
    number = 5
    for level in range(depth):
        last = level == depth - 1
        body = b"0 0 m 9 9 l S\n" if last else b"/N Do\n" * width
        inner = b"" if last else b"/Resources << /XObject << /N %d 0 R >> >>" % (number + level + 1)
        entries = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] %s /Length %d" % (inner, len(body))
        forms.append(b"<< %s >>\nstream\n%s\nendstream" % (entries, body))
    page = text_stream(["This page nests."]) + b"/X0 Do\n" * width
    return raw_pdf(folder / "nested-forms.pdf", [page], extra=forms)


def memory_burning_pdf(folder: Path, *, megabytes: int = 4096) -> Path:
    """Nested Flate: a few KB that inflate to gigabytes of content stream."""
    compressor = zlib.compressobj(9)
    once = b"".join(compressor.compress(b"0 0 m 1 1 l S\n" * 74_899) for _ in range(megabytes)) + compressor.flush()
    return raw_pdf(folder / "nested-flate.pdf", [zlib.compress(once, 9)], filters=b"/Filter [/FlateDecode /FlateDecode]")


def _zip(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
    return path


def _docx_parts(paragraphs: list[str] = ("A short letter.",)) -> dict[str, bytes]:
    buffer = io.BytesIO()
    document = docx.Document()
    for words in paragraphs:
        document.add_paragraph(words)
    document.save(buffer)
    with zipfile.ZipFile(buffer) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _docx_with_body(path: Path, body: bytes, *, before: bytes = b"") -> Path:
    parts = _docx_parts()
    head = parts["word/document.xml"].partition(b"<w:body>")[0]
    if before:
        declaration, _, rest = head.partition(b"?>")
        head = declaration + b"?>" + before + rest
    parts["word/document.xml"] = head + b"<w:body>" + body + b"</w:body></w:document>"
    return _zip(path, parts)


def cpu_burning_docx(folder: Path, *, rows: int = 3000, columns: int = 60) -> Path:
    """A small DOCX with an enormous table of tables."""
    cell = b"<w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc>"
    table = b"<w:tbl><w:tblPr/><w:tblGrid/>" + (b"<w:tr>" + cell * columns + b"</w:tr>") * rows + b"</w:tbl>"
    return _docx_with_body(folder / "burning.docx", table)


def memory_burning_docx(folder: Path, *, paragraphs: int = 400_000) -> Path:
    """A DOCX of a few MB that is an endless row of short paragraphs."""
    body = b"".join(b"<w:p><w:r><w:t>%d</w:t></w:r></w:p>" % (number * 7919) for number in range(paragraphs))
    return _docx_with_body(folder / "swelling.docx", body)


def zip_bomb_docx(folder: Path, *, megabytes: int = 300) -> Path:
    """A DOCX with a picture part that unpacks to a thousand times its size."""
    parts = _docx_parts()
    parts["word/media/image1.bin"] = bytes(megabytes << 20)
    return _zip(folder / "bomb.docx", parts)


def xxe_docx(folder: Path, secret: Path) -> Path:
    """A DOCX whose XML asks for a file of the machine."""
    entity = b'<!DOCTYPE x [<!ENTITY secret SYSTEM "file://%s">]>' % str(secret).encode()
    return _docx_with_body(folder / "xxe.docx", b"<w:p><w:r><w:t>Before &secret; after</w:t></w:r></w:p>", before=entity)


def huge_png(folder: Path, *, side: int = 30_000) -> Path:
    """A small file that says it is a picture of side x side pixels, and is."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    compressor = zlib.compressobj(9)
    row = bytes(1 + (side + 7) // 8)
    body = b"".join(compressor.compress(row * 100) for _ in range(side // 100)) + compressor.flush()
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return made(folder / "huge.png", data)


def external_html(folder: Path, secret: Path, *, port: int) -> Path:
    """A page that refers to files of the machine and to a server."""
    Image.new("RGB", (40, 30), "red").save(folder / "beside.png")
    html = f"""<!doctype html><html><head><title>Outside</title><link rel="stylesheet" href="http://127.0.0.1:{port}/style.css">
<script src="http://127.0.0.1:{port}/script.js"></script></head><body><h1>Outside</h1><p>The page itself.</p>
<img src="http://127.0.0.1:{port}/picture.png" alt="remote"><img src="file://{secret}" alt="secret"><img src="beside.png">
<iframe src="file://{secret}"></iframe><object data="file://{secret}"></object></body></html>"""
    return made(folder / "external.html", html.encode())


def xxe_html(folder: Path, secret: Path) -> Path:
    """An XHTML page whose entity asks for a file of the machine."""
    entity = f'<!DOCTYPE html [<!ENTITY secret SYSTEM "file://{secret}">]>'
    html = f'<?xml version="1.0"?>{entity}<html><body><p>Before &secret; after</p></body></html>'
    return made(folder / "xxe.html", html.encode())
