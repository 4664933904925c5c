"""A folder of everything that should not be in a folder, and three good documents: one run, each file its own end."""

import os
import socket
import threading
import time

import pytest

from tests import hostile
from tests.torture.lab import Run, copies, findings, ingest, peak_megabytes, seeded_home

pytestmark = pytest.mark.torture

GOOD = ("maintenance_manual.docx", "budget.xlsx", "product_page.html")
LIMITS = """[limits]
memory_megabytes = 1536
cpu_seconds_per_range = 10
cpu_seconds_per_document = 60
"""
READY, FAILED = "ready", "failed"
NAMES = (
    b"new\nline.txt", b"quo'te\"s.txt", b"-leading.txt", b"spaces   and\ttab.txt", b"b" * 246 + b".txt", b"inv\xffalid\xfe.txt",
    "right-to-left-\u202eftp.txt".encode(), "mark\u200f.txt".encode(), b"$(touch owned).txt", b"back\\slash.txt", b"[bold]red[.txt",
    b"%s{0}{x}.txt",
    b"../up.txt".replace(b"/", b"\\"), "\u65e5\u672c\u8a9e \U0001f600.txt".encode(), b"escape\x1b[31m.txt", b"bell\x07.txt",
)  # fmt: skip
"""Odd names of good files; each must end ready."""
EXPECTED = (
    (hostile.zero_bytes, FAILED, "zero bytes"),
    (hostile.random_bytes, FAILED, "neither text"),
    (hostile.truncated_pdf, FAILED, "damaged"),
    (hostile.encrypted_pdf, "needs_password", "password"),
    (hostile.text_named_pdf, FAILED, "plain text"),
    (hostile.zip_bomb_docx, FAILED, "archive_ratio"),
    (hostile.huge_png, FAILED, "pixels"),
    (hostile.cpu_burning_docx, None, ""),
    (hostile.memory_burning_docx, None, ""),
    (hostile.bit_flipped_pdf, None, ""),
    (hostile.nested_forms_pdf, None, ""),
    (hostile.memory_burning_pdf, None, ""),
    (hostile.owner_locked_pdf, READY, ""),
    (hostile.pdf_named_text, READY, ""),
    (hostile.image_only_pdf, READY, ""),
    (hostile.lying_pdf, READY, ""),
    (lambda folder: hostile.cpu_burning_pdf(folder, good_pages=2), READY, ""),
)
"""What makes the file, the state it must end in (None: either is right), and a word of its reason."""


def odd_things(folder):
    """Put links, loops, pipes, sockets and a device into the folder; return how many there are."""
    outside = folder.parent / "outside.txt"
    outside.write_text("secret words that nobody may read")
    (folder / "link.txt").symlink_to(outside)
    (folder / "passwd").symlink_to("/etc/passwd")
    (folder / "dangling").symlink_to(folder / "nothing")
    (folder / "loop").symlink_to(folder)
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")
    os.mkfifo(folder / "pipe.pdf")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "sock"))
    server.close()
    return 8


class Peak:
    """Follows the parent's peak of memory while it lives."""

    def __init__(self, run):
        self.run, self.megabytes = run, 0.0
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self):
        while self.run.process.poll() is None:
            self.megabytes = max(self.megabytes, peak_megabytes(self.run.process.pid))
            time.sleep(0.2)


