import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import NodeKind
from tasks.algorithms.layout.boxes import (
    TextLine,
    area,
    count_words,
    letter_height,
    merge_lines,
    order_boxes,
    shared_height,
    shared_width,
    simplify,
    unite,
    word_spans,
)


def test_words_are_counted_and_han_signs_are_words():
    assert count_words("two words") == 2
    assert count_words("中文字 abc") == 4
    assert word_spans("a bc") == [(0, 1), (2, 4)]


def test_spellings_of_a_heading_compare_equal():
    assert simplify(" 1.  Results—and_More ") == simplify("1 results AND more")


def test_boxes_unite_and_overlap():
    one, other = (0.1, 0.1, 0.5, 0.2), (0.3, 0.15, 0.5, 0.4)
    assert unite([one, other]) == (0.1, 0.1, 0.5, 0.4)
    assert area(one) == pytest.approx(0.04)
    assert shared_width(one, other) == pytest.approx(1)
    assert shared_height(one, other) == pytest.approx(0.5)
    assert shared_width(one, (0.6, 0, 0.7, 1)) == 0
    assert shared_width((0.2, 0, 0.2, 1), one) == 1
    assert shared_width((0.7, 0, 0.7, 1), one) == 0


def test_two_lines_are_as_high_as_one_of_the_same_font():
    size = (600.0, 800.0)
    one = letter_height((0.1, 0.1, 0.6, 0.115), 50, page_size=size)
    two = letter_height((0.1, 0.1, 0.6, 0.13), 100, page_size=size)
    assert one == pytest.approx(12)
    assert two == pytest.approx(12)
    assert letter_height((0.1, 0.1, 0.1, 0.2), 5, page_size=size) == pytest.approx(80)


unit = st.floats(0, 1)
boxes = st.lists(
    st.tuples(unit, unit, unit, unit).map(lambda b: (min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])))
)


def test_two_columns_between_full_width_blocks_are_read_one_after_the_other():
    title, foot = (0.1, 0.05, 0.9, 0.1), (0.1, 0.9, 0.9, 0.95)
    left = [(0.1, 0.15, 0.48, 0.4), (0.1, 0.42, 0.48, 0.85)]
    right = [(0.52, 0.15, 0.9, 0.3), (0.52, 0.32, 0.9, 0.85)]
    page = [foot, right[1], left[0], title, right[0], left[1]]
    assert [page[index] for index in order_boxes(page)] == [title, *left, *right, foot]


def test_cells_on_common_lines_are_read_line_by_line():
    grid = [(x, y, x + 0.1, y + 0.02) for y in (0.1, 0.15, 0.2) for x in (0.1, 0.4, 0.7)]
    assert order_boxes(grid[::-1]) == list(range(8, -1, -1))


def test_one_column_is_read_from_the_top():
    assert order_boxes([(0.1, 0.5, 0.5, 0.6), (0.12, 0.1, 0.5, 0.2)]) == [1, 0]


@given(boxes)
def test_every_box_is_read_once(page):
    assert sorted(order_boxes(page)) == list(range(len(page)))


HIGH = 0.02


def line(text, left, top, right, height=HIGH):
    return TextLine(text, (left, top, right, top + height))


def merged(*lines):
    return [(block.text, block.kind is NodeKind.TITLE) for block in merge_lines(lines, width=600, height=800)]


def test_lines_close_below_each_other_are_one_paragraph():
    assert merged(line("The tide", 0.1, 0.5, 0.5), line("turns twice.", 0.1, 0.525, 0.4)) == [("The tide turns twice.", False)]


def test_a_gap_a_bullet_or_another_height_begins_a_paragraph():
    lines = [
        line("one", 0.1, 0.5, 0.5),
        line("two", 0.1, 0.6, 0.5),
        line("• three", 0.1, 0.622, 0.5),
        line("four", 0.1, 0.645, 0.5, height=0.04),
    ]
    assert merged(*lines) == [("one", False), ("two", False), ("• three", False), ("four", False)]


def test_pieces_of_a_line_are_joined_and_columns_are_not():
    lines = [
        line("left", 0.1, 0.5, 0.2),
        line("piece", 0.21, 0.5, 0.3),
        line("right", 0.6, 0.5, 0.8),
        line("below left", 0.1, 0.522, 0.3),
        line("below right", 0.6, 0.522, 0.8),
    ]
    assert merged(*lines) == [("left piece below left", False), ("right below right", False)]


def test_a_line_that_overlaps_sideways_is_no_piece_of_it():
    assert merged(line("above", 0.1, 0.5, 0.5), line("over it", 0.1, 0.505, 0.5)) == [("above", False), ("over it", False)]


def test_a_broken_word_is_mended_and_a_hyphen_kept():
    assert merged(line("the tur-", 0.1, 0.5, 0.5), line("bine", 0.1, 0.522, 0.3)) == [("the turbine", False)]
    assert merged(line("Anglo-", 0.1, 0.5, 0.5), line("Dutch", 0.1, 0.522, 0.3)) == [("Anglo- Dutch", False)]
    assert merged(line("5 -", 0.1, 0.5, 0.5), line("and", 0.1, 0.522, 0.3)) == [("5 - and", False)]


def test_large_text_at_the_top_is_the_title():
    body = [line(f"line {place}", 0.1, 0.4 + 0.1 * place, 0.5) for place in range(4)]
    assert merged(line("Orders", 0.1, 0.05, 0.6, height=0.05), *body)[0] == ("Orders", True)
    assert merged(line("Orders", 0.1, 0.9, 0.6, height=0.05), *body)[-1] == ("Orders", False)
    assert merged(line("word " * 21, 0.1, 0.05, 0.9, height=0.05), *body)[0][1] is False


def test_a_page_without_lines_has_no_paragraphs():
    assert merged() == []


@given(
    st.lists(
        st.tuples(st.floats(0, 0.8), st.floats(0, 0.9), st.floats(0.01, 0.2), st.floats(0.005, 0.1), st.text("ab-", min_size=1)),
        max_size=25,
    )
)
def test_no_letter_is_lost_and_boxes_hold_their_lines(rows):
    lines = [TextLine(text, (left, top, left + wide, top + high)) for left, top, wide, high, text in rows]
    paragraphs = merge_lines(lines, width=600, height=800)

    def letters(things):
        return sorted(sign for thing in things for sign in thing.text if sign in "ab")

    assert letters(paragraphs) == letters(lines)
    for one in lines:
        assert any(
            p.box[0] <= one.box[0] and p.box[1] <= one.box[1] and p.box[2] >= one.box[2] and p.box[3] >= one.box[3]
            for p in paragraphs
        )
