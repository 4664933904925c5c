import os

import pytest

from storage.artifacts import ArtifactDamagedError, ArtifactStore, hash_bytes, kept_artifacts, share, shared_name, write_durably
from storage.object_address import StoreAddress
from storage.object_store import ObjectStore


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


def test_a_missing_artifact_is_named(tmp_path):
    with pytest.raises(ArtifactDamagedError, match="0000 is missing"):
        ArtifactStore(tmp_path).read("0" * 64)


def test_an_artifact_put_again_is_young_again(tmp_path):
    store = ArtifactStore(tmp_path)
    path = store.path(store.put(b"x"))
    os.utime(path, (1, 1))
    inode = path.stat().st_ino
    store.put(b"x")
    assert path.stat().st_mtime > 1
    assert path.stat().st_ino == inode


def test_every_file_of_the_store_is_listed(tmp_path):
    store = ArtifactStore(tmp_path)
    names = {store.put(bytes([number])) for number in range(5)}
    assert {path.name for path in store.files()} == names


def test_a_write_that_fails_leaves_the_old_bytes_and_no_partial_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_durably(path, b"old")
    with pytest.raises(TypeError):
        write_durably(path, "no bytes")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


@pytest.fixture
def machines(shared, tmp_path):
    """The artifacts of two machines that share a store."""
    return [ArtifactStore(tmp_path / name, ObjectStore(shared)) for name in ("one", "two")]


def test_what_one_machine_puts_another_reads_and_keeps(machines):
    name = machines[0].put(b"a picture")
    assert not machines[1].path(name).exists()
    assert (machines[1].read(name), machines[1].path(name).read_bytes()) == (b"a picture", b"a picture")
    machines[0].shared.delete([shared_name(name)])
    assert machines[1].read(name) == b"a picture"


def test_what_is_put_here_already_is_shared_too(machines):
    name = ArtifactStore(machines[0].folder).put(b"made before there was a store")
    assert not machines[1].intact(name)
    machines[0].put(b"made before there was a store")
    assert machines[1].intact(name)


def test_a_truncated_object_is_noticed_by_its_hash_and_put_again(machines):
    name = machines[0].put(b"a picture")
    whole = machines[0].shared.look(shared_name(name))
    machines[0].shared.put(shared_name(name), b"a pic", over=whole.tag)
    with pytest.raises(ArtifactDamagedError, match="does not match its hash"):
        machines[1].read(name)
    assert not machines[1].path(name).exists()
    machines[0].put(b"a picture")
    assert machines[1].read(name) == b"a picture"


@pytest.mark.parametrize("how", ["torn", "zero", "flipped"])
def test_a_copy_that_is_damaged_here_is_fetched_again(machines, how):
    name = machines[0].put(b"a picture")
    damaged(machines[0], name, how)
    assert machines[0].read(name) == b"a picture"


def test_an_artifact_that_is_nowhere_is_missing(machines):
    with pytest.raises(ArtifactDamagedError, match="is missing"):
        machines[0].read("0" * 64)


def test_an_object_that_is_there_is_never_put_over(machines):
    name = machines[0].put(b"a picture")
    tag = machines[0].shared.look(shared_name(name)).tag
    share(machines[0].shared, shared_name(name), b"another 1", new=True)
    assert (machines[0].shared.look(shared_name(name)).tag, machines[1].read(name)) == (tag, b"a picture")


def test_the_artifacts_of_a_home_are_shared_where_there_is_a_store(home, monkeypatch):
    monkeypatch.delenv("FLOWREADER_STORE", raising=False)
    assert kept_artifacts() == ArtifactStore(home / "artifacts")
    monkeypatch.setenv("FLOWREADER_STORE", "s3://machines/all")
    assert kept_artifacts() == ArtifactStore(home / "artifacts", ObjectStore(StoreAddress("machines", "all")))
