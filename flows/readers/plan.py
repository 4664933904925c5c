"""G2-Reader's way: split a question, gather evidence for each part, and once more for words that no quote holds."""

from collections.abc import Mapping

from tasks.asking.calls import Stage, stage_bounds
from tasks.asking.candidates import find_candidates
from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.asking.second_look import score_and_look_again
from tasks.readers.plan import add_readings, check_plan, decompose, evidence_of, find_evidence, most_steps
from tasks.readers.plan_steps import find_more, read_steps, score_steps, understand_steps
from tasks.reading.paths import fetch_texts
from tasks.reading.synthesis import Findings, synthesize
from tasks.settings.ask import AskSettings


def most_calls(settings: AskSettings) -> Mapping[Stage, int]:
    """One for the plan and each step; in each round one to check, one to mend, and the steps again."""
    steps = most_steps(settings)
    return stage_bounds(settings, first=1 + steps, refined=settings.plan.rounds * (steps + 2))


async def read(question: Question, context: AskContext) -> Findings:
    """Answer by a plan: candidates -> score -> decompose -> (layer by layer: evidence -> fetch -> read; check) -> synthesize."""
    graph = await find_candidates.submit(question, context)
    scores = await score_and_look_again(question, graph, context)
    plan = await understand_steps(question, await decompose.submit(question, graph, scores, context), context)
    plan, graph, scores = await find_more(question, plan, graph, scores, context)
    while plan.layer:
        while layer := plan.layer:
            own = await score_steps(question, graph, scores, layer, context)
            evidence = await find_evidence.submit(question, graph, scores, own, context)
            texts = await fetch_texts.submit(question, graph, evidence.scores, evidence.paths, context)
            plan = add_readings(plan, graph, evidence, await read_steps(question, plan, texts, context), context)
        plan = await understand_steps(question, await check_plan.submit(question, scores, plan, context), context)
        plan, graph, scores = await find_more(question, plan, graph, scores, context)
    return await synthesize.submit(question, graph, scores, evidence_of(plan), context)
