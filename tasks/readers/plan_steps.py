"""What `plan` has the steps of a question do for each of its sub-questions: understand, find candidates, score, read."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.graph.search import load_nodes
from tasks.asking.candidates import columns_for, find_candidates, is_large, laid_out, score
from tasks.asking.question import AskContext, find_terms, question_step
from tasks.asking.records import NodeScores, PathReading, PathText, Question
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
) -> tuple[CandidateGraph, NodeScores]:
    """Return the candidates with their scores; of a large scope those of the first steps are among them."""
    steps = [step for step in plan.layer if step.text != question.text]
    if not (steps and is_large(context)):
        return graph, scores
    own = await asyncio.gather(*(find_candidates.submit(step, context) for step in steps))
    joined = await join_candidates.submit(question, plan, [graph, *own], context)
    return joined, await score.submit(question, joined, context)


@question_step("join-candidates", lambda graph: {"nodes": hash_bytes("".join(graph.ids).encode())})
def join_candidates(question: Question, plan: Plan, graphs: Sequence[CandidateGraph], context: AskContext) -> CandidateGraph:
    settings = context.settings
    columns = dict.fromkeys(column for asked in (question, *plan.layer) for column in columns_for(asked, context))
    joined = load_nodes(
        context.snapshot.view,
        {node for graph in graphs for node in graph.ids},
        columns=list(columns),
        initial_vectors=settings.relevance.vectors == "initial",
    )
    return laid_out(joined, settings.candidates.arcs)


async def score_steps(
    question: Question, graph: CandidateGraph, scores: NodeScores, steps: Sequence[Question], context: AskContext
) -> list[tuple[Question, NodeScores]]:
    """Return each step with its scores; one in the words of the question has those of the question."""

    async def own(step: Question) -> NodeScores:
        return scores if step.text == question.text else await score.submit(step, graph, context)

    return list(zip(steps, await asyncio.gather(*map(own, steps)), strict=True))


async def read_steps(question: Question, plan: Plan, texts: Sequence[PathText], context: AskContext) -> list[PathReading]:
    """Have each step of the layer read its own evidence, all at once; a model is told which part of the question that is."""
    if context.reader.model:
        own = [step for step in plan.open_steps if step.question != question.text]
        aims = {step.question: aim_of(question, step, plan.steps, plan.readings) for step in own}
        texts = [replace(text, aim=aims.get(step.question)) for text, step in zip(texts, plan.open_steps, strict=True)]
    read = [read_paths.submit(step, [text], context) for step, text in zip(plan.layer, texts, strict=True)]
    return [reading for readings in await asyncio.gather(*read) for reading in readings]
