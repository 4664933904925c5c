"""Captions, tables and their rows, and what goes on over a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Block, NodeKind
from tasks.algorithms.layout.boxes import Element
from tasks.algorithms.layout.captions import join_captions, read_label
from tasks.algorithms.layout.continuation import find_chains, find_continued_paragraphs, find_continued_tables
from tasks.algorithms.layout.tables import Table, continue_table, describe_rows, read_aligned_text, read_html, write_markdown


def element(serial, kind, text, box, page=1, **more):
    return Element(serial, page, Block(kind=kind, text=text, box=box, **more))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Figure 3: Growth", "Figure 3"),
        ("Fig. 2. Growth of it", "Figure 2"),
        ("Table 4 - Costs", "Table 4"),
        ("TABLE IV Costs", "Table IV"),
        ("Fig. 3a. A part", "Figure 3"),
        ("Table A.1: More", "Table A.1"),
        ("Figure 1\u20132: More", "Figure 1-2"),
        ("Figure 3 shows growth", ""),
        ("Exhibit No.", ""),
        ("Source: Table 3", ""),
    ],
)
def test_a_caption_opens_with_its_label_and_a_sentence_does_not(text, label):
    assert read_label(text) == label


@pytest.mark.parametrize(
    ("parts", "place"),
    [
        ([("figure", "", 0.1, 0.3), ("paragraph", "Figure 1: Above it.", 0.31, 0.33), ("figure", "", 0.4, 0.6)], 0),
        # Of two at the same distance habits decide.
        ([("table", "", 0.1, 0.3), ("paragraph", "Table 1: Below is mine.", 0.32, 0.34), ("table", "", 0.36, 0.6)], 2),
        # A second caption finds its figure taken.
        ([("figure", "", 0.1, 0.3), ("caption", "Figure 1: It", 0.31, 0.33), ("caption", "Figure 2: No", 0.34, 0.36)], 0),
    ],
)
def test_the_nearest_figure_gets_the_caption(parts, place):
    page = [element(n, NodeKind(kind), text, (0.1, top, 0.5, foot)) for n, (kind, text, top, foot) in enumerate(parts)]
    joined = join_captions(page)
    assert [part.caption_of for part in joined] == [None, place, None]
    owner = joined[place]
    assert (owner.label, owner.block.caption) == (joined[1].label, parts[1][1]) and joined[1].block.kind is NodeKind.CAPTION


def test_a_caption_next_to_its_figure_is_joined_and_one_in_another_column_is_not():
    beside = element(1, NodeKind.CAPTION, "A view", (0.51, 0.1, 0.7, 0.3))
    away = element(2, NodeKind.CAPTION, "No view", (0.51, 0.4, 0.7, 0.5))
    joined = join_captions([element(0, NodeKind.FIGURE, "", (0.1, 0.1, 0.5, 0.3)), beside, away])
    assert [part.caption_of for part in joined] == [None, 0, None]


def test_the_parsers_caption_and_footnote_become_elements_of_their_own():
    box = (0.1, 0.2, 0.5, 0.3)
    above = element(0, NodeKind.TABLE, "", box, caption="Table 1: A", caption_box=(0.1, 0.1, 0.5, 0.15), footnote="in USD")
    below = element(1, NodeKind.FIGURE, "", box, caption="A view", page=2, caption_box=(0.1, 0.31, 0.5, 0.33))
    boxless = element(2, NodeKind.FIGURE, "", box, caption="A view", page=3)
    joined = join_captions([above, below, boxless])
    kinds = [part.block.kind.value for part in joined]
    assert kinds == ["caption", "table", "footnote", "figure", "caption", "figure", "caption"]
    assert len({part.serial for part in joined}) == 7
    assert joined[1].label == joined[0].label == "Table 1"
    assert joined[4].caption_of == 1


def test_a_joined_figure_keeps_its_footnote():
    figure = element(0, NodeKind.FIGURE, "", (0.1, 0.2, 0.5, 0.3), footnote="2024")
    caption = element(1, NodeKind.PARAGRAPH, "Figure 1: Growth", (0.1, 0.31, 0.5, 0.33))
    assert [part.block.text for part in join_captions([figure, caption])] == ["", "2024", "Figure 1: Growth"]


def test_a_title_without_a_table_stays_a_title_with_its_label_and_long_text_stays_text():
    title = element(0, NodeKind.TITLE, "Table 7: Text", (0.1, 0.1, 0.5, 0.12))
    text = element(1, NodeKind.PARAGRAPH, "Table 7: " + "word " * 260, (0.1, 0.2, 0.5, 0.5))
    joined = join_captions([title, text])
    assert [(part.block.kind, part.label) for part in joined] == [(NodeKind.TITLE, "Table 7"), (NodeKind.PARAGRAPH, "")]
    assert join_captions([]) == []


BOX = (0.1, 0.1, 0.9, 0.3)


def piece(serial, text, page=1, kind=NodeKind.PARAGRAPH, box=BOX, caption_of=None, **more):
    return Element(serial, page, Block(kind=kind, text=text, box=box, **more), caption_of=caption_of)


def test_a_sentence_goes_on_over_a_page_a_figure_and_a_footnote_but_not_over_a_title():
    first, second = piece(0, "This sentence goes on over the"), piece(3, "page and ends.", page=2)
    between = [piece(1, "", kind=NodeKind.FIGURE), piece(2, "note", kind=NodeKind.FOOTNOTE)]
    assert find_continued_paragraphs([first, *between, second]) == [(0, 3)]
    assert find_continued_paragraphs([first, piece(1, "Title", kind=NodeKind.TITLE), second]) == []


def test_what_ends_begins_anew_or_is_far_does_not_go_on():
    first = piece(0, "This sentence goes on over the")
    assert find_continued_paragraphs([piece(0, "This sentence has come to its end."), piece(1, "page", page=2)]) == []
    assert find_continued_paragraphs([first, piece(1, "Page", page=2)]) == []
    assert find_continued_paragraphs([first, piece(1, "page", page=3)]) == []
    assert find_continued_paragraphs([first, piece(1, "page", box=(0.1, 0.4, 0.9, 0.5))]) == []
    assert find_continued_paragraphs([piece(0, "Few words"), piece(1, "page", page=2)]) == []


def test_a_column_break_and_the_parsers_word_count():
    first = piece(0, "This sentence goes on over the", box=(0.1, 0.5, 0.4, 0.9))
    assert find_continued_paragraphs([first, piece(1, "column", box=(0.6, 0.1, 0.9, 0.4))]) == [(0, 1)]
    assert find_continued_paragraphs([piece(0, "End."), piece(1, "Piece", continues=True)]) == [(0, 1)]


HEADED = Table((("a", "b"), ("1", "2")), 1)
BARE = Table((("3", "4"),), 0)


def tables(*between, second=BARE, page=2, first_caption="Table 1: Costs", caption="", box=BOX):
    elements = [
        piece(0, "", kind=NodeKind.TABLE, caption=first_caption),
        *between,
        piece(9, "", kind=NodeKind.TABLE, page=page, caption=caption, box=box),
    ]
    return find_continued_tables(elements, {0: HEADED, 9: second})


def test_a_table_goes_on_with_its_columns_at_the_top_of_the_next_page():
    assert tables() == [(0, 9)]
    assert tables(second=HEADED) == [(0, 9)]
    own_caption = piece(1, "Table 1: Costs", kind=NodeKind.CAPTION, caption_of=0)
    note, line = piece(2, "note", kind=NodeKind.FOOTNOTE), piece(3, "Table 1 (continued)", page=2)
    assert tables(own_caption, note, line, caption="Table 1 (continued)") == [(0, 9)]
    assert tables(caption="Table 1: Costs") == [(0, 9)]


def test_other_columns_headers_captions_places_or_text_between_make_another_table():
    assert tables(second=Table((("3",),), 0)) == []
    assert tables(second=Table((("x", "y"), ("3", "4")), 1)) == []
    assert tables(caption="Table 2: Prices") == []
    assert tables(page=3) == []
    assert tables(piece(1, "text")) == []
    assert tables(piece(1, "text"), piece(2, "more")) == []
    assert tables(box=(0.95, 0.1, 1, 0.3)) == []


def test_only_the_first_table_of_a_page_goes_on():
    three = [piece(n, "", kind=NodeKind.TABLE, page=page) for n, page in ((0, 1), (1, 2), (2, 2), (3, 3))]
    assert find_continued_tables(three, dict.fromkeys(range(4), BARE)) == [(0, 1), (2, 3)]


def test_a_chain_leads_back_to_its_first():
    assert list(find_chains([(0, 1), (1, 2), (5, 6)])) == [(1, 0), (2, 0), (6, 5)]


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


def html(*rows, cell="td"):
    return "<table>" + "".join(f"<tr>{''.join(f'<{cell}>{text}</{cell}>' for text in row)}</tr>" for row in rows) + "</table>"


def test_headers_of_two_rows_are_joined_through_their_spans():
    rows = html(("Q1", "Q2"), ("Sales", 10, 12)).removeprefix("<table>")
    table = read_html(f"<table><tr><td rowspan=2>Item</td><td colspan='2'>2024</td></tr>{rows}")
    assert (table.header_rows, table.header) == (2, ("Item", "2024 / Q1", "2024 / Q2"))
    assert describe_rows(table, caption="")[2] == "Item: Sales | 2024 / Q1: 10 | 2024 / Q2: 12"


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([("", 2023, 2024), ("Assets", "", ""), ("Cash", 1, 2)], 1),  # years name columns, the label above numbers does not
        ([("A", 1), ("B", 2)], 0),
        ([("A:", ""), ("B", 2)], 0),
        ([("Name", "Role"), ("Ann", "Chair"), ("Bo", "Clerk")], 1),
        ([("Name", ""), ("Ann", "Chair"), ("Bo", "Clerk")], 0),
    ],
)
def test_a_header_names_every_column(rows, count):
    assert read_html(html(*rows)).header_rows == count


def test_a_table_marked_as_header_throughout_has_one_header_row():
    assert read_html(html("a", "b", cell="th")).header_rows == 1


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


def test_equal_numbers_are_all_in_their_row_under_one_head_or_none():
    assert describe_rows(Table((("a", "1", "1"),), 0), caption="") == ["a | 1 | 1"]
    under_one = "<table><tr><th>Item</th><th colspan=2>Costs</th></tr><tr><td>a</td><td>1</td><td>1</td></tr></table>"
    assert describe_rows(read_html(under_one), caption="") == ["Item | Costs", "Item: a | Costs: 1 | Costs: 1"]
    assert describe_rows(Table((("yes", "yes"), ("a", "b")), 0), caption="") == ["yes | yes", "a | b"]


def test_a_cell_over_several_columns_comes_once_in_each_that_has_a_name():
    assert describe_rows(read_html("<table><tr><td>a<td colspan=2>1</tr></table>"), caption="") == ["a | 1"]
    named = read_html(
        html(("Item", "2023", "2024"), ("a", 1, 2)).replace("</table>", "<tr><td>b</td><td colspan=2>n/a</td></table>")
    )
    assert describe_rows(named, caption="")[2] == "Item: b | 2023: n/a | 2024: n/a"


QUARTERS = (("Item", "Q1", "Q2"), ("Wages", 5, 5))


@pytest.mark.parametrize(
    "title",
    [
        "<th colspan=3>Budget</th>",
        "<th colspan=3>Budget</th></tr><tr><th colspan=3>Budget</th>",
        "<td colspan=3>Budget</td>",
        "<th>Budget</th><th></th><th></th>",
    ],
)
def test_what_stands_over_all_columns_is_a_title_and_the_row_below_it_the_head(title):
    table = read_html(html(*QUARTERS).replace("<table>", f"<table><tr>{title}</tr>"))
    assert (table.title, table.header) == ("Budget", ("Item", "Q1", "Q2"))
    assert describe_rows(table, caption="") == ["Item | Q1 | Q2", "Item: Wages | Q1: 5 | Q2: 5"]


def test_one_cell_over_rows_without_a_head_names_their_group():
    table = read_html(html(("Cash", 5), ("Debt", 6)).replace("<table>", "<table><tr><th colspan=2>Assets</th></tr>"))
    assert (table.title, table.header_rows) == ("", 0)
    assert describe_rows(table, caption="") == ["Assets", "Assets | Cash | 5", "Assets | Debt | 6"]
    stub = read_html(html(("Item", "", ""), ("", "Q1", "Q2"), ("Wages", 5, 5)))
    assert (stub.title, stub.header) == ("", ("Item", "Q1", "Q2"))


def test_five_thousand_rows_make_five_thousand_lines():
    assert len(describe_rows(read_html(html(*((f"row {n}", n) for n in range(5000)))), caption="")) == 5000


@given(st.text(alphabet="<>/tabledhr =\"'19&;", max_size=300))
def test_any_text_is_read_without_failing_into_a_full_grid(html):
    table = read_html(html)
    assert len({len(row) for row in table.rows}) <= 1
    assert len(describe_rows(table, caption="c")) == len(table.rows)
