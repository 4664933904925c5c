"""Words become the lines of a page, which are kept as they are; a quote has the box of those on which it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.layout.boxes import TextLine, unite
from tasks.algorithms.layout.lines import box_of_quote, join_words, read_lines, write_lines

BLOCK = (0.1, 0.1, 0.9, 0.5)


def line(text, row, left=0.1, right=0.9):
    """A line in the block, the first at its top."""
    return TextLine(text, (left, round(0.1 + 0.02 * row, 3), right, round(0.115 + 0.02 * row, 3)))


def rows_of(quote, lines, block=BLOCK):
    """Return the first and the last row of the quote's box; None where it is the block's."""
    box = box_of_quote(quote, block=block, lines=lines)
    return None if box == block else (round((box[1] - 0.1) / 0.02), round((box[3] - 0.115) / 0.02))


PARAGRAPH = (
    line("The harbour was full. In spring the ware-", 0),
    line("houses were empty again, and the cranes", 1),
    line("stood still. Two ships left on Monday.", 2),
    line("A third followed in June.", 3),
)


@pytest.mark.parametrize(
    ("quote", "rows"),
    [
        ("The harbour was full.", (0, 0)),
        ("In spring the warehouses were empty again, and the cranes stood still.", (0, 2)),
        ("Two ships left on Monday. A third followed in June.", (2, 3)),
        ("TWO  SHIPS \u2013 left", (2, 2)),
        ("The warehouses burned in spring.", None),
        ("...", None),
    ],
)
def test_a_quote_has_the_box_of_its_lines_however_they_are_cut_and_spaced(quote, rows):
    assert rows_of(quote, PARAGRAPH) == rows


def test_of_two_places_it_is_the_first_and_what_stands_beside_the_block_is_none():
    twice = [line("Total 5", 0), line("Net 4", 1), line("Total 5", 2)]
    assert rows_of("Total 5", twice) == (0, 0)
    outside = [TextLine("Total 5", (0.92, 0.1, 0.99, 0.115)), *twice[1:]]
    assert rows_of("Total 5", outside) == (2, 2)


def test_a_box_never_leaves_the_block():
    wide = [line("A heading that is wider than its block", 1, left=0.05, right=0.94)]
    assert box_of_quote(wide[0].text, block=BLOCK, lines=wide) == (0.1, wide[0].box[1], 0.9, wide[0].box[3])


TABLE = (
    line("Table 2: Orders by region", 0),
    *(line(head, 1, left, left + 0.1) for head, left in (("Region", 0.1), ("2023", 0.5), ("2024", 0.7))),
    *(line(cell, 2, left, left + 0.1) for cell, left in (("North", 0.1), ("12", 0.5), ("15", 0.7))),
    *(line(cell, 3, left, left + 0.1) for cell, left in (("South and the", 0.1), ("120", 0.5), ("150", 0.7))),
    line("islands", 4, 0.1, 0.2),
    *(line(cell, 5, left, left + 0.1) for cell, left in (("West", 0.1), ("12", 0.5), ("150", 0.7))),
)
CAPTION = "Table 2: Orders by region"


@pytest.mark.parametrize(
    ("quote", "rows"),
    [
        (f"{CAPTION} | Region: North | 2023: 12 | 2024: 15", (2, 2)),
        (f"{CAPTION} | Region: South and the islands | 2023: 120 | 2024: 150", (3, 4)),
        ("Region: West | 2023: 12 | 2024: 150", (5, 5)),
        (f"{CAPTION} | West", (5, 5)),
        ("East | 2023: 7 | 2024: 8", None),
    ],
)
def test_a_row_of_a_table_has_the_box_of_its_cells_and_not_that_of_its_caption(quote, rows):
    assert rows_of(quote, TABLE) == rows


WORDS = st.lists(st.text("abcdefghij", min_size=1, max_size=8), min_size=1, max_size=60)


@given(words=WORDS, data=st.data())
def test_the_box_lies_in_the_block_and_around_the_words(words, data):
    own = [f"{word}{place}x" for place, word in enumerate(words)]
    printed = [line(" ".join(own[first : first + 4]), first // 4) for first in range(0, len(own), 4)]
    start = data.draw(st.integers(0, len(own) - 1))
    end = data.draw(st.integers(start + 1, len(own)))
    block = unite(one.box for one in printed)
    box = box_of_quote(
        " ".join(own[start:end]), block=block, lines=data.draw(st.permutations(printed)) if end == start + 1 else printed
    )
    assert box == unite(one.box for one in printed[start // 4 : (end - 1) // 4 + 1])


def test_words_are_joined_into_lines_that_a_wide_gap_ends():
    top, low = (0.1, 0.11), (0.12, 0.13)
    words = [
        ((0.10, top[0], 0.20, top[1]), "Left"),
        ((0.21, top[0], 0.30, top[1]), "side,"),
        ((0.60, top[0], 0.70, top[1]), "right"),
        ((0.10, low[0], 0.20, low[1]), "next"),
        ((0.205, low[0] + 0.004, 0.21, low[1] - 0.004), "\u2013"),
        ((0.22, low[0], 0.30, low[1]), "line"),
    ]
    lines = join_words(words, aspect=0.7)
    assert [one.text for one in lines] == ["Left side,", "right", "next \u2013 line"]
    assert lines[0].box == (0.10, *top[:1], 0.30, top[1])


def test_lines_are_kept_as_they_are_and_those_of_a_crowded_page_in_part():
    lines = [line("Two words", 0), line("and 1 2 3", 1)]
    assert read_lines(write_lines(lines)) == lines and read_lines("") == []
    assert (
        read_lines("1 2 3 4\nwords\n3 2 1 4 turned\n3 4 5 2 turned\n-1 2 3 4 words\n1 2 3 99999999999 words\n1 2 3 4 5 words")[
            0
        ].text
        == "5 words"
    )
    assert (
        read_lines(write_lines([line("half \ud83d\ude00 a \ud83d sign\u2028end", 0)]))[0].text
        == "half \U0001f600 a \ufffd sign end"
    )
    crowded = write_lines(line("word", place % 20) for place in range(50_000))
    assert 30_000 < len(crowded) < 35_000 and read_lines(crowded)[0] == line("word", 0)
