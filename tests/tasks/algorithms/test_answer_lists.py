import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.answer_lists import holds_all, items_of, written_list


@pytest.mark.parametrize(
    ("answer", "items"),
    [
        ('["Circle", "a, b and c", "7"]', ["Circle", "a, b and c", "7"]),
        ("[1, 2]", ["1", "2"]),
        ("red; green and blue", ["red", "green and blue"]),
        ("red\ngreen", ["red", "green"]),
        ("red, green, and 1,234 and blue", ["red", "green", "1,234", "blue"]),
        ("[red, green]", ["red", "green"]),
        ("red", ["red"]),
        ("; red;", ["red"]),
        ("[]", []),
        ("", []),
    ],
)
def test_a_list_is_read_however_it_is_written(answer, items):
    assert items_of(answer) == items


@pytest.mark.parametrize("answer", ["red", '"red"', '{"a": 1}', "[red]", "[" * 100_000, "7"])
def test_what_is_no_array_is_no_written_list(answer):
    assert written_list(answer) is None


def test_all_items_are_there_in_any_order_and_in_any_statement():
    assert holds_all(["gray", "red ball"], ["a red ball, blue", "and gray"])
    assert not holds_all(["gray", "red ball"], ["red and gray balls"])
    assert not holds_all(["gray", "red"], ["red, but not gray"])
    assert holds_all([], ["anything"]) and not holds_all(["?"], ["anything ?"])


def test_no_word_serves_two_items():
    items = ["birth", "place of birth", "member"]
    assert not holds_all(items, ["member, place of birth"]) and holds_all(items, ["member, place of birth, birth"])
    assert not holds_all(["2", "2"], ["2"]) and holds_all(["2", "2"], ["2 and 2"])


@given(st.lists(st.sampled_from(["red ball", "red", "7 %", "green", "ball"]), max_size=5), st.randoms(use_true_random=False))
def test_every_list_holds_itself_in_any_order_and_misses_what_it_has_not(items, dice):
    told = dice.sample(items, len(items))
    assert holds_all(items, ["; ".join(told)]) and not holds_all([*items, "white"], ["; ".join(told)])
