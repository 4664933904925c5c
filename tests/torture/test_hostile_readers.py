"""Whatever a server replies to the readers that a model drives, a question ends with an answer that is cited, or with evidence."""

import random

import pytest

from storage.records.answers import AnswerStatus
from tests.asking_worlds import answer_at, at_context
from tests.chat_server import Misbehaviour, sometimes
from tests.flows.readers.lengths import ALL_FORMS, BOUNDS, DOCUMENT, FACTS, FOUR, QUESTION
from tests.scripted_answers import Reader, model_settings, read_by
from tests.torture.lab import sampled

pytestmark = pytest.mark.torture

STORIES = range(500)
SECONDS, GRACE = 4.0, 15.0
WORLD = (DOCUMENT,)


@pytest.mark.parametrize("seed", sampled(STORIES, 40))
def test_a_question_ends_within_its_bound_and_its_time_with_nothing_uncited(location, home, tell, seed):
    dice = random.Random(seed)
    reader, forms = dice.choice(FOUR), dice.choice(["full", "small"])
    shares = {how: dice.choice([0.05, 0.2, 0.5]) / 2 for how in dice.sample(list(Misbehaviour), 2)}
    settings = model_settings(seconds=SECONDS, reading={"model": {"forms": forms}})
    small = {
        "ShortTurn": '"crew"',
        "ShortPlaces": '["p1"]',
        "ShortRating": "3",
        "ShortAnswer": '"20 metres"',
    }
    model = Reader(FACTS, instead={**ALL_FORMS, **small})
    with (
        at_context(location) as context,
        read_by(context, model, settings=settings, misbehave=sometimes(shares, seed)) as (place, server),
    ):
        answer = answer_at(place, f"{QUESTION} {seed}", reader=reader)
    seconds = sum(answer.usage.seconds.values())
    tell(f"{seed}: {reader} in {forms} forms, {server.calls} requests, {answer.status.value}, {seconds:.1f} s: {shares}")
    assert answer.usage.calls + answer.usage.cached <= BOUNDS[reader] and seconds < SECONDS + GRACE
    assert bool(answer.answer) == (answer.status in {AnswerStatus.ANSWERED, AnswerStatus.PARTIAL})
    assert answer.citations or not answer.answer
    assert not {place.document.name for place in answer.evidence_pages} - {"lengths.pdf"}
