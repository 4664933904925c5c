"""Every corpus is listed once, by name: those of this machine, and those of the store that it shares."""

import subprocess
import sys

import pytest

from storage.corpora import corpora_in
from storage.locations import corpora_folder, corpus_location
from storage.object_store import ObjectStore
from storage.shared_current import claim


@pytest.fixture
def two(home):
    for name in ("b", "a"):
        (corpora_folder() / name).mkdir(parents=True)
    (corpora_folder() / "file").touch()


def test_a_home_without_any_has_none(home):
    assert corpora_in(corpora_folder()) == []


def test_folders_are_listed_by_name(two):
    assert corpora_in(corpora_folder()) == [corpus_location("a"), corpus_location("b")]


def test_a_shared_store_adds_those_that_this_machine_never_saw(two, shared):
    for name in ("a", "far"):
        claim(name, ObjectStore(shared.below(f"corpora/{name}")), 1)
    assert corpora_in(corpora_folder(), shared) == [corpus_location(name) for name in ("a", "b", "far")]
    assert [(each.name, each.store) for each in corpora_in(corpora_folder())] == [("a", None), ("b", None)]


def test_without_a_store_nothing_that_speaks_to_one_is_loaded(two):
    program = (
        "import sys; from storage.corpora import corpora_in; from storage.locations import corpora_folder, shared_store;"
        "corpora_in(corpora_folder(), shared_store()); print('boto3' in sys.modules, 'storage.object_store' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
