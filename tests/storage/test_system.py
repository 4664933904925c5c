"""What the machine does: disks that are full or may not be written, memory that is given back, and where everything lies."""

import errno
import os
import threading
import time
from pathlib import Path

import duckdb
import pytest
from PIL import UnidentifiedImageError

from storage import locations
from storage.errors import RequestError
from storage.graph.store import GraphDamagedError, explain_damage
from storage.graph.tables import TableName
from storage.locations import corpus_location
from storage.system import (
    DiskFullError,
    NotWritableError,
    bound_arenas,
    check_writable,
    explain_full_disk,
    full_disk,
    give_back,
    is_full_disk,
    may_pass,
    open_plain,
    require_room,
    system_error_of,
)


def test_the_home_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    assert locations.home() == tmp_path
    folders = (
        locations.artifacts_folder,
        locations.steps_folder,
        locations.mirrors_folder,
        locations.pictures_folder,
        locations.abilities_folder,
        locations.evaluations_file,
        locations.evaluations_folder,
        locations.prefect_folder,
        locations.reports_folder,
    )
    assert {folder().parent for folder in folders} == {tmp_path}


def test_without_the_environment_the_home_is_the_users_and_prefect_keeps_its_own(monkeypatch, tmp_path):
    monkeypatch.delenv("FLOWREADER_HOME", raising=False)
    assert locations.home() == Path.home() / ".local" / "share" / "flowreader"
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "own"))
    assert locations.prefect_folder() == tmp_path / "own"


def test_everything_of_a_corpus_lies_in_its_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path))
    place = corpus_location("my-corpus.2")
    assert place.folder == tmp_path / "corpora" / "my-corpus.2"
    parts = (place.lance, place.catalog, place.snapshots, place.current, place.lock, place.runs, place.evaluations)
    assert {part.parent for part in parts} == {place.folder} and place.home == locations.home()


@pytest.mark.parametrize("name", ["", "..", "a/b", "/etc", ".hidden", "a\n", "ä", "x" * 65])
def test_a_name_that_could_leave_the_folder_is_refused(name):
    with pytest.raises(RequestError, match="not usable"):
        corpus_location(name)


def test_a_full_disk_is_known_through_the_errors_that_wrap_it():
    try:
        try:
            raise OSError(errno.ENOSPC, "full")
        except OSError as error:
            raise ValueError("cannot write") from error
    except ValueError as error:
        assert is_full_disk(error)
    assert is_full_disk(RuntimeError('lance error: Io { "No space left on device (os error 28)" }'))
    assert not is_full_disk(OSError(errno.EACCES, "no"))


def test_a_full_disk_says_where_and_how_much(tmp_path):
    with (
        pytest.raises(DiskFullError, match=rf"disk full at '{tmp_path}', needs about 12 MB"),
        explain_full_disk(tmp_path, 12_000_000),
    ):
        raise OSError(errno.ENOSPC, "full")


def test_other_errors_and_explained_ones_pass_as_they_are(tmp_path):
    with pytest.raises(ZeroDivisionError), explain_full_disk(tmp_path, 1):
        1 / 0  # noqa: B018
    with pytest.raises(DiskFullError, match="at here"), explain_full_disk(tmp_path, 1):
        raise DiskFullError("disk full at here")


def test_room_is_asked_for_before_writing(tmp_path):
    require_room(tmp_path, 1)
    with pytest.raises(DiskFullError):
        require_room(tmp_path, 2**60)


def test_a_folder_that_can_be_written_is_made(tmp_path):
    check_writable(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotWritableError, match="file/home' cannot be written"):
        check_writable(tmp_path / "file" / "home")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(NotWritableError, match="cannot be written"):
        check_writable(tmp_path)


def test_a_full_disk_shows_when_the_folder_is_checked(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError, match="disk full"):
        check_writable(tmp_path)


def test_a_full_disk_says_what_is_free_where_that_is_known(tmp_path):
    assert "MB are free)" in str(full_disk(tmp_path, 1))
    assert "how much is free is not known" in str(full_disk(tmp_path / "unmounted", 1))


