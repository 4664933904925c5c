import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.graph.filters import Column, FilterError, between, either, every, literal, one_of
from storage.records.documents import Modality, NodeKind

IDS = st.text("0123456789abcdef", min_size=64, max_size=64)
SAFE = IDS | st.integers() | st.sampled_from(list(Modality))


@given(st.text())
def test_no_text_but_an_id_gets_into_a_filter(text):
    with pytest.raises(FilterError, match="may not stand in a filter"):
        literal(text)


@pytest.mark.parametrize(
    "value",
    ["' OR true --", "a" * 63, "A" * 64, "a" * 64 + "\n", "a" * 64 + "'", None, 1.5, True, b"a" * 64, ["a" * 64], NodeKind.TABLE],
)
def test_what_is_nearly_an_id_is_refused(value):
    with pytest.raises(FilterError):
        one_of(Column.NODE, [value])


@given(st.lists(SAFE, max_size=5))
def test_equal_sets_give_equal_filters_without_anything_unquoted(values):
    built = one_of(Column.DOCUMENT, values)
    assert built == one_of(Column.DOCUMENT, values[::-1] * 2)
    assert set(built) <= set("0123456789abcdefghijklmnopqrstuvwxyz_ IN(),'-")


def test_no_value_keeps_no_row():
    assert one_of(Column.NODE, []) == "false"


def test_filters_are_joined_in_brackets():
    part = between(Column.PAGE, 3, 7)
    assert part == "page BETWEEN 3 AND 7"
    assert either(part, part) == "(page BETWEEN 3 AND 7) OR (page BETWEEN 3 AND 7)"
    assert every(part, one_of(Column.MODALITY, [Modality.TABLE])) == "(page BETWEEN 3 AND 7) AND (modality IN ('table'))"


@pytest.mark.parametrize("column", ["id; DROP", "vector", ""])
def test_a_column_is_one_of_ours(column):
    with pytest.raises(ValueError, match="not a valid Column"):
        one_of(column, [1])
