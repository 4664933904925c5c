"""Whatever a chat model replies, a reader makes no more calls than it may, and ends with an answer or evidence."""

import random
import re
from dataclasses import replace
from itertools import count

import pytest

from storage.graph.search import Scope
from storage.records.answers import AnswerStatus
from storage.records.documents import NodeKind
from tasks.algorithms.graphs.graph_query import EDGES
from tests.asking_worlds import Passage, answer_at, at_context, published, run_of, written
from tests.chat_server import Misbehaviour, sometimes
from tests.flows.readers.lengths import ALL_FORMS, BOUNDS, DOCUMENT, FACTS, FOUR, QUESTION, everything, step, turn
from tests.scripted_answers import (
    Reader,
    forms,
    model_settings,
    pieces_of,
    read_by,
)
from tests.torture.lab import sampled

WORLD = (DOCUMENT,)


LONG = written(
    "long",
    *(
        Passage(
            f"Crew {page} of the tide.",
            page=page,
            kind=NodeKind.FIGURE if page % 2 else NodeKind.PARAGRAPH,
            label=f"Figure {page}" if page % 2 else "",
            section=f"Part {page}",
        )
        for page in range(1, 61)
    ),
)


@pytest.mark.parametrize(("reader", "made"), [("plan", 24), ("agent", 21), ("map", 6), ("walk", 41)])
def test_a_model_that_never_has_enough_makes_as_many_calls_as_may_be_and_no_more(tmp_path, home, reader, made):
    def page_after_page(request):
        page = len([one for one in pieces_of(request) if one[0].startswith("look ")])
        return turn("query", where=[{"field": "page", "op": "is", "value": str(page)}])

    def elsewhere(request):
        return {"reason": "", "answered": False, "look_at": list(re.findall(r"^(?:d\d)?p\d+", request.prompt, re.MULTILINE))[-8:]}

    endless = {**ALL_FORMS, "Turn": page_after_page, "Reflected": elsewhere, "PathAnswer": everything}
    settings = model_settings(agent={"search_nodes": 1}, walk={"seeds": 50}, map={"k": 2})
    with (
        at_context(published(tmp_path / "long", LONG)) as context,
        read_by(context, Reader(FACTS, instead=endless), settings=settings) as (place, _server),
    ):
        answer = answer_at(place, "Which crew of the tide has a figure?", reader=reader)
    assert answer.usage.most_calls == BOUNDS[reader]
    assert made <= answer.usage.calls + answer.usage.cached <= BOUNDS[reader]


def test_every_page_is_rated_by_the_model_where_all_are_to_be(tmp_path, home):
    settings = model_settings(walk={"everything": True})
    with (
        at_context(published(tmp_path / "long", LONG)) as context,
        read_by(context, Reader(FACTS, instead=ALL_FORMS), settings=settings) as (place, server),
    ):
        answer = answer_at(place, "Which crew of the tide has a figure?", reader="walk")
    assert forms(server)["RatedPage"] == answer.usage.counts["pages rated"] == 60
    assert "60 of them by the model" in answer.trace[1].asked and answer.usage.calls <= answer.usage.most_calls


SMALL = {"ShortTurn": '""', "ShortPlaces": '["p1"]', "ShortRating": "5", "ShortAnswer": '"20 metres long"'}
WELL_SERVED = range(4)
MISBEHAVING = [pytest.param(seed, marks=pytest.mark.torture) for seed in sampled(range(4, 500), 40)]
WAYS = list(Misbehaviour)
SECONDS, GRACE = 4.0, 15.0


