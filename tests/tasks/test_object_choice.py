"""What is hidden, too large or the mark of a folder is no document."""

import pytest

from storage.object_address import StoreAddress
from tasks.object_choice import is_mark, reason_against
from tasks.object_source import ListedObject


@pytest.mark.parametrize(
    ("key", "size_bytes", "said"),
    [
        ("in/a.txt", 1 << 20, ""),
        ("in/a.txt", (1 << 20) + 1, "larger than 1 MB"),
        ("in/.git/config", 1, "hidden"),
        ("in/..notes.txt", 1, ""),
        ("in/../a.txt", 1, ""),
        ("in/odd/", 1, "the mark of a folder"),
    ],
)
def test_an_object_is_a_document_or_a_reason_is_given(key, size_bytes, said):
    reason = reason_against(ListedObject(key, "tag", size_bytes), StoreAddress("data", "in/"), most_bytes=1 << 20)
    assert said in reason and bool(said) == bool(reason)


def test_what_is_hidden_is_read_where_it_is_named():
    named = ListedObject("in/.hidden", "tag", 1)
    assert reason_against(named, StoreAddress("data", "in/.hidden"), most_bytes=1) == ""


def test_only_an_empty_object_is_the_mark_of_a_folder():
    assert [is_mark(ListedObject(key, "tag", size)) for key, size in (("a/", 0), ("a/", 1), ("a", 0))] == [True, False, False]
