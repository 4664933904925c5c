"""A row says what its cells hold, and names place and column where they hold something else."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.benchmarks.rows import BenchmarkError, Row, python_list


def row(**cells):
    return Row("q.csv, line 7", 3, cells)


@pytest.mark.parametrize("nothing", [None, "", " \n", "nan", "NaN", math.nan])
def test_empty_and_nan_cells_hold_nothing(nothing):
    asked = row(a=nothing)
    assert (
        asked.value("a") is None and asked.optional_text("a") == "" and asked.pages("a", first=1) == () and asked.names("a") == ()
    )
    with pytest.raises(BenchmarkError, match=r"q\.csv, line 7: column 'a' is empty"):
        asked.text("a")


def test_a_missing_column_is_named_with_those_that_are_there():
    with pytest.raises(BenchmarkError, match=r"line 7: column 'b' is missing; there are 'a', 'c'"):
        row(a="x", c="y").text("b")
    with pytest.raises(BenchmarkError, match="there are none"):
        row().need("b")


def test_text_is_trimmed_and_numbers_are_text():
    assert row(a=" \n\nWhy? ").text("a") == "Why?" and row(a=1998).text("a") == "1998" and row(a=0).text("a") == "0"


@pytest.mark.parametrize("value", [["a"], {"a": 1}, True])
def test_a_list_is_no_text(value):
    with pytest.raises(BenchmarkError, match=r"column 'a' holds .* not a text"):
        row(a=value).text("a")


@pytest.mark.parametrize("written", ["[4, 2, 4]", [4, 2, 4], "(4, 2)", [4.0, "2"], "['4', 2]"])
def test_pages_are_read_from_lists_and_from_their_text_each_once(written):
    assert row(a=written).pages("a", first=1) == (4, 2)


def test_a_single_page_is_a_list_of_one():
    assert row(a="12").pages("a", first=1) == row(a=12).pages("a", first=1) == (12,)


@pytest.mark.parametrize("written", ["['four']", "page 4", [4.5], [True], [None], [[4]], ["1" * 400], "[1e999]"])
def test_a_page_that_is_no_number_is_an_error(written):
    with pytest.raises(BenchmarkError, match=r"q\.csv, line 7: column 'a' holds the page .* no number"):
        row(a=written).pages("a", first=1)


@pytest.mark.parametrize("written", ["[4, 2", "['it's']", "[open('x')]", "[" * 500])
def test_the_text_of_no_list_is_an_error_and_is_never_run(written):
    with pytest.raises(BenchmarkError, match=r"line 7: column 'a' holds .* no list"):
        row(a=written).pages("a", first=1)


def test_names_keep_slashes_spaces_and_quotes():
    assert row(a="""['x/y z.pdf', "Men's.pdf", 'x/y z.pdf']""").names("a") == ("x/y z.pdf", "Men's.pdf")
    assert row(a="Table").names("a") == ("Table",) and row(a=["Table"]).names("a") == ("Table",)


@pytest.mark.parametrize("written", [[3], [""], "[None]"])
def test_a_name_that_is_no_text_is_an_error(written):
    with pytest.raises(BenchmarkError, match=r"column 'a' holds .* no name"):
        row(a=written).names("a")


def test_a_long_value_is_shortened_in_errors():
    with pytest.raises(BenchmarkError) as told:
        row(a=["x" * 500]).text("a")
    assert len(str(told.value)) < 200 and "..." in str(told.value)


def test_a_backslash_in_a_list_is_kept_without_a_warning():
    assert python_list(r"['\d']") == (r"\d",) and python_list("7") is None and python_list("(1, 2)") == (1, 2)


@given(st.lists(st.text() | st.integers()))
def test_every_list_that_python_writes_is_read_back(items):
    assert python_list(repr(items)) == tuple(items)


def test_pages_that_count_from_nought_are_told_from_one_and_those_that_no_document_has_are_kept():
    assert row(a=[0, 4]).pages("a", first=0) == (1, 5)
    assert row(a=[0, -1]).pages("a", first=1) == (0, -1)
