import time

import pytest

from tasks.algorithms.asked_part import asked_part


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ('Which slides show a boat? Write the answer as a list, e.g. ["Slide 1", "Slide 4"].', "Which slides show a boat?"),
        ("Who signed it? Please give the answer in one word.", "Who signed it?"),
        ("How much? Your answer should be rounded.", "How much?"),
        ("Is it so? Directly answer yes or no.", "Is it so?"),
        ("Give the list of members. Who left?", "Give the list of members. Who left?"),
        ("What does [NA] mean?", "What does [NA] mean?"),
        ("It fell in May. Why?", "It fell in May. Why?"),
        ("", ""),
        ("   ", "   "),
    ],
)
def test_words_about_the_form_of_the_answer_are_left_out(question, asked):
    assert asked_part(question) == asked


@pytest.mark.parametrize("piece", ["[,", "[a,", "e.g. ", "write the answer ", ". Write format ", '["', " (", "\n "])
def test_a_long_hostile_question_is_read_in_time(piece):
    started = time.process_time()
    asked_part(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 5
