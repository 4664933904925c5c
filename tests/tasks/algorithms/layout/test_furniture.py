from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Block, NodeKind, PageParser, ParsedPage
from tasks.algorithms.layout.furniture import find_furniture, fit_labels, read_roman, write_roman

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


def test_one_wrong_number_does_not_matter_and_gaps_are_bridged():
    numbers = ["3", "4", "99", "6", "", "8"]
    pages = [page(n, body(n), *([block(text, BOTTOM, NodeKind.PAGE_NUMBER)] if text else [])) for n, text in enumerate(numbers, 1)]
    assert fit_labels(pages, find(pages)) == ("3", "4", "5", "6", "7", "8")


def test_roman_front_matter_and_prefixed_pages_are_labels_too():
    texts = ["i", "ii", "iii", "1", "2", "3", "F-1", "F-2", "F-3", "IV", "V", "VI"]
    pages = [page(n, body(n), block(text, BOTTOM, NodeKind.PAGE_NUMBER)) for n, text in enumerate(texts, 1)]
    assert fit_labels(pages, find(pages)) == tuple(texts)


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
