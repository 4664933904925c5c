"""Boxes, the lines and passages that are made of them, and what stands on every page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Block, NodeKind, PageParser, ParsedPage
from tasks.algorithms.layout.boxes import (
    Element,
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
from tasks.algorithms.layout.furniture import find_furniture, fit_labels, read_roman, write_roman
from tasks.algorithms.layout.passages import cut_text, join_texts, shape_passages


def test_words_are_counted_and_spellings_of_a_heading_compare_equal():
    assert (count_words("two words"), count_words("中文字 abc"), word_spans("a bc")) == (2, 4, [(0, 1), (2, 4)])
    assert simplify(" 1.  Results—and_More ") == simplify("1 results AND more")


def test_boxes_unite_overlap_and_have_letters_of_a_height():
    one, other = (0.1, 0.1, 0.5, 0.2), (0.3, 0.15, 0.5, 0.4)
    assert unite([one, other]) == (0.1, 0.1, 0.5, 0.4)
    assert (area(one), shared_width(one, other), shared_height(one, other)) == pytest.approx((0.04, 1, 0.5))
    assert shared_width(one, (0.6, 0, 0.7, 1)) == shared_width((0.7, 0, 0.7, 1), one) == 0
    assert shared_width((0.2, 0, 0.2, 1), one) == 1
    # Two lines are as high as one of the same font.
    written = [((0.1, 0.1, 0.6, 0.115), 50), ((0.1, 0.1, 0.6, 0.13), 100), ((0.1, 0.1, 0.1, 0.2), 5)]
    assert [letter_height(box, signs, page_size=(600.0, 800.0)) for box, signs in written] == pytest.approx([12, 12, 80])


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


@given(boxes)
def test_every_box_is_read_once(page):
    assert sorted(order_boxes(page)) == list(range(len(page)))


HIGH = 0.02


def line(text, left, top, right, height=HIGH):
    return TextLine(text, (left, top, right, top + height))


def merged(*lines):
    return [(block.text, block.kind is NodeKind.TITLE) for block in merge_lines(lines, width=600, height=800)]


PAGE_OF_COLUMNS = [
    line("left", 0.1, 0.5, 0.2),
    line("piece", 0.21, 0.5, 0.3),
    line("right", 0.6, 0.5, 0.8),
    line("below left", 0.1, 0.522, 0.3),
    line("below right", 0.6, 0.522, 0.8),
]
BULLET, HIGH_LINE = line("• three", 0.1, 0.622, 0.5), line("four", 0.1, 0.645, 0.5, height=0.04)


@pytest.mark.parametrize(
    ("lines", "texts"),
    [
        ([line("The tide", 0.1, 0.5, 0.5), line("turns twice.", 0.1, 0.525, 0.4)], ["The tide turns twice."]),
        # A gap, a bullet and another height begin a paragraph.
        ([line("one", 0.1, 0.5, 0.5), line("two", 0.1, 0.6, 0.5), BULLET, HIGH_LINE], ["one", "two", "• three", "four"]),
        (PAGE_OF_COLUMNS, ["left piece below left", "right below right"]),
        ([line("above", 0.1, 0.5, 0.5), line("over it", 0.1, 0.505, 0.5)], ["above", "over it"]),
        ([line("the tur-", 0.1, 0.5, 0.5), line("bine", 0.1, 0.522, 0.3)], ["the turbine"]),
        ([line("Anglo-", 0.1, 0.5, 0.5), line("Dutch", 0.1, 0.522, 0.3)], ["Anglo- Dutch"]),
        ([line("5 -", 0.1, 0.5, 0.5), line("and", 0.1, 0.522, 0.3)], ["5 - and"]),
    ],
)
def test_lines_below_and_beside_each_other_are_paragraphs_and_columns_stay_apart(lines, texts):
    assert merged(*lines) == [(text, False) for text in texts]


def test_large_text_at_the_top_is_the_title():
    body = [line(f"line {place}", 0.1, 0.4 + 0.1 * place, 0.5) for place in range(4)]
    assert merged(line("Orders", 0.1, 0.05, 0.6, height=0.05), *body)[0] == ("Orders", True)
    assert merged(line("Orders", 0.1, 0.9, 0.6, height=0.05), *body)[-1] == ("Orders", False)
    assert merged(line("word " * 21, 0.1, 0.05, 0.9, height=0.05), *body)[0][1] is False


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


def paragraph(serial, text, box=(0.1, 0.1, 0.5, 0.2), page=1, kind=NodeKind.PARAGRAPH):
    return Element(serial, page, Block(kind=kind, text=text, box=box))


def shape(*elements):
    return shape_passages(elements, merge_words=6, split_words=20)


def down(place):
    return (0.1, place / 20, 0.5, (place + 1) / 20)


def test_short_neighbours_are_joined_up_to_the_limit_in_the_box_around_them():
    shaped = shape(
        paragraph(0, "One two.", down(1)), paragraph(1, "Three four.", down(2)), paragraph(2, "Five six seven.", down(3))
    )
    assert [element.block.text for element in shaped] == ["One two.\nThree four.", "Five six seven."]
    assert shaped[0].block.box == (0.1, 0.05, 0.5, 0.15)


def test_titles_pages_and_columns_part_passages():
    other = (0.6, 0.01, 0.9, 0.02)
    shaped = shape(
        paragraph(0, "a", down(1)),
        paragraph(1, "T", down(2), kind=NodeKind.TITLE),
        paragraph(2, "b", down(3)),
        paragraph(3, "c", other),
        paragraph(4, "d", other, page=2),
    )
    assert [element.block.text for element in shaped] == ["a", "T", "b", "c", "d"]


def test_fragments_of_a_line_are_one_line():
    cells = [paragraph(0, "Total", (0.1, 0.1, 0.2, 0.12)), paragraph(1, "164", (0.7, 0.1, 0.8, 0.12), kind=NodeKind.LIST)]
    (line,) = shape(*cells)
    assert (line.block.text, line.block.kind) == ("Total 164", NodeKind.PARAGRAPH)


def test_items_of_a_list_stay_a_list():
    (both,) = shape(paragraph(0, "- a", down(1), kind=NodeKind.LIST), paragraph(1, "- b", down(2), kind=NodeKind.LIST))
    assert both.block.kind is NodeKind.LIST


def test_lines_are_joined_as_they_were_read():
    assert join_texts("stan-", "dard", same_line=False) == "standard"
    assert join_texts("runs,", "on", same_line=False) == "runs, on"
    assert join_texts("Ends.", "Begins", same_line=False) == "Ends.\nBegins"


def test_a_long_paragraph_is_cut_at_sentences_into_balanced_pieces_that_continue():
    text = " ".join(f"Sentence {n} has five words." for n in range(10))
    shaped = shape(paragraph(0, text))
    assert [len(element.block.text.split()) for element in shaped] == [15, 20, 15] or all(
        10 <= len(element.block.text.split()) <= 20 for element in shaped
    )
    assert [element.block.continues for element in shaped] == [False, *[True] * (len(shaped) - 1)]
    assert all(element.block.text.endswith("words.") for element in shaped)
    assert len({element.serial for element in shaped}) == len(shaped)


def test_abbreviations_end_no_sentence():
    pieces = cut_text("We see in Fig. 3 that it works well. But then et al. 2020 say other things.", 10)
    assert pieces == ["We see in Fig. 3 that it works well.", "But then et al. 2020 say other things."]


def test_code_is_not_cut_and_a_long_sentence_is():
    (code,) = shape(paragraph(0, "x " * 50, kind=NodeKind.CODE))
    assert code.block.text == "x " * 50
    assert [len(piece.split()) for piece in cut_text("x " * 50, 20)] == [17, 16, 17]
    assert shape_passages([], merge_words=5, split_words=5) == []


@given(st.lists(st.sampled_from(["word", "end.", "Why?", "3.5", "e.g.", "中文。"]), max_size=120), st.integers(1, 30))
def test_cutting_loses_no_word_and_no_piece_is_too_long(words, most):
    text = " ".join(words)
    pieces = cut_text(text, most)
    assert " ".join(pieces).split() == text.split() or "".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert all(len(cut_text(piece, most)) == 1 for piece in pieces)


TOP, BOTTOM, MIDDLE = (0.1, 0.03, 0.9, 0.05), (0.1, 0.95, 0.9, 0.97), (0.1, 0.3, 0.9, 0.6)


def page(number, *blocks, label=None):
    return ParsedPage(number, 612, 792, PageParser.MINERU, tuple(blocks), label=label)


def block(text, box, kind=NodeKind.PARAGRAPH):
    return Block(kind=kind, text=text, box=box)


def furniture_texts(pages):
    return [pages[index].blocks[position].text for index, position in sorted(find(pages))]


def find(pages):
    return find_furniture(pages, repeated_share=0.3, edge_band=0.12)


def body(number):
    return block(f"What page {number} says is a sentence that no other page has, {'very ' * number}long.", MIDDLE)


def test_a_line_repeated_up_to_its_digits_is_furniture_and_the_text_is_not():
    pages = [page(n, block(f"Annual report | {n}", TOP), body(n)) for n in range(1, 5)]
    assert furniture_texts(pages) == [f"Annual report | {n}" for n in range(1, 5)]


def test_a_line_on_two_pages_stays():
    pages = [page(n, block("Only twice" if n < 3 else f"{'Other ' * n}", TOP), body(n)) for n in range(1, 6)]
    assert furniture_texts(pages) == []


def test_the_parsers_headers_are_believed_unless_they_are_long():
    pages = [page(1, block("Short", TOP, NodeKind.HEADER), block("word " * 41, MIDDLE, NodeKind.HEADER))]
    assert furniture_texts(pages) == ["Short"]


def test_a_title_on_three_of_six_slides_stays_and_one_on_all_goes():
    few = [page(n, block("Agenda" if n < 4 else "x" * n, TOP, NodeKind.TITLE), body(n)) for n in range(1, 7)]
    all_of_them = [page(n, block("Acme Inc", TOP, NodeKind.TITLE), body(n)) for n in range(1, 7)]
    assert furniture_texts(few) == []
    assert len(furniture_texts(all_of_them)) == 6


def test_bare_numbers_that_follow_the_pages_are_furniture_wherever_the_page_ends():
    pages = [page(n, body(n), block(str(n + 10), (0.49, 0.7, 0.51, 0.72))) for n in range(1, 6)]
    assert furniture_texts(pages) == [str(n + 10) for n in range(1, 6)]


@pytest.mark.parametrize(
    ("written", "labels"),
    [("3 4 99 6  8", "3 4 5 6 7 8"), ("i ii iii 1 2 3 F-1 F-2 F-3 IV V VI", "i ii iii 1 2 3 F-1 F-2 F-3 IV V VI")],
)
def test_roman_and_prefixed_numbers_are_labels_a_wrong_one_does_not_matter_and_gaps_are_bridged(written, labels):
    blocks = [[block(text, BOTTOM, NodeKind.PAGE_NUMBER)] if text else [] for text in written.split(" ")]
    pages = [page(n, body(n), *number) for n, number in enumerate(blocks, 1)]
    assert fit_labels(pages, find(pages)) == tuple(labels.split())


def test_years_inside_a_numbered_run_are_no_page_numbers():
    pages = [page(n, block(str(2000 + n), TOP) if 3 <= n <= 5 else body(n), block(f"Form 10-K {n}", BOTTOM)) for n in range(1, 9)]
    assert fit_labels(pages, find(pages)) == tuple(str(n) for n in range(1, 9))
    assert "2003" not in furniture_texts(pages)


def test_the_files_own_labels_win_and_unnumbered_pages_have_none():
    assert fit_labels([page(1, label="cover"), page(2)], frozenset()) == ("cover", None)
    assert fit_labels([page(1), page(2)], frozenset()) == (None, None)


@given(st.integers(1, 99))
def test_roman_numerals_are_read_as_written(number):
    assert read_roman(write_roman(number)) == number


def test_words_are_no_roman_numerals():
    assert read_roman("mix") is None
    assert read_roman("") is None
