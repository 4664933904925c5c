"""Pairs are rated several in a call, each exactly once; where a call fails nothing changes."""

import pytest

from tasks.reading.model import rate
from tests.asking_worlds import Passage, asked, written
from tests.chat_server import Misbehaviour
from tests.scripted_answers import Reader, booked, model_settings, of_form, pairs_of, pieces_of, read_by

REPORT = written("report", *[Passage(f"The tide of day {day}. " + "It rains. " * 400, day) for day in range(1, 8)])


def rates(context, reader, count, *, bridges, at_once=3, **server):
    """Return what the first `count` neighbours are rated, the server, and the notes."""
    with read_by(context, reader, **server) as (place, served), booked(place) as book:
        pairs = list(zip(REPORT.nodes, REPORT.nodes[1:], strict=False))[:count]
        question = asked("the tide", context)
        found = rate(place.reader.context, question, pairs, [0.25] * (count - 1) + [-0.5], bridges=bridges, at_once=at_once)
    return found, served, book


@pytest.mark.parametrize(("given", "sent"), [(None, 0.0), (0.2, 0.2)])
def test_the_paper_has_steps_rated_at_a_temperature_of_their_own(context, given, sent):
    settings = model_settings(gate={"scorer_temperature": given})
    _found, server, _book = rates(context, Reader({}), 2, bridges=False, settings=settings)
    assert {request.body["temperature"] for request in server.requests} == {sent}


@pytest.mark.parametrize(("bridges", "form"), [(True, "RatedBridges"), (False, "RatedSteps")])
def test_several_pairs_are_rated_in_a_call_and_each_gets_its_own(context, bridges, form):
    def by_number(request):
        rated = getattr(Reader({}), form)(request)["ratings"]
        name = "strength" if bridges else "usefulness"
        return {"ratings": [one | {name: one["pair"] / 10} for one in reversed(rated)]}

    found, server, book = rates(context, Reader({}, instead={form: by_number}), 5, bridges=bridges)
    assert found == [0.1, 0.2, 0.3, 0.1, 0.2] and server.calls == 2 and not book.notes
    first, second = sorted(of_form(server, form), key=lambda request: -len(pairs_of(request)))
    assert (pairs_of(first), pairs_of(second)) == ([1, 2, 3], [1, 2])
    assert [heading for heading, _ in pieces_of(second)] == [
        *(f"pair {pair}, passage {side}: paragraph, page {3 + pair + (side == 'B')}" for pair in (1, 2) for side in "AB")
    ]
    assert all("characters left out]" in text for _, text in pieces_of(first))


def test_what_is_not_connected_is_worth_nothing(context):
    def unconnected(request):
        return {"ratings": [{"pair": pair, "connected": False, "strength": 1.0} for pair in pairs_of(request)]}

    found, _, _ = rates(context, Reader({}, instead={"RatedBridges": unconnected}), 2, bridges=True)
    assert found == [0.0, 0.0]


@pytest.mark.parametrize(("bridges", "stays"), [(True, [0.0, 0.0]), (False, [0.25, 0.0])])
@pytest.mark.parametrize("numbers", [[1], [1, 1], [1, 2, 3], [2, 3]])
def test_rates_of_other_pairs_than_those_asked_are_refused_and_nothing_changes(context, bridges, stays, numbers):
    def wrong(_request):
        more = {"connected": True, "strength": 0.9} if bridges else {"usefulness": 0.9}
        return {"ratings": [{"pair": number, **more} for number in numbers]}

    form = "RatedBridges" if bridges else "RatedSteps"
    found, server, book = rates(context, Reader({}, instead={form: wrong}), 2, bridges=bridges)
    assert found == stays and server.calls == 2 and "must be rated exactly once" in book.notes[0]


def test_a_rate_outside_0_to_1_is_refused(context):
    found, _, book = rates(context, Reader({}, rate=7.0), 2, bridges=True)
    assert found == [0.0, 0.0] and "a rate is not between 0.0 and 1.0" in book.notes[0]


def test_of_two_calls_one_may_fail(context):
    found, _, book = rates(
        context, Reader({}), 5, bridges=False, misbehave=lambda r: Misbehaviour.REFUSAL if len(pairs_of(r)) == 3 else None
    )
    assert found == [0.25, 0.25, 0.25, 0.5, 0.5] and "3 steps" in book.notes[0]
