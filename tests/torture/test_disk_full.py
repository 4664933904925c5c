"""A disk that fills up while an ingest writes, and one that may not be written."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest

from tests.torture.lab import check_oracle, export, ingest, location, sampled

pytestmark = [
    pytest.mark.torture,
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="only root can mount a small file system"),
]


@contextmanager
def small_disk(folder, kilobytes):
    """Mount a file system of this size on the folder."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a tmpfs")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(folder, options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def kilobytes_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1024


@pytest.mark.parametrize("share", sampled((0.005, 0.05, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9), 3))
def test_a_full_disk_is_named_and_the_ingest_goes_on_once_there_is_room(tmp_path, cheap, server, share, tell):
    home = tmp_path / "disk"
    with small_disk(home, max(64, int(share * kilobytes_of(cheap.home)))):
        run = ingest(cheap.documents, home=home, server=server)
        code = run.wait()
        left = run.survivors()
        remount(home, "size=300m")
        assert left == []
        if code != 0 or share < 0.5:
            run.ended(2)
            assert "disk full at" in run.error and str(home) in run.error and "MB" in run.error
        tell(f"{share:.1%} of the room: exit {code}")
        ingest(cheap.documents, home=home, server=server).ended(0)
        check_oracle(home, cheap.export)


def test_a_full_disk_under_a_temporary_prefect_server_is_named_too(tmp_path, cheap, server):
    home = tmp_path / "disk"
    with small_disk(home, 600):
        run = ingest(cheap.documents, home=home).ended(2)
        assert "disk full" in run.error and str(home) in run.error
        remount(home, "size=300m")
        ingest(cheap.documents, home=home, server=server).ended(0)
        check_oracle(home, cheap.export)


@pytest.mark.sentinel
def test_what_was_published_before_the_disk_was_full_stays(tmp_path, cheap, server):
    home, document = tmp_path / "disk", cheap.documents / "budget.xlsx"
    with small_disk(home, 300_000):
        ingest(document, home=home, server=server).ended(0)
        before = export(home)
        remount(home, f"size={kilobytes_of(home) + 500}k")
        run = ingest(cheap.documents, home=home, server=server).ended(2)
        assert "disk full at" in run.error
        assert export(home) == before
        remount(home, "size=300m")
        ingest(cheap.documents, home=home, server=server).ended(0)
        check_oracle(home, cheap.export)


def test_a_read_only_home_is_named_before_any_work(tmp_path, cheap, server):
    home = tmp_path / "disk"
    with small_disk(home, 300_000):
        remount(home, "ro")
        run = ingest(cheap.documents, home=home, server=server).ended(2)
        assert "cannot be written" in run.error and str(home) in run.error and "FLOWREADER_HOME" in run.error


def test_a_published_corpus_can_be_read_on_a_read_only_disk(tmp_path, cheap):
    home = tmp_path / "disk"
    with small_disk(home, 300_000):
        shutil.copytree(cheap.home / "corpora", home / "corpora")
        shutil.copytree(cheap.home / "artifacts", home / "artifacts")
        remount(home, "ro")
        assert location(home).current.exists()
        check_oracle(home, cheap.export)
