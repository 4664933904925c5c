import os

import pytest

from storage.artifacts import ArtifactDamagedError, ArtifactStore, hash_bytes, kept_artifacts, write_durably


def damaged(store, name, how):
    path = store.path(name)
    data = bytearray(path.read_bytes())
    if how == "torn":
        data = data[: len(data) // 2]
    elif how == "zero":
        data = bytearray()
    else:
        data[3] ^= 1
    path.write_bytes(data)


def test_what_is_put_is_read(tmp_path):
    store = ArtifactStore(tmp_path)
    name = store.put(b"a picture")
    assert (name, store.read(name), store.intact(name)) == (hash_bytes(b"a picture"), b"a picture", True)


@pytest.mark.parametrize("how", ["torn", "zero", "flipped"])
def test_a_damaged_artifact_is_refused_and_put_again(tmp_path, how):
    store = ArtifactStore(tmp_path)
    name = store.put(b"a picture")
    damaged(store, name, how)
    assert not store.intact(name)
    with pytest.raises(ArtifactDamagedError, match="does not match its hash"):
        store.read(name)
    assert store.put(b"a picture") == name
    assert store.read(name) == b"a picture"


def test_an_artifact_put_again_is_young_again(tmp_path):
    store = ArtifactStore(tmp_path)
    path = store.path(store.put(b"x"))
    os.utime(path, (1, 1))
    inode = path.stat().st_ino
    store.put(b"x")
    assert path.stat().st_mtime > 1
    assert path.stat().st_ino == inode


def test_a_write_that_fails_leaves_the_old_bytes_and_no_partial_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_durably(path, b"old")
    with pytest.raises(TypeError):
        write_durably(path, "no bytes")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


def test_an_artifact_that_is_nowhere_is_missing(home):
    with pytest.raises(ArtifactDamagedError, match="is missing"):
        kept_artifacts().read("0" * 64)
    assert kept_artifacts().folder == home / "artifacts"
