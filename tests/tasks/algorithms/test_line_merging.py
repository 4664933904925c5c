from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.line_merging import TextLine, merge_lines

HIGH = 0.02


def line(text, left, top, right, height=HIGH):
    return TextLine(text, (left, top, right, top + height))


def merged(*lines):
    return [(paragraph.text, paragraph.is_title) for paragraph in merge_lines(lines, width=600, height=800)]


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
