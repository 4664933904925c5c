"""Replies that are no answers are told from answers, which may be right or wrong."""

import pytest

from tasks.algorithms.proof.replies import why_unusable

QUESTION = "By how much did the availability of the turbines change between 2023 and 2024?"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("strconv.Atoi(strings.TrimSpace(strings.Split(passage,", "program code"),
        ("```python\nprint(1)", "program code"),
        ("def change(a, b): return a - b", "program code"),
        ('{"answer": "-1.1"}', "program code"),
        ("By how much did the availability of the turbines change", "says the question again"),
        ("1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1.", "over and over"),
        (f"2{60 * '0'}", "over and over"),
        ("The availability of the turbines that changed between 2023 and 2024", "says the question again"),
        ("Yes, the availability of the turbines changed between 2023 and 2024", ""),
        ("-1.1", ""),
        ("", ""),
        ("It fell by 1.1 points, from 95.2 to 94.1.", ""),
        ("between 2023 and 2024", ""),
        ("the import of steel, and rope", ""),
        ("f(x) of the valve (open)", ""),
        ("import duties of 5 % (2023)", ""),
        ("The function of the valve (a part) is to return; it may print (red)", ""),
        ("Smith;", ""),
        ("import numpy as np\n", "program code"),
        ("return a - b;", "program code"),
    ],
)
def test_code_runs_of_words_and_echoes_are_no_answers(answer, why):
    found = why_unusable(QUESTION, answer, "Availability was 95.2 in 2023.")
    assert why in found and bool(found) == bool(why)


def test_what_was_shown_word_for_word_is_no_echo():
    echo = "the availability of the turbines between 2023 and 2024"
    assert why_unusable(QUESTION, echo, f"It is {echo.title()}.") == "" != why_unusable(QUESTION, echo, "")


def test_what_is_chosen_may_stand_in_the_question():
    assert why_unusable("Is the sound or the harbour deeper?", "The sound is deeper than the harbour", "") == ""


def test_what_looks_like_code_may_be_quoted_from_the_page():
    assert why_unusable(QUESTION, "os.path.join(a)", "Call os.path.join(a) first.") == ""
