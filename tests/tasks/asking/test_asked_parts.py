"""A question is understood by its words, places and vector, and weighed part by part: what it asks, and of what."""

import numpy as np
import pytest

from tasks.algorithms.questions.kinds import AnswerKind
from tasks.algorithms.questions.places import NamedPlace, PlaceKind
from tasks.asking.question import NAMED_PLACE
from tasks.reading.rules import parts_of
from tests.asking_worlds import Passage, asked, at_context, published, written


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    with at_context(published(tmp_path_factory.mktemp("world"), written("report", Passage("the tide turns")))) as context:
        yield context


def weighed(context, text, context_share=0.5, **rarity):
    question = asked(text, context)
    rarity = dict.fromkeys(question.terms.stems, 1.0) | rarity
    found = list(parts_of(question, rarity, context_share))
    return [
        (part, dict(zip(rarity, part.asked.tolist(), strict=True)), dict(zip(rarity, part.all.tolist(), strict=True)))
        for part in found
    ]


def test_a_name_says_of_whom_and_counts_for_no_part_of_what_is_asked(context):
    ((part, asks, weighs),) = weighed(context, "How much revenue did Merrow earn?", revenu=3.0)
    assert part.kind is AnswerKind.NUMBER and part.text == "How much revenue did Merrow earn?"
    assert asks == pytest.approx({"revenu": 0.75, "merrow": 0.0, "earn": 0.25})
    assert weighs == pytest.approx({"revenu": 0.6, "merrow": 0.2, "earn": 0.2})


def test_a_question_of_names_alone_asks_for_them(context):
    ((_part, asks, _weighs),) = weighed(context, "Who is Maren Oldcastle?")
    assert set(asks.values()) == {0.5}


def test_the_rest_of_a_question_is_the_context_of_a_part(context):
    why, cost = weighed(context, "Why did the pump fail, and how much did the crane cost?")
    assert why[1] == pytest.approx({"pump": 0.5, "fail": 0.5, "crane": 0.0, "cost": 0.0})
    assert why[2] == pytest.approx({"pump": 1 / 3, "fail": 1 / 3, "crane": 1 / 6, "cost": 1 / 6})
    assert (why[0].kind, cost[0].kind) == (AnswerKind.ANY, AnswerKind.NUMBER)


def test_a_name_counts_whole_for_every_part(context):
    _why, cost = weighed(context, "Why did the pump of Merrow fail, and how much did the crane cost?", context_share=0.0)
    assert cost[2] == pytest.approx({"pump": 0.0, "merrow": 1 / 3, "fail": 0.0, "crane": 1 / 3, "cost": 1 / 3})


def test_what_has_no_words_is_no_part(context):
    assert not weighed(context, "?!")
    ((part, _asks, _weighs),) = weighed(context, "How deep is the water, and why?")
    assert part.text == "How deep is the water"


def test_a_part_that_names_a_place_asks_for_it_and_perhaps_for_nothing_else(context):
    place = {NAMED_PLACE: 2.0}
    ((part, asks, _weighs),) = weighed(context, "What is on page 3?", **place)
    assert part.only_place and asks == {NAMED_PLACE: 1.0}
    price, colour = weighed(context, "What is the price in Table 1, and which colour has the crane?", **place)
    assert price[1][NAMED_PLACE] == pytest.approx(2 / 3) and colour[1][NAMED_PLACE] == 0.0
    assert not price[0].only_place and not colour[0].only_place


def test_a_question_is_understood_by_its_words_places_and_vector(context):
    question = asked("What does Table 2 on page 14 say of the steel cable?", context)
    assert {"steel", "cabl"} <= set(question.terms.stems)
    assert set(question.places) == {NamedPlace(PlaceKind.LABEL, "table 2"), NamedPlace(PlaceKind.PAGE, "14")}
    assert question.vector.shape == (8,) and np.isclose(question.vector[[2, 7]], np.sqrt(0.5)).all()
