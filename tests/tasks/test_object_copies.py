"""Copies of objects are found and forgotten in all mirrors, also while an ingest or a clean-up takes some away."""

import os
import shutil

from storage.locations import mirrors_folder
from storage.mirrored_copies import forget_copies
from storage.object_address import StoreAddress
from tasks.object_copies import copy_in_mirrors, copy_name, mirror_of, mirrors, modified_at
from tests.tasks.test_object_discovery import copies, found

ADDRESS = StoreAddress("data", "in/a.TXT")


def kept(address, tag, *, modified=None):
    """A copy of the object in the mirror of the address."""
    path = mirror_of(address) / copy_name(ADDRESS, tag)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    if modified is not None:
        os.utime(path, (modified, modified))
    return path


def test_copies_are_found_in_all_mirrors_and_forgotten_in_all(store, home):
    store.put("in/a.txt", b"x")
    store.put("in/b.txt", b"y")
    found(store.address(), store.address("in/"))
    shown = store.address("in/a.txt")
    assert len(copies()) == 4 and copy_in_mirrors(shown) in map(str, copies())
    forget_copies(["/in/a.txt", shown], mirrors_folder().parent)
    assert len(copies()) == 2 and copy_in_mirrors(shown) is None


def test_the_youngest_copy_counts(home):
    kept(StoreAddress("data", ""), "1", modified=1000)
    young = kept(StoreAddress("data", "in/"), "2", modified=2000)
    kept(StoreAddress("data", "in"), "3", modified=1500)
    assert copy_in_mirrors(ADDRESS.shown) == str(young)


def test_a_copy_that_goes_while_it_is_looked_at_is_none(home):
    """What went between the listing of a folder and the look at the file is as a link to nothing: listed, and not there."""
    whole, going = kept(StoreAddress("data", ""), "1"), kept(StoreAddress("data", "in/"), "2")
    going.unlink()
    going.symlink_to("nothing")
    assert modified_at(going) is None and copy_in_mirrors(ADDRESS.shown) == str(whole)
    whole.unlink()
    assert copy_in_mirrors(ADDRESS.shown) is None
    forget_copies([ADDRESS.shown], mirrors_folder().parent)
    assert not going.is_symlink()


def test_a_mirror_that_goes_while_it_is_looked_at_holds_nothing(home, monkeypatch):
    kept(StoreAddress("data", ""), "1")
    going = kept(StoreAddress("data", "in/"), "2").parent
    listed = mirrors()
    shutil.rmtree(going)
    monkeypatch.setattr("tasks.object_copies.mirrors", lambda: listed)
    assert copy_in_mirrors(ADDRESS.shown) is not None
    forget_copies([ADDRESS.shown], mirrors_folder().parent)
    assert copy_in_mirrors(ADDRESS.shown) is None


def test_without_mirrors_there_is_no_copy(home):
    assert copy_in_mirrors(ADDRESS.shown) is None and mirrors() == [] and not mirrors_folder().exists()
