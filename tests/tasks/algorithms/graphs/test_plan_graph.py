import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.graphs.plan_graph import PlanError, PlanStep, checked_plan, kept, layers


def plan(**needs):
    """Return steps, each with its id for a question."""
    return tuple(PlanStep(name, f"What is {name}?", tuple(needed.split())) for name, needed in needs.items())


def ids(steps):
    return [[step.id for step in layer] for layer in layers(steps)]


@st.composite
def plans(draw):
    """Draw a plan without circles, its steps in any order, each of its own words."""
    count = draw(st.integers(1, 8))
    needs = [draw(st.sets(st.integers(0, place - 1))) if place else set() for place in range(count)]
    names = draw(st.permutations([f"s{place}" for place in range(count)]))
    steps = [PlanStep(names[place], f"What is {place}?", tuple(names[need] for need in needs[place])) for place in range(count)]
    return draw(st.permutations(steps))


def depths(steps):
    """Return how many steps must come before each, one after the other."""
    known = {step.id: step for step in steps}

    def depth(name):
        return 1 + max((depth(need) for need in known[name].needs), default=-1)

    return {name: depth(name) for name in known}


def test_two_steps_at_once_and_a_third_that_needs_both():
    assert ids(plan(s3="s2 s1", s2="", s1="", s4="s1")) == [["s1", "s2"], ["s3", "s4"]]
    assert ids(()) == []


@given(plans(), st.randoms())
def test_each_step_is_in_the_earliest_layer_that_its_needs_allow_whatever_the_order(steps, chance):
    found, expected = layers(steps), depths(steps)
    assert [{expected[step.id] for step in layer} for layer in found] == [{place} for place in range(len(found))]
    assert sorted(step.id for layer in found for step in layer) == sorted(expected)
    assert all(list(layer) == sorted(layer, key=lambda step: step.id) for layer in found)
    mixed = list(steps)
    chance.shuffle(mixed)
    assert layers(mixed) == found


@given(plans())
def test_a_plan_without_faults_is_taken_as_it_is(steps):
    assert {step.id: set(step.needs) for step in checked_plan(steps, most=len(steps))} == {
        step.id: set(step.needs) for step in steps
    }
    assert kept(steps, steps) == {step.id: step.id for step in steps}


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((), "the plan has no step; write at least one"),
        ((*plan(s1="", s2=""), *plan(s1="")), "s1 stands for several steps; give each an id of its own"),
        ((PlanStep("s7", " ?"), *plan(s1="")), "s7 asks nothing; write its question or leave it out"),
        (plan(s1="", s2="s2"), "s2 needs itself; leave that need out"),
        (plan(s1="", s2="s1 s8 s9"), "s2 needs s8 and s9, which the plan does not have; name its own steps"),
        (plan(s1="", s2="", s3="", s4="", s5=""), "the plan has 5 steps, s1, s2, s3, s4 and s5; take at most 4"),
        (plan(s1="", s3="s2", s2="s3 s1"), "s2 and s3 need each other; let one of them do without"),
        (plan(s1="s3", s2="s1", s3="s2"), "s1, s2 and s3 need each other; let one of them do without"),
        (plan(s4="s3", s3="s4", s2="s1", s1="s2"), "s1 and s2 need each other; let one of them do without"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused_with_the_ids(steps, words):
    with pytest.raises(PlanError, match=f"^{re.escape(words)}$"):
        checked_plan(steps, most=4)


@given(plans(), st.data())
def test_every_circle_is_refused_by_the_ids_on_it(steps, data):
    first = data.draw(st.sampled_from(steps))
    behind, grown = {first.id}, True
    while grown:
        more = behind | {step.id for step in steps if behind.intersection(step.needs)}
        behind, grown = more, more != behind
    last = data.draw(st.sampled_from([step for step in steps if step.id in behind]))
    bent = [PlanStep(step.id, step.question, (*step.needs, last.id)) if step == first else step for step in steps]
    with pytest.raises(PlanError) as refused:
        checked_plan(bent, most=len(steps))
    assert {first.id, last.id} <= set(re.findall(r"s\d", str(refused.value)))


def test_a_huge_plan_is_refused_in_few_words():
    with pytest.raises(PlanError, match=r"the plan has 1000 steps, s0xx.* and 988 more; take at most 4") as refused:
        checked_plan([PlanStep(f"s{place}{'x' * 1000}", f"What is {place}?") for place in range(1000)], most=4)
    assert len(str(refused.value)) < 400


def test_steps_of_the_same_words_are_one_that_needs_and_serves_what_they_did():
    steps = (
        PlanStep("s1", "Who signed?"),
        PlanStep("s2", "What did it cost?", ("s1",)),
        PlanStep("s3", " what did  it COST", ("s4", "s2")),
        PlanStep("s4", "Why?"),
        PlanStep("s5", "When?", ("s3", "s2")),
    )
    assert checked_plan(steps, most=4) == (
        PlanStep("s1", "Who signed?"),
        PlanStep("s2", "What did it cost?", ("s1", "s4")),
        PlanStep("s4", "Why?"),
        PlanStep("s5", "When?", ("s2",)),
    )


def test_a_step_keeps_its_reading_while_its_words_and_what_it_needs_stay():
    before = (
        PlanStep("s1", "Who?"),
        PlanStep("s2", "When?"),
        PlanStep("s3", "Why?", ("s1", "s2")),
        PlanStep("s4", "How?", ("s3",)),
    )
    changed = (before[0], PlanStep("s2", "Where?"), *before[2:])
    assert kept(changed, before) == {"s1": "s1"}
    assert kept((*before, PlanStep("s5", "How much?", ("s4",))), before) == {name: name for name in ("s1", "s2", "s3", "s4")}
    # Another need is another question, and so is one less.
    assert kept((*before[:2], PlanStep("s3", "Why?", ("s1",))), before) == {"s1": "s1", "s2": "s2"}
    assert kept((*before[:3], PlanStep("s4", "How?", ("s3", "s1"))), before) == {"s1": "s1", "s2": "s2", "s3": "s3"}


def test_a_reading_is_known_by_the_words_of_its_question_not_by_its_number():
    before = (PlanStep("s1", "Who?"), PlanStep("s2", "When?", ("s1",)))
    assert kept((PlanStep("s1", "when", ("s2",)), PlanStep("s2", "WHO?")), before) == {"s1": "s2", "s2": "s1"}
    assert kept((PlanStep("s1", "Why?"),), before) == {}


@given(plans(), st.data())
def test_what_comes_after_a_changed_step_is_read_again_and_nothing_else(steps, data):
    changed = data.draw(st.sampled_from(steps))
    known = {step.id: step for step in steps}

    def builds_on_it(step):
        return step == changed or any(builds_on_it(known[need]) for need in step.needs)

    new = [PlanStep(step.id, "Something else?", step.needs) if step == changed else step for step in steps]
    assert set(kept(new, steps)) == {step.id for step in steps if not builds_on_it(step)}
