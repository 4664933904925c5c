import pytest

from tasks.algorithms.layout import count_words, letter_height, shared_height, shared_width, simplify, unite, word_spans


def test_words_are_counted_and_han_signs_are_words():
    assert count_words("two words") == 2
    assert count_words("中文字 abc") == 4
    assert word_spans("a bc") == [(0, 1), (2, 4)]


def test_spellings_of_a_heading_compare_equal():
    assert simplify(" 1.  Results—and_More ") == simplify("1 results AND more")


def test_boxes_unite_and_overlap():
    one, other = (0.1, 0.1, 0.5, 0.2), (0.3, 0.15, 0.5, 0.4)
    assert unite([one, other]) == (0.1, 0.1, 0.5, 0.4)
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
