"""A document's file is found among its paths once, copied whole, checked, and nothing but a plain file is opened."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.object_discovery import discover_objects
from tasks.report.source_copies import NoPictureError, SourceCopies
from tests import hostile
from tests.tasks.report.report_worlds import a_record, id_of


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
    def place(copies):
        with plain.open("ab") as growing:
            growing.write(b" " * (4 << 20))
        return make_place(copies)

    make_place, sizes = SourceCopies._place, []
    monkeypatch.setattr(SourceCopies, "_place", place)
    monkeypatch.setattr(Path, "unlink", lambda path: sizes.append(path.stat().st_size))
    with SourceCopies(1) as copies, pytest.raises(NoPictureError, match="moved or changed"):
        copies.of(a_document(plain))
    assert sizes == [2 << 20]


def test_a_disk_without_room_is_told_each_time(plain, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    with SourceCopies(1) as copies:
        for _ in range(2):
            with pytest.raises(NoPictureError, match=r"the page cannot be drawn: .*No such file"):
                copies.of(a_document(plain))
