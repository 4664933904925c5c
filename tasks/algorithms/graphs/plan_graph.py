"""A plan: sub-questions as a graph without circles, its layers, what is wrong with one, and what a new one leaves as it was."""

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import networkx as nx

from tasks.algorithms.quotes import plain_answer

LONGEST_ID, MOST_IDS = 20, 12
"""How many characters of an id, and how many ids, the words of an error hold: a model may write any number of any length."""


class PlanError(ValueError):
    """A plan that cannot be followed; its words name the steps."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A sub-question, and the ids of the steps that it needs answers from."""

    id: str
    question: str
    needs: tuple[str, ...] = ()


def validate_plan(steps: Sequence[PlanStep], *, most: int) -> tuple[PlanStep, ...]:
    """Return the plan with steps of the same words made one, in the order given; the other functions take such plans.

    The first of the same words stays: it needs what any of them needs, and is needed where any of them is.
    PlanError where there is no step, an id is given twice, a question is empty, a step needs itself or one that is not there,
    more than `most` are left, or some need each other.
    """
    counts = Counter(step.id for step in steps)
    for step in steps:
        _check_step(step, counts.keys())
    if not steps:
        raise PlanError("the plan has no step; write at least one")
    if doubled := [name for name, count in counts.items() if count > 1]:
        raise PlanError(f"{_list_ids(doubled)} stands for several steps; give each an id of its own")
    merged = _merge_steps(steps)
    if len(merged) > most:
        raise PlanError(f"the plan has {len(merged)} steps, {_list_ids(step.id for step in merged)}; take at most {most}")
    if circles := [sorted(circle) for circle in nx.strongly_connected_components(_graph(merged)) if len(circle) > 1]:
        raise PlanError(f"{_list_ids(min(circles))} need each other; let one of them do without")
    return merged


def _check_step(step: PlanStep, known: AbstractSet[str]) -> None:
    if not plain_answer(step.question):
        raise PlanError(f"{_list_ids([step.id])} asks nothing; write its question or leave it out")
    if step.id in step.needs:
        raise PlanError(f"{_list_ids([step.id])} needs itself; leave that need out")
    if unknown := [need for need in step.needs if need not in known]:
        raise PlanError(f"{_list_ids([step.id])} needs {_list_ids(unknown)}, which the plan does not have; name its own steps")


def layers(steps: Sequence[PlanStep]) -> tuple[tuple[PlanStep, ...], ...]:
    """Return the steps that can be taken together, each as early as its needs allow, those of a layer by id."""
    known = {step.id: step for step in steps}
    return tuple(tuple(known[name] for name in sorted(layer)) for layer in nx.topological_generations(_graph(steps)))


def match_earlier_steps(steps: Sequence[PlanStep], before: Sequence[PlanStep]) -> dict[str, str]:
    """Return for each step that asks what a step of the plan before did, and builds on the same answers, the id it had there."""
    asked = {plain_answer(step.question): step for step in before}
    same: dict[str, str] = {}
    for step in (step for layer in layers(steps) for step in layer):
        old = asked.get(plain_answer(step.question))
        if old is not None and {same.get(need) for need in step.needs} == set(old.needs):
            same[step.id] = old.id
    return same


def _merge_steps(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    first: dict[str, str] = {}
    stays = {step.id: first.setdefault(plain_answer(step.question), step.id) for step in steps}
    needs: dict[str, dict[str, None]] = {name: {} for name in first.values()}
    for step in steps:
        needs[stays[step.id]] |= {stays[need]: None for need in step.needs if stays[need] != stays[step.id]}
    return tuple(PlanStep(step.id, step.question, tuple(needs[step.id])) for step in steps if step.id in needs)


def _graph(steps: Iterable[PlanStep]) -> "nx.DiGraph[str]":
    """Return the plan with an arrow to each step from those that it needs."""
    return nx.from_dict_of_lists({step.id: list(step.needs) for step in steps}, create_using=nx.DiGraph).reverse()


def _list_ids(ids: Iterable[str]) -> str:
    names = [name[:LONGEST_ID] for name in ids]
    shown = [*names[:MOST_IDS], *([f"{len(names) - MOST_IDS} more"] if len(names) > MOST_IDS else [])]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
