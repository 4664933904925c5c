"""A question is taken apart where it asks again, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.question_parts import question_parts


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Why did the pump fail, and what did it cost?", ("Why did the pump fail", "what did it cost")),
        ("What is the rate, and in which equation is it used?", ("What is the rate", "in which equation is it used")),
        ("The port with the least trade: how deep is it?", ("The port with the least trade", "how deep is it")),
        ("Who signed? When was it signed?", ("Who signed", "When was it signed")),
        ("How much was earned between 2020 and 2022?", ("How much was earned between 2020 and 2022",)),
        ("What were revenue and profit in 2024?", ("What were revenue and profit in 2024",)),
        ("?!", ()),
    ],
)
def test_each_thing_asked_is_a_part(question, parts):
    assert question_parts(question) == tuple(part for part in parts if part.strip("?!"))


@given(st.text(max_size=200))
def test_no_part_is_empty_and_none_is_invented(question):
    for part in question_parts(question):
        assert part.strip() and part.split()[0] in question
