from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.layout.tables import Table, continue_table, describe_rows, read_aligned_text, read_html, write_markdown

REVENUE = (
    "<table><tr><th>Region</th><th>2023</th><th>2024</th></tr>"
    "<tr><td>Assets:</td><td></td><td></td></tr><tr><td>North</td><td>4.1</td><td>4.4</td></tr></table>"
)


def test_a_row_says_caption_group_and_header_of_each_value():
    assert describe_rows(read_html(REVENUE), caption="Table 2: Revenue") == [
        "Table 2: Revenue | Region | 2023 | 2024",
        "Table 2: Revenue | Assets",
        "Table 2: Revenue | Assets | Region: North | 2023: 4.1 | 2024: 4.4",
    ]


def test_headers_of_two_rows_are_joined_through_their_spans():
    table = read_html(
        "<table><tr><td rowspan=2>Item</td><td colspan='2'>2024</td></tr><tr><td>Q1</td><td>Q2</td></tr>"
        "<tr><td>Sales</td><td>10</td><td>12</td></tr></table>"
    )
    assert table.header_rows == 2
    assert table.header == ("Item", "2024 / Q1", "2024 / Q2")
    assert describe_rows(table, caption="")[2] == "Item: Sales | 2024 / Q1: 10 | 2024 / Q2: 12"


def test_years_name_columns_and_the_label_above_the_numbers_is_no_header():
    table = read_html(
        "<table><tr><td></td><td>2023</td><td>2024</td></tr><tr><td>Assets</td><td></td><td></td></tr>"
        "<tr><td>Cash</td><td>1</td><td>2</td></tr></table>"
    )
    assert table.header_rows == 1


def test_tables_that_begin_with_numbers_or_a_group_have_no_header():
    assert read_html("<table><tr><td>A</td><td>1</td></tr><tr><td>B</td><td>2</td></tr></table>").header == ()
    assert read_html("<table><tr><td>A:</td><td></td></tr><tr><td>B</td><td>2</td></tr></table>").header_rows == 0


def test_a_table_of_words_has_a_header_when_every_column_is_named():
    words = (
        "<table><tr><td>Name</td><td>Role</td></tr><tr><td>Ann</td><td>Chair</td></tr><tr><td>Bo</td><td>Clerk</td></tr></table>"
    )
    assert read_html(words).header_rows == 1
    assert read_html(words.replace("Role", "")).header_rows == 0


def test_a_table_marked_as_header_throughout_has_one_header_row():
    assert read_html("<table><tr><th>a</th></tr><tr><th>b</th></tr></table>").header_rows == 1


def test_broken_html_gives_what_is_there():
    table = read_html("<table><td>a<td colspan='x'>b<br>c<tr></tr><tr><td rowspan=9>d &amp; <table><tr><td>in</td></tr></table> e")
    assert table.rows == (("a", "b c"), ("d & in e", ""))
    assert read_html("no table") == Table((), 0)
    assert read_html("<table></table></table><table><tr><td>later</td></tr></table>").rows == (("later",),)
    assert read_html("<table><tr><td>1</td></tr></table><table><tr><td>2</td></tr></table>").rows == (("1",),)


def test_a_span_without_end_is_cut():
    assert read_html("<table><tr><td colspan=99999999>a</td><td>b</td></tr></table>").columns == 512


def test_an_empty_table_says_nothing():
    empty = Table((), 0)
    assert (empty.columns, write_markdown(empty), describe_rows(empty, caption="x")) == (0, "", [])


def test_markdown_has_one_header_row_and_escapes_bars():
    assert write_markdown(Table((("a", "b|c"), ("1", "2")), 1)) == "| a | b\\|c |\n| --- | --- |\n| 1 | 2 |"
    assert write_markdown(Table((("1",),), 0)) == "|  |\n| --- |\n| 1 |"


def test_aligned_lines_are_cells_filled_before_the_values():
    table = read_aligned_text("          2023    2024\n\nSales      1       2\nTotal   3\n7   8")
    assert table.rows == (("", "2023", "2024"), ("Sales", "1", "2"), ("Total", "", "3"), ("", "7", "8"))
    assert table.header_rows == 1
    assert read_aligned_text("") == Table((), 0)


def test_a_continued_table_takes_the_header_only_where_it_fits():
    first = Table((("Item", "2024"), ("a", "1")), 1)
    assert continue_table(Table((("b", "2"),), 0), first).header == ("Item", "2024")
    assert continue_table(Table((("b",),), 0), first).header_rows == 0


def test_a_value_repeated_by_a_span_comes_once():
    assert describe_rows(Table((("a", "1", "1"),), 0), caption="") == ["a | 1"]


def test_five_thousand_rows_make_five_thousand_lines():
    html = "<table>" + "".join(f"<tr><td>row {n}</td><td>{n}</td></tr>" for n in range(5000)) + "</table>"
    assert len(describe_rows(read_html(html), caption="")) == 5000


@given(st.text(alphabet="<>/tabledhr =\"'19&;", max_size=300))
def test_any_text_is_read_without_failing_into_a_full_grid(html):
    table = read_html(html)
    assert len({len(row) for row in table.rows}) <= 1
    assert len(describe_rows(table, caption="c")) == len(table.rows)