def resident_megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 2**20


def fragmented():
    pieces = [bytes(50_000) for _ in range(4000)]
    last = pieces[-1] + b"x"
    del pieces
    return last


def test_memory_of_many_threads_is_given_back():
    bound_arenas()
    before, kept = resident_megabytes(), []
    threads = [threading.Thread(target=lambda: kept.append(fragmented())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    give_back()
    assert len(kept) == 6 and resident_megabytes() - before < 50


def test_a_plain_file_is_opened_and_neither_a_link_followed_nor_a_pipe_waited_for(tmp_path):
    plain, link, pipe = (tmp_path / name for name in ("plain", "link", "pipe"))
    plain.write_bytes(b"words")
    link.symlink_to(plain)
    os.mkfifo(pipe)
    with open_plain(str(plain)) as stream:
        assert stream.read() == b"words"
    for other in (link, pipe):
        with pytest.raises(OSError, match=r"symbolic|no longer a regular file"):
            open_plain(str(other))


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (OSError(errno.EIO, "broken"), errno.EIO),
        (TimeoutError("too slow"), None),
        (
            RuntimeError(
                "lance error: LanceError(IO): Generic error: x.lance: Too many open files (os error 24), core/src/result.rs"
            ),
            24,
        ),
        (
            duckdb.TransactionException(
                'TransactionContext Error: Failed to commit: Could not write file "/a/b": Input/output error'
            ),
            errno.EIO,
        ),
        (duckdb.IOException('IO Error: Cannot open file "/a": b": Too many open files'), errno.EMFILE),
        (duckdb.IOException('IO Error: Could not read from file "/a/b": of late'), None),
        (duckdb.ConversionException("Conversion Error: Could not convert 'Could not read file \"x\": Input/output error'"), None),
        (OSError("LanceError(IO): x.lance (os error 5)"), errno.EIO),
        (RuntimeError("lance error: Not found: x.lance"), None),
        (RuntimeError(f"lance error: {'x' * 2000} (os error 5)"), None),
        (RuntimeError("the page says lance error: LanceError(IO) (os error 104)"), None),
        (ValueError("the page says (os error 104)"), None),
    ],
)
def test_the_systems_error_is_known_in_what_engines_make_of_it(error, number):
    assert system_error_of(error) == number


def test_what_an_engine_says_of_the_system_is_known_through_an_error_of_ours():
    with pytest.raises(GraphDamagedError) as raised, explain_damage(TableName.NODES):
        raise RuntimeError("lance error: LanceError(IO): Too many open files (os error 24)")
    assert system_error_of(raised.value) == errno.EMFILE


@pytest.mark.parametrize("kind", [ValueError, RuntimeError, duckdb.IOException])
@pytest.mark.parametrize("words", ['Could not x file "', "Error: ", "lance error ", 'IO Error: Could not x file "": '])
def test_long_words_are_looked_at_in_moments(kind, words):
    began = time.thread_time()
    assert system_error_of(kind(words * 100_000)) is None
    assert time.thread_time() - began < 1.0


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (OSError(errno.EAGAIN, "try again"), True),
        (ConnectionResetError(), True),
        (TimeoutError("too slow"), True),
        (OSError(errno.ENOSPC, "full"), False),
        (OSError(errno.EROFS, "read-only"), False),
        (OSError(errno.EINVAL, "no such thing"), False),
        (FileExistsError(errno.EEXIST, "there already"), False),
        (FileNotFoundError(errno.ENOENT, "gone"), False),
        (UnidentifiedImageError("cannot identify image file"), False),
        (ValueError("wrong"), False),
        (RuntimeError("lance error: LanceError(IO): x.lance: Too many open files (os error 24)"), True),
        (RuntimeError("lance error: LanceError(IO): no space left on device (os error 28)"), False),
    ],
)
def test_only_what_can_pass_is_tried_again(error, passes):
    assert may_pass(error) is passes
