"""What a chat model does for `plan`: it takes a question apart, says what is missing, and mends the plan; None where rules must."""

from collections.abc import Mapping, Sequence

from storage.graph.candidates import CandidateGraph
from tasks.algorithms.arrays import strongest
from tasks.algorithms.graphs.plan_graph import PlanError, PlanStep, checked_plan
from tasks.asking.question import AskContext
from tasks.asking.records import Aim, Duty, NodeScores, PathReading, Question
from tasks.asking.request import clean
from tasks.prompts.prompt import Piece, cut
from tasks.readers.forms import PlanCheck, Planned, ShortPlan
from tasks.readers.node_lines import node_lines

PROBED = 10
"""Nodes that the first look shows."""
ANSWER_CHARACTERS, QUOTES_SHOWN = 400, 3
"""Of what a step is shown to have found."""


def first_plan(
    question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext, *, most: int
) -> tuple[PlanStep, ...] | None:
    """Have the model take the question apart, after a look at the best nodes."""
    best = strongest(scores=scores.combined, count=PROBED).tolist()
    found = Piece("what a first look found", node_lines(graph, best, [f"n{place}" for place in range(1, len(best) + 1)], context))
    if context.reader.short:
        asked = Duty("plan_decompose_small", "the plan", ShortPlan, (found,), lambda value: _wrong(_short_steps(value), most))
        (short,) = context.reader.do(question, [asked])
        return None if short is None else checked_plan(_short_steps(short), most=most)
    duty = Duty("plan_decompose", "the plan", Planned, (found,), lambda value: _wrong(_steps(value), most))
    (planned,) = context.reader.do(question, [duty])
    return None if planned is None else checked_plan(_steps(planned), most=most)


def _steps(planned: Planned) -> list[PlanStep]:
    return [PlanStep(step.id, clean(step.question), tuple(step.needs)) for step in planned.steps]


def _short_steps(planned: ShortPlan) -> list[PlanStep]:
    return [PlanStep(f"s{place}", clean(text)) for place, text in enumerate(planned.root, 1)]


def _wrong(steps: Sequence[PlanStep], most: int) -> str:
    try:
        checked_plan(steps, most=most)
    except PlanError as error:
        return str(error)
    return ""


def missing_of(
    question: Question, steps: Sequence[PlanStep], readings: Mapping[str, PathReading], context: AskContext
) -> tuple[str, ...] | None:
    """Have the model say what is missing, () where nothing is; a small one is not asked: it finds all of it enough, or nothing."""
    if context.reader.short:
        return None
    (check,) = context.reader.do(
        question, [Duty("plan_check", "the check of the plan", PlanCheck, tuple(_found_by(step, readings) for step in steps))]
    )
    if check is None or check.sufficient:
        return None if check is None else ()
    return tuple(filter(None, map(clean, check.missing))) or ("what the answers leave open",)


def mended_plan(
    question: Question,
    steps: Sequence[PlanStep],
    readings: Mapping[str, PathReading],
    missing: Sequence[str],
    context: AskContext,
    *,
    most: int,
) -> tuple[PlanStep, ...]:
    """Have the model mend the plan; the same plan where its reply is of no use."""
    pieces = (*(_found_by(step, readings) for step in steps), Piece("missing", "\n".join(missing)))
    duty = Duty("plan_replan", "the mended plan", Planned, pieces, lambda value: _wrong(_steps(value), most))
    (planned,) = context.reader.do(question, [duty])
    return tuple(steps) if planned is None else checked_plan(_steps(planned), most=most)


def _found_by(step: PlanStep, readings: Mapping[str, PathReading]) -> Piece:
    reading = readings[step.id]
    answer = cut(reading.answer, ANSWER_CHARACTERS) if reading.supported else "nothing found"
    quotes = [f'Quote: "{quote.text}"' for quote in reading.quotes[:QUOTES_SHOWN]]
    needs = f" (needs {', '.join(step.needs)})" if step.needs else ""
    return Piece(f"{step.id}{needs}", "\n".join([step.question, f"Answer: {answer}", *quotes]))


def aim_of(question: Question, step: PlanStep, steps: Sequence[PlanStep], readings: Mapping[str, PathReading]) -> Aim:
    """Return what a model reads a step for: its words, and the answers that it needs."""
    known = [
        Piece(f"known, {one.id}", f"{one.question}\n{cut(readings[one.id].answer, ANSWER_CHARACTERS) or 'nothing found'}")
        for one in steps
        if one.id in step.needs
    ]
    return Aim(question.text, (Piece("the part to answer", step.question), *known))
