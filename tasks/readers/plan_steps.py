"""What `plan` has the steps of a question do for each of its sub-questions: understand, find candidates, score, read."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.graph.search import load_nodes
from tasks.algorithms.graphs.plan_graph import PlanStep
from tasks.asking.candidates import columns_for, find_candidates, is_large, lay_out_arcs
from tasks.asking.question import AskContext, find_terms, question_step
from tasks.asking.records import Aim, NodeScores, PathReading, PathText, Question
from tasks.asking.second_look import score_and_look_again
from tasks.readers.plan import Plan
from tasks.readers.plan_model import aim_of
from tasks.reading.paths import read_paths


async def understand_steps(question: Question, plan: Plan, context: AskContext) -> Plan:
    """Return the plan with what its new steps look for; one in the words of the question looks for the same."""
    asked = dict(plan.asked)
    for step in plan.steps:
        if step.id not in asked:
            same = step.question == question.text
            found = question if same else await find_terms.submit(question.id, step.question, context)
            # Words that a plan puts beside each other name no place: "chart" and "12" are not chart 12.
            places = tuple(place for place in found.places if place in question.places)
            asked[step.id] = replace(found, id=question.id, text=step.question, places=places)
    return replace(plan, asked=asked)


async def find_more(
    question: Question, plan: Plan, graph: CandidateGraph, scores: NodeScores, context: AskContext
) -> tuple[Plan, CandidateGraph, NodeScores]:
    """Return the candidates with their scores; of a large scope those of all steps that were not read are among them."""
    steps = [step for step in plan.unread if step.text != question.text]
    if not (steps and is_large(context)):
        return plan, graph, scores
    own = await asyncio.gather(*(find_candidates.submit(step, context) for step in steps))
    joined = await join_candidates.submit(question, steps, [graph, *own], context)
    return plan.move_to(graph, joined), joined, await score_and_look_again(question, joined, context)


@question_step("join-candidates", lambda graph: {"nodes": hash_bytes("".join(graph.ids).encode())})
def join_candidates(
    question: Question, steps: Sequence[Question], graphs: Sequence[CandidateGraph], context: AskContext
) -> CandidateGraph:
    settings = context.settings
    columns = dict.fromkeys(column for asked in (question, *steps) for column in columns_for(asked, context))
    joined = load_nodes(
        context.snapshot.view,
        {node for graph in graphs for node in graph.ids},
        columns=list(columns),
        initial_vectors=settings.relevance.vectors == "initial",
    )
    return lay_out_arcs(joined, settings.candidates.arcs)


async def score_steps(
    question: Question, graph: CandidateGraph, scores: NodeScores, steps: Sequence[Question], context: AskContext
) -> list[tuple[Question, NodeScores]]:
    """Return each step with its scores; one in the words of the question has those of the question."""

    async def own(step: Question) -> NodeScores:
        return scores if step.text == question.text else await score_and_look_again(step, graph, context)

    return list(zip(steps, await asyncio.gather(*map(own, steps)), strict=True))


async def read_steps(question: Question, plan: Plan, texts: Sequence[PathText], context: AskContext) -> list[PathReading]:
    """Let each step of the layer read its own evidence, all at once.

    A model gets the part of the question; a small one, which that confuses, gets the whole question each time.
    """
    if context.reader.model:
        aims = [_aim(question, step, plan, context) for step in plan.open_steps]
        aimed = [replace(text, aim=aim) for text, aim in zip(texts, aims, strict=True)]
        return list(await read_paths.submit(question, aimed, context))
    read = [read_paths.submit(step, [text], context) for step, text in zip(plan.layer, texts, strict=True)]
    return [reading for readings in await asyncio.gather(*read) for reading in readings]


def _aim(question: Question, step: PlanStep, plan: Plan, context: AskContext) -> Aim | None:
    same = step.question == question.text and not step.needs
    return None if same or context.reader.short else aim_of(question, step, plan.steps, plan.readings)