@pytest.mark.parametrize("seed", [*WELL_SERVED, *MISBEHAVING])
def test_whatever_a_model_says_and_its_server_does_a_question_ends_in_time_within_its_bound_and_with_nothing_uncited(
    tmp_path, home, seed
):
    dice, well_served = random.Random(seed), seed in WELL_SERVED
    odd = ["", "?", "blade", "crew storm", "x" * 500, "12", "' OR 1=1 --", "list", "figure|table", "\u2028x", "a\nb"]

    def shown(request, letters):
        found = re.findall(rf"^ *((?:d\d)?[{letters}]\d+)[: ]", request.prompt, re.MULTILINE)
        return [dice.choice(found) for _ in range(dice.randint(0, 4)) if found]

    def planned(_request):
        names = dice.sample(["s1", "s1.1", "", "a\nb", "s2", "x" * 30], dice.randint(1, 4))
        asked = [dice.choice(["What is the blade?", QUESTION, f"wire {dice.random()}", *odd]) for _ in names]
        steps = [step(name, text, *names[: dice.randint(0, 2)]) for name, text in zip(names, asked, strict=True)]
        return {"thought": "", "steps": steps}

    def turned(request):
        field, op = dice.choice(["kind", "page", "section", "label"]), dice.choice(["is", "has", "from"])
        return turn(
            dice.choice(["search", "query", "context", "query"]),
            keep=shown(request, "n"),
            drop=shown(request, "n"),
            words=dice.choice(odd),
            node=(shown(request, "n") or ["n1"])[0],
            where=[{"field": field, "op": op, "value": dice.choice(odd)}],
            edge=dice.choice(["", *EDGES]),
        )

    replies = {
        "Planned": planned,
        "Turn": turned,
        "PlanCheck": lambda _: {"reason": "", "sufficient": dice.random() < 0.2, "missing": dice.sample(odd, 2)},
        "Located": lambda request: {"thought": "", "places": shown(request, "spe")},
        "Reflected": lambda request: {"reason": "", "answered": dice.random() < 0.3, "look_at": shown(request, "spe")},
        "RatedPage": lambda _: {"needed": "", "relevance": dice.randint(1, 5)} if dice.random() < 0.8 else {"bad": 1},
        "PathAnswer": lambda request: Reader(FACTS).PathAnswer(request) if dice.random() < 0.7 else {"bad": 1},
    }
    large = {"candidates": {"whole_limit": 4, "by_text": 2, "by_vector": 2, "hops": 0}} if seed % 2 else {}
    scope = Scope(first_page=1, last_page=4) if seed % 3 == 0 else None
    shares, limits, readers = {}, large, FOUR
    if not well_served:
        shares, readers = {how: dice.choice([0.05, 0.2, 0.5]) / 2 for how in dice.sample(WAYS, 2)}, [dice.choice(FOUR)]
        limits = large | {"seconds": SECONDS, "reading": {"model": {"forms": dice.choice(["full", "small"])}}}
    settings = model_settings(**limits)
    with (
        at_context(published(tmp_path / "two", DOCUMENT, LONG)) as context,
        read_by(context, Reader(FACTS, instead=SMALL | replies), settings=settings, misbehave=sometimes(shares, seed)) as (
            place,
            _server,
        ),
    ):
        for reader in readers:
            answer = answer_at(place if scope is None else replace(place, scope=scope), f"{QUESTION} {seed}", reader=reader)
            assert answer.usage.calls + answer.usage.cached <= BOUNDS[reader]
            assert well_served or sum(answer.usage.seconds.values()) < SECONDS + GRACE, shares
            assert bool(answer.answer) == (answer.status in {AnswerStatus.ANSWERED, AnswerStatus.PARTIAL})
            assert answer.citations or not answer.answer


@pytest.mark.parametrize("reader", FOUR)
def test_a_small_model_is_asked_in_small_forms_and_rules_do_what_it_is_not_asked(context, reader):
    settings = model_settings(reading={"model": {"forms": "small"}})
    with read_by(context, Reader(FACTS, instead=SMALL), settings=settings) as (
        place,
        server,
    ):
        answer = answer_at(place, "How long is the blade?", reader=reader)
    duties = {"plan": set(), "agent": {"ShortTurn"}, "map": {"ShortPlaces"}, "walk": {"ShortRating"}}[reader]
    assert set(forms(server)) == {*duties, "ShortAnswer"}
    assert answer.usage.calls <= BOUNDS[reader] and answer.answer.startswith("20 metres")


def test_what_is_kept_for_a_small_model_is_shown_to_it(context):
    narrow = model_settings(reading={"model": {"forms": "small"}}, agent={"search_nodes": 1, "search_share": 0.0})
    words = iter(['"crew of the storm"', '""'])
    with read_by(context, Reader(FACTS, instead=SMALL | {"ShortTurn": lambda _: next(words)}), settings=narrow) as (place, server):
        answer_at(place, QUESTION, reader="agent")
    turns = [request.prompt for request in server.requests if request.form == "ShortTurn"]
    assert len(turns) == 2 and all("kept so far\nn1, n2" in prompt for prompt in turns)


def test_a_question_that_was_killed_in_a_turn_pays_for_no_turn_twice(context):
    turns = [turn("search", words=words) for words in ("crew", "storm", "tide", "price", "steel", "harbour", "wire")]

    def reply(request):
        return turns[len([one for one in pieces_of(request) if one[0].startswith("look ")]) - 1]

    dies = Reader(FACTS, instead={"Turn": reply})
    numbers = count(1)

    def stop(request):
        return Misbehaviour.UNAUTHORISED if request.form == "Turn" and next(numbers) > 6 else None

    with read_by(context, dies, misbehave=stop) as (place, server):
        answer_at(place, QUESTION, reader="agent")
    assert forms(server)["Turn"] >= 7
    with read_by(context, dies) as (place, server):
        answer = answer_at(place, QUESTION, reader="agent")
    purposes = [
        entry
        for entry in run_of(context.snapshot.location).entries
        if entry["kind"] == "call" and entry["answer_id"] == answer.answer_id
    ]
    cached = [entry for entry in purposes if entry["purpose"] == "agent_turn" and entry["outcome"] == "cached"]
    assert len(cached) == 6
