"""What a chat model does for `plan`: it takes a question apart, says what is missing, and mends the plan; None where rules must."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from storage.artifacts import home_artifacts
from storage.graph.candidates import CandidateGraph
from storage.records.documents import Passage
from tasks.algorithms.arrays import strongest
from tasks.algorithms.graphs.plan_graph import PlanError, PlanStep, validate_plan
from tasks.asking.question import AskContext
from tasks.asking.records import Aim, Duty, NodeScores, PathReading, Question, T
from tasks.prompts.prompt import Piece
from tasks.readers.forms import PlanCheck, Planned, model_words
from tasks.readers.pages import describe_reading, node_lines
from tasks.reading.model_answer import key_passages, worth_of
from tasks.reading.shown import NodePictures

PROBED = 10
"""Nodes that the first look shows."""
MOST_MISSING = 5


def first_plan(
    question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext, *, most: int
) -> tuple[tuple[PlanStep, ...], list[int]] | None:
    """Have the model take the question apart, after a look at the best nodes; return the steps, and these nodes.

    A small one is not asked: of one thing it makes several, and what has several parts rules take apart.
    """
    if context.reader.short:
        return None
    best = strongest(scores=scores.combined, count=PROBED).tolist()
    found = Piece("what a first look found", node_lines(graph, best, [f"n{place}" for place in range(1, len(best) + 1)], context))
    duty = Duty("plan_decompose", "the plan", Planned, (room_for(most), found), lambda value: _wrong(value, most))
    if most_pictures(context):
        nodes = context.snapshot.view.passages_by_id([graph.ids[node] for node in best])
        worth = dict(zip((node.id for node in nodes), scores.combined[best].tolist(), strict=True))
        duty = _with_pictures(duty, [(f"n{place}", node) for place, node in enumerate(nodes, 1)], worth, context)
    (planned,) = context.reader.do(question, [duty])
    return None if planned is None else (_plan(planned, most), best)


def room_for(most: int) -> Piece:
    return Piece(f"at most {most} sub-questions", "")


def _steps(planned: Planned) -> list[PlanStep]:
    return [PlanStep(step.id, model_words(step.question), tuple(step.needs)) for step in planned.steps]


def _plan(planned: Planned, most: int) -> tuple[PlanStep, ...]:
    """Return the steps under ids of ours, which head pieces in prompts; a model's may be anything."""
    steps = validate_plan(_steps(planned), most=most)
    ids = {step.id: f"s{place}" for place, step in enumerate(steps, 1)}
    return tuple(PlanStep(ids[step.id], step.question, tuple(ids[need] for need in step.needs)) for step in steps)


def _wrong(planned: Planned, most: int) -> str:
    try:
        validate_plan(_steps(planned), most=most)
    except PlanError as error:
        return str(error)
    return ""


def missing_of(
    question: Question, steps: Sequence[PlanStep], readings: Mapping[str, PathReading], context: AskContext
) -> tuple[str, ...] | None:
    """Let the model say what is missing, () where nothing is; a small one is not asked: it would call all enough, or nothing."""
    if context.reader.short:
        return None
    duty = Duty("plan_check", "the check of the plan", PlanCheck, tuple(_found_by(step, readings) for step in steps))
    (check,) = context.reader.do(question, [_with_evidence(duty, readings, context)])
    if check is None or check.sufficient:
        return None if check is None else ()
    return tuple(filter(None, map(model_words, check.missing[:MOST_MISSING]))) or ("what the answers leave open",)


def mend_plan(
    question: Question,
    steps: Sequence[PlanStep],
    readings: Mapping[str, PathReading],
    missing: Sequence[str],
    context: AskContext,
    *,
    most: int,
) -> tuple[PlanStep, ...]:
    """Have the model mend the plan; the same plan where its reply is of no use."""
    pieces = (room_for(most), *(_found_by(step, readings) for step in steps), Piece("missing", "\n".join(missing)))
    duty = Duty("plan_replan", "the mended plan", Planned, pieces, lambda value: _wrong(value, most))
    (planned,) = context.reader.do(question, [_with_evidence(duty, readings, context)])
    return tuple(steps) if planned is None else _plan(planned, most)


def most_pictures(context: AskContext) -> int:
    settings = context.settings.reading.model
    return min(settings.evidence_pictures, settings.pictures) if context.reader.sees else 0


def _with_evidence(duty: Duty[T], readings: Mapping[str, PathReading], context: AskContext) -> Duty[T]:
    """Return the duty with pictures of what the steps cite, and of the best of what they read."""
    if not most_pictures(context):
        return duty
    most = context.settings.reading.model.evidence_passages
    owned = [(name, node) for name, reading in readings.items() for node in key_passages(reading, most)]
    return _with_pictures(duty, owned, worth_of([*readings.values()]), context)


def _with_pictures(duty: Duty[T], owned: Sequence[tuple[str, Passage]], worth: Mapping[str, float], context: AskContext) -> Duty[T]:
    """Return the duty with the pictures of these nodes, each by the names that they go by in its pieces."""
    nodes = {node.id: node for _name, node in owned}
    seen, pictures = NodePictures(context.snapshot, home_artifacts()).choose([*nodes.values()], worth, most_pictures(context), {})
    by_number = {seen[node.id].number: node for node in reversed(nodes.values()) if node.id in seen}
    shows = [
        f"{', '.join(dict.fromkeys(name for name, other in owned if other.id in seen and seen[other.id].number == number))}, "
        f"{'its page' if seen[node.id].of_page else node.kind.value}, page {node.page}"
        for number, node in sorted(by_number.items())
    ]
    return replace(duty, pictures=tuple(pictures), shows=tuple(shows))


def _found_by(step: PlanStep, readings: Mapping[str, PathReading]) -> Piece:
    needs = f" (needs {', '.join(step.needs)})" if step.needs else ""
    return Piece(f"{step.id}{needs}", f"{step.question}\n{describe_reading(readings[step.id])}")


def aim_of(question: Question, step: PlanStep, steps: Sequence[PlanStep], readings: Mapping[str, PathReading]) -> Aim:
    """Return what a model reads a step for: its words, and the answers that it needs."""
    known = [
        Piece(f"known, {one.id}", f"{one.question}\n{describe_reading(readings[one.id])}") for one in steps if one.id in step.needs
    ]
    return Aim(question.text, (Piece("the part to answer", step.question), *known))
