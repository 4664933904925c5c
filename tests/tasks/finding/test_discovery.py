"""Discovery finds what is there, names what it leaves out, and never waits."""

import hashlib
import os
import socket
from pathlib import Path

import pytest

from storage.errors import RequestError
from tasks.finding.files import discover


def names(found):
    return [Path(file.path).name for file in found.files]


def reasons(found):
    return {Path(item.path).name: item.reason for item in found.skipped}


def test_files_are_found_recursively_sorted_and_hashed(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "one.pdf").write_bytes(b"one")
    (tmp_path / "a.pdf").write_bytes(b"two")
    found = discover([tmp_path])
    assert names(found) == ["a.pdf", "one.pdf"]
    assert found.files[1].document_id == hashlib.sha256(b"one").hexdigest()
    assert found.files[1].size_bytes == 3
    assert found.skipped == () and found.unreadable == 0


def test_links_pipes_sockets_and_devices_are_listed_and_not_opened(tmp_path):
    (tmp_path / "real.pdf").write_bytes(b"x")
    (tmp_path / "link.pdf").symlink_to(tmp_path / "real.pdf")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.pdf")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket.pdf"))
        found = discover([tmp_path])
    assert names(found) == ["real.pdf"]
    why = reasons(found)
    assert "symbolic link" in why["link.pdf"] and "symbolic link" in why["loop"]
    assert "pipe" in why["pipe.pdf"] and "socket" in why["socket.pdf"]
    assert found.unreadable == 0


def test_a_device_named_by_the_user_is_skipped():
    assert "device" in reasons(discover(["/dev/zero"]))["zero"]


def test_a_link_that_the_user_named_is_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.pdf").write_bytes(b"x")
    (tmp_path / "shortcut").symlink_to(tmp_path / "folder")
    assert names(discover([tmp_path / "shortcut"])) == ["a.pdf"]


def test_hidden_files_are_listed(tmp_path):
    (tmp_path / ".DS_Store").write_bytes(b"x")
    (tmp_path / "..odd.pdf").write_bytes(b"x")
    found = discover([tmp_path])
    assert "hidden" in reasons(found)[".DS_Store"] and names(found) == ["..odd.pdf"]


def test_globs_choose_by_path_or_name(tmp_path):
    for name in ("a.pdf", "b.docx", "sub/c.pdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    assert names(discover([tmp_path], include=["*.pdf"])) == ["a.pdf", "c.pdf"]
    assert names(discover([tmp_path], exclude=["sub/*"])) == ["a.pdf", "b.docx"]


def test_a_missing_root_is_an_error_that_names_it(tmp_path):
    with pytest.raises(RequestError, match=r"nowhere.*does not exist"):
        discover([tmp_path / "nowhere"])


def test_names_that_are_not_text_are_found(tmp_path):
    odd = os.fsencode(tmp_path) + b"/caf\xe9\n.pdf"
    Path(os.fsdecode(odd)).write_bytes(b"x")
    (found,) = discover([tmp_path]).files
    assert os.fsencode(found.path) == odd


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_named_and_counted(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    found = discover([tmp_path])
    assert "cannot be read" in reasons(found)["closed"] and found.unreadable == 1


def test_a_file_that_cannot_be_read_is_named_and_counted(tmp_path, monkeypatch):
    (tmp_path / "a.pdf").write_bytes(b"x")
    (tmp_path / "b.pdf").write_bytes(b"y")
    real = os.open

    def refuse(path, *rest):
        if str(path).endswith("a.pdf"):
            raise PermissionError(13, "Permission denied")
        return real(path, *rest)

    monkeypatch.setattr(os, "open", refuse)
    found = discover([tmp_path])
    assert names(found) == ["b.pdf"] and "Permission denied" in reasons(found)["a.pdf"] and found.unreadable == 1
