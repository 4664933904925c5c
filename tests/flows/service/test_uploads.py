"""What is uploaded is kept whole under a plain name, or not at all."""

import asyncio
import errno
import os
import random
import time
from pathlib import Path

import pytest

from flows.service import uploads
from flows.service.listening import check_question_settings
from flows.service.uploads import keep_upload
from storage.artifacts import PARTIAL
from storage.cleaning.owners import forget_uploads
from storage.errors import RequestError
from storage.locations import corpus_location, uploads_folder
from storage.system import DiskFullError, NotWritableError
from tasks.views.errors import RefusedError
from tests.waiting import files_below


async def parts(*sent, error=None):
    for part in sent:
        yield part
    if error:
        raise error


def kept(name, *sent, corpus="small", error=None, **more):
    return asyncio.run(keep_upload(corpus, name, parts(*sent, error=error), [].append, **more))


def files():
    return files_below(uploads_folder())


def test_the_same_content_is_kept_once_where_its_hash_says_and_under_its_name(home):
    first = kept("a plan.txt", b"ab", b"c")
    assert first == uploads_folder() / "small" / "ba7816bf8f01" / "a plan.txt" and first.read_bytes() == b"abc"
    assert kept("a plan.txt", b"abc") == first and files() == [first]
    assert kept("ünï 计划.txt", b"abc").parent == first.parent
    # how the catalog would show it, so that whoever removes the document finds it
    assert kept("a\u200db.txt", b"d").name == r"a\u200db.txt"


def test_a_folder_that_goes_with_another_file_of_the_same_content_is_made_again(home, monkeypatch):
    replace, first = Path.replace, kept("a.txt", b"abc")

    def late(partial, target):
        patched.undo()
        forget_uploads([str(first)], corpus_location("small"))
        return replace(partial, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", late)
        second = kept("b.txt", b"abc")
    assert files() == [second] and second.parent == first.parent


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        ".",
        "..",
        ".hidden",
        "a/b",
        "../a",
        "a\\b",
        "a\0b",
        "/etc/passwd",
        "a" * 201,
        "ü" * 101,
        "a\r\nb",
        "a\u202efdp.exe",
        "a\u2028b",
    ],
)
def test_a_name_that_is_no_plain_file_name_is_refused(home, name):
    with pytest.raises(RequestError) as refused:
        kept(name, b"a")
    assert "report.pdf" in refused.value.remedy and not home.exists()


NOISE = random.Random(0).randbytes(1 << 20)


@pytest.mark.parametrize("name", ["report.pdf", "notes.txt", "table.csv", "page.html", "plan.md", "slides.pptx", "noise"])
def test_what_is_no_document_is_refused_by_its_beginning_and_leaves_nothing(home, name):
    async def noise():
        yield NOISE[:7]
        for _ in range(2):
            yield NOISE[7:]
        raise AssertionError("all the rest is read, too")

    with pytest.raises(RefusedError, match="neither text nor PDF") as refused:
        asyncio.run(keep_upload("small", name, noise(), [].append))
    assert refused.value.value == name and refused.value.remedy and files() == []


@pytest.mark.parametrize(("name", "content"), [("a.pdf", b"words"), ("empty.txt", b""), ("a.docx", b"<p>words")])
def test_what_its_name_does_not_say_is_refused_whole(home, name, content):
    with pytest.raises(RefusedError, match=r"is plain text|is empty"):
        kept(name, content)
    assert files() == []


def test_all_uploads_together_have_a_quota_that_those_that_come_in_count_for(home, tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text("[limits]\nuploads_megabytes = 1\n")
    monkeypatch.setenv("FLOWREADER_ASK_SETTINGS", str(tmp_path / "own.toml"))
    first = kept("a.txt", b"a" * 500_000)
    (first.parents[1] / f"{PARTIAL}other").write_bytes(b"b" * 500_000)
    for announced in ("", "200000"):
        with pytest.raises(RefusedError, match=r"uploads hold \d of 1 MB \(limits.uploads_megabytes\)"):
            kept("c.txt", b"c" * 200_000, corpus="other", announced=announced)
    assert len(files()) == 2 and kept("c.txt", b"c" * 20_000, corpus="other").exists()


def test_a_settings_file_of_the_service_that_cannot_be_used_is_named_as_it_begins(home, tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_ASK_SETTINGS", str(tmp_path / "none.toml"))
    with pytest.raises(RequestError, match=r"none\.toml"):
        check_question_settings()


def test_what_is_cut_too_large_or_without_room_leaves_nothing(home, monkeypatch):
    with pytest.raises(RequestError):
        kept("a.txt", b"a", corpus="../small")
    with pytest.raises(ConnectionError):
        kept("a.txt", b"a", error=ConnectionError("cut"))
    (home / "own.toml").write_text("[limits]\nfile_megabytes = 1\n")
    monkeypatch.setenv("FLOWREADER_ASK_SETTINGS", str(home / "own.toml"))
    with pytest.raises(RefusedError, match="larger than 1 MB"):
        kept("a.txt", b"a" * (1 << 20), b"b")
    for announced in (str(2 << 20), str(1 << 50)):
        with pytest.raises(RefusedError, match="larger"):
            kept("a.txt", error=AssertionError("nothing is read"), announced=announced)

    def full(*_given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched, pytest.raises(DiskFullError, match="needs about"):
        patched.setattr(uploads, "sync_folder", full)
        kept("a.txt", b"a")
    # a rename has happened by then, the same content again is the same file
    assert [path.name for path in files()] == ["a.txt"]
    with monkeypatch.context() as patched, pytest.raises(DiskFullError, match="needs about"):
        patched.setattr(Path, "replace", full)
        kept("b.txt", b"b")
    assert [path.name for path in files()] == ["a.txt"] and len(list((uploads_folder() / "small").iterdir())) == 1
    (uploads_folder() / "other").write_bytes(b"")
    with pytest.raises(NotWritableError, match="FLOWREADER_HOME"):
        kept("a.txt", b"a", corpus="other")


def test_what_a_killed_service_had_begun_to_keep_goes_after_a_day(home):
    old, new = (uploads_folder() / "small" / f"{PARTIAL}{name}" for name in ("old", "new"))
    old.parent.mkdir(parents=True)
    for path in (old, new):
        path.touch()
    os.utime(old, (0, time.time() - uploads.PARTIAL_SECONDS - 9))
    kept("a.txt", b"a")
    assert not old.exists() and new.exists()