@pytest.mark.sentinel
def test_every_file_has_its_own_end_and_the_good_ones_are_ready(tmp_path, cheap, server, tell):
    folder = copies(tmp_path / "folder", GOOD)
    expected = {}
    for make, state, word in EXPECTED:
        expected[make(folder).name] = (state, word)
    secret = tmp_path / "secret.txt"
    secret.write_text("the-secret-of-the-machine")
    for make in (hostile.xxe_html, hostile.xxe_docx):
        expected[make(folder, secret).name] = (None, "")
    for number, name in enumerate(NAMES):
        (folder / os.fsdecode(name)).write_text(f"A note number {number} about the harbour of Northwick and its grain.\n")
    odd = odd_things(folder)
    settings = tmp_path / "limits.toml"
    settings.write_text(LIMITS)
    home = seeded_home(tmp_path / "home", cheap.home)

    run = ingest(folder, home=home, server=server, settings=settings)
    peak = Peak(run)
    run.wait(900)
    run.ended(1)
    seconds = time.monotonic() - run.began
    said = run.said
    documents = {document["name"]: document for document in said["documents"]}
    wrong = [
        f"{name}: {documents[name]['state']} ({documents[name]['reason']}), not {state} ({word})"
        for name, (state, word) in expected.items()
        if (state and documents[name]["state"] != state)
        or (documents[name]["state"] != READY and (word not in documents[name]["reason"] or len(documents[name]["reason"]) < 10))
    ]
    for name in expected:
        tell(f"{name}: {documents[name]['state']} {documents[name]['reason']}")
    tell(f"N = {len(documents)} documents, {len(said['skipped'])} skipped, {seconds:.0f} s, parent {peak.megabytes:.0f} MB")
    tell(f"95 % bound 3/N = {3 / len(documents):.3f}")
    assert wrong == []
    assert "an error in FlowReader" not in run.words
    ready = [document for document in said["documents"] if document["state"] == READY]
    assert all(documents[name]["state"] == READY and documents[name]["nodes"] > 0 for name in GOOD)
    odd_names = [document for document in ready if document["name"] not in {*expected, *GOOD, "beside.png"}]
    assert len(odd_names) == len(NAMES)
    assert all(name.isprintable() for name in documents)
    assert len(said["skipped"]) == odd and all(len(file["reason"]) > 5 for file in said["skipped"])
    assert "the-secret" not in Run("documents", "export", "--corpus", "torture", home=home).ended(0).words
    assert not list(tmp_path.rglob("owned"))
    assert peak.megabytes < 1500 and seconds < 600
    assert findings(home) == []
    assert run.survivors() == []

    again = ingest(folder, home=home, server=server, settings=settings).ended(1)
    assert time.monotonic() - again.began < 60
    assert again.said == said
    plain = Run("status", "--corpus", "torture", home=home).ended(0).words
    assert "\x1b" not in plain and "\u202e" not in plain and "\x07" not in plain


def test_two_thousand_pages_end_ready_in_bounded_memory(tmp_path, cheap, server, tell):
    folder = tmp_path / "folder"
    folder.mkdir()
    hostile.long_pdf(folder)
    run = ingest(folder, home=seeded_home(tmp_path / "home", cheap.home), server=server)
    peak = Peak(run)
    run.wait(1500)
    run.ended(0)
    tell(f"2,000 pages in {time.monotonic() - run.began:.0f} s, parent {peak.megabytes:.0f} MB")
    assert run.said["totals"]["pages"] == 2000
    assert peak.megabytes < 1500


def test_a_file_that_changes_while_it_is_read_never_gives_a_mixture(tmp_path, cheap, server):
    folder = copies(tmp_path / "folder", GOOD)
    page, texts = (
        folder / "page.html",
        [f"<html><body><h1>{word}</h1><p>{word * 40}</p></body></html>" for word in ("alpha ", "omega ")],
    )
    ended = threading.Event()

    def change():
        number = 0
        while not ended.wait(0.003):
            number += 1
            (folder / ".new").write_text(texts[number % 2])
            (folder / ".new").rename(page)

    page.write_text(texts[0])
    writer = threading.Thread(target=change)
    writer.start()
    try:
        run = ingest(folder, home=seeded_home(tmp_path / "home", cheap.home), server=server)
        assert run.wait() in (0, 1), run.words
    finally:
        ended.set()
        writer.join()
    assert "Traceback" not in run.words and all(
        document["state"] == READY or document["reason"] for document in run.said["documents"]
    )
    exported = Run("documents", "export", "--corpus", "torture", home=tmp_path / "home").ended(0).words
    assert not ("alpha alpha" in exported and "omega omega" in exported and exported.count('"page.html"') < 2)
