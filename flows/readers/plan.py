"""G2-Reader's way: a question as several with evidence of their own, and once more what none of their quotes holds."""

from tasks.asking.candidates import score
from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.readers.plan import check_plan, decompose, evidence_of, find_evidence, taken
from tasks.readers.plan_steps import find_graph, read_steps, score_steps, understand_steps
from tasks.reading.paths import fetch_texts
from tasks.reading.synthesis import Findings, synthesize

GATED = False


async def read(question: Question, context: AskContext) -> Findings:
    """Answer by a plan: decompose -> candidates -> score -> (layer by layer: evidence -> fetch -> read; check) -> synthesize."""
    plan = await understand_steps(question, await decompose.submit(question, context), context)
    graph = await find_graph(question, plan, context)
    scores = await score.submit(question, graph, context)
    while plan.layer:
        while layer := plan.layer:
            own = await score_steps(question, graph, scores, layer, context)
            evidence = await find_evidence.submit(question, graph, scores, own, context)
            texts = await fetch_texts.submit(question, graph, evidence.scores, evidence.paths, context)
            plan = taken(plan, graph, evidence, await read_steps(layer, texts, context), context)
        plan = await understand_steps(question, await check_plan.submit(question, scores, plan, context), context)
    return await synthesize.submit(question, graph, scores, evidence_of(plan), context)
