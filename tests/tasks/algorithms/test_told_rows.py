import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.table_rows import Table, describe_rows
from tasks.algorithms.told_rows import read_row, tell_row

ACCOUNTS = Table(
    (("\u00a3 million", "2024", "2023"), ("Assets", "", ""), ("Total", "282.5", "251.0"), ("Cash", "9", "-")), header_rows=1
)
UNITS = Table((("Turbine", "Site", "Availability %"), ("CS-09", "Corran Sound", "71.4")), header_rows=1)
SPANNED = Table((("Budget", "Budget"), ("Charter", "610")), header_rows=1)


def told(table, row, *stems, caption="Table 7: Accounts"):
    text = describe_rows(table, caption=caption)[row]
    return tell_row(text, table.rows[row], caption=caption, weights=dict.fromkeys(stems, 1.0))


@pytest.mark.parametrize(
    ("table", "row", "stems", "words"),
    [
        (ACCOUNTS, 2, ("total", "2024"), "Assets, Total, 2024: 282.5 (\u00a3 million)"),
        (ACCOUNTS, 2, ("total",), "Assets, Total, 2024: 282.5, 2023: 251.0 (\u00a3 million)"),
        (ACCOUNTS, 3, ("cash", "2024"), "Assets, Cash, 2024: 9 (\u00a3 million)"),
        (UNITS, 1, ("availability",), "Turbine: CS-09, Availability %: 71.4"),
        (UNITS, 1, (), "Turbine: CS-09, Site: Corran Sound, Availability %: 71.4"),
        (SPANNED, 1, ("budget",), "Charter, 610"),
    ],
)
def test_a_row_is_told_by_its_label_and_the_columns_asked_for(table, row, stems, words):
    assert told(table, row, *stems) == words


def test_a_row_of_a_table_without_a_caption_is_told_as_well():
    assert told(UNITS, 1, "site", caption="") == "Turbine: CS-09, Site: Corran Sound"


def test_what_has_no_columns_is_told_as_it_is():
    assert tell_row("only words", ("only words",), caption="", weights={}) == "only words"
    assert tell_row("a | b", (), caption="", weights={}) == "a | b"


def test_a_header_that_is_a_value_names_nothing():
    assert tell_row("2023: Costs | 2024: 5", ("Costs", "5"), caption="", weights={}) == "Costs, 2024: 5"


def test_a_cell_that_holds_the_sign_between_cells_is_put_together():
    assert read_row("T | A: x | B: y | z", ("x", "y")) == (("T",), (("A", "x"), ("B", "y | z")))


CELL = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6)


@given(st.lists(CELL, min_size=2, max_size=4, unique=True), st.lists(CELL, min_size=4, max_size=4, unique=True))
def test_every_cell_of_a_row_is_told_where_no_column_is_asked_for(header, cells):
    table = Table((tuple(header), tuple(cells[: len(header)])), header_rows=1)
    words = tell_row(describe_rows(table, caption="")[1], table.rows[1], caption="", weights={})
    assert all(cell in words for cell in table.rows[1])
