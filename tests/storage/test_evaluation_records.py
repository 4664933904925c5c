from dataclasses import FrozenInstanceError

import pytest

from storage.codec import from_json, to_json
from storage.evaluation_records import Asked, BenchmarkQuestion
from tests.storage.evaluation_worlds import evaluation


def test_a_question_cannot_be_changed_after_it_was_read():
    question = BenchmarkQuestion(id="q", text="What?", documents=("a.pdf",))
    with pytest.raises(FrozenInstanceError):
        question.text = "Why?"  # type: ignore[misc]


def test_what_was_asked_survives_the_way_to_json_and_back():
    asked = Asked("k", "q", "flow", (("a.pdf", 3), ("a.pdf", 1)), (("a.pdf", 3),), 0.1, "42", "answered", cited=(("a.pdf", 3),))
    assert from_json(Asked, to_json(asked)) == asked


def test_an_evaluation_shares_its_models_with_no_other():
    assert evaluation("first").models == {} and evaluation("first").models is not evaluation("second").models
