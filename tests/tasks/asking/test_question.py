"""A question says what it looks for: terms, places, a vector; its steps are known by its words."""

import numpy as np
import pytest

from tasks.algorithms.questions.places import NamedPlace, PlaceKind
from tests.asking_worlds import Passage, asked, at_context, published, written


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    location = published(tmp_path_factory.mktemp("world"), written("report", Passage("the tide turns")))
    with at_context(location) as context:
        yield context


def test_a_question_is_understood_by_its_words_places_and_vector(context):
    question = asked("What does Table 2 on page 14 say of the steel cable?", context)
    assert {"steel", "cabl"} <= set(question.terms.stems)
    assert set(question.places) == {NamedPlace(PlaceKind.LABEL, "table 2"), NamedPlace(PlaceKind.PAGE, "14")}
    assert question.vector.shape == (8,) and np.isclose(question.vector[[2, 7]], np.sqrt(0.5)).all()
