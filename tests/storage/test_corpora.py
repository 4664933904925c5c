"""Every corpus is listed once, by name."""

import pytest

from storage.corpora import corpora_in
from storage.locations import corpora_folder, corpus_location


@pytest.fixture
def two(home):
    for name in ("b", "a"):
        (corpora_folder() / name).mkdir(parents=True)
    (corpora_folder() / "file").touch()


def test_a_home_without_any_has_none(home):
    assert corpora_in(corpora_folder()) == []


def test_folders_are_listed_by_name(two):
    assert corpora_in(corpora_folder()) == [corpus_location("a"), corpus_location("b")]
