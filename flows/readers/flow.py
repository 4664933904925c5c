"""FlowReader, by default: score every node, add pages while one is worth its price, read chains that a flow finds on them."""

from dataclasses import replace
from functools import partial

from tasks.asking.calls import call_bounds
from tasks.asking.candidates import find_candidates
from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.asking.second_look import score_and_look_again
from tasks.reading.paths import fetch_texts, judge, read_paths
from tasks.reading.synthesis import Evidence, Findings, synthesize
from tasks.routing.chains import refine, route
from tasks.routing.sizes import size

most_calls = partial(call_bounds, gated=True)


async def read(question: Question, context: AskContext) -> Findings:
    """Answer by flow: candidates, score, look again, size -> route -> fetch -> read -> (judge -> refine once).

    The gate judges only what a model read: a second reading of what rules quote found nothing more.
    """
    graph = await find_candidates.submit(question, context)
    scores = await score_and_look_again(question, graph, context)
    sized = await size.submit(question, graph, scores, context)
    routed = await route.submit(question, graph, scores, sized, context)
    texts = await fetch_texts.submit(question, graph, scores, routed.paths, context)
    readings = await read_paths.submit(question, texts, context)
    evidence = Evidence(routed.paths, readings, doubtful=True, sized=sized)
    if context.reader.judged:
        first = await judge.submit(question, readings, None, context)
        evidence = replace(evidence, verdict=first)
        if first.trigger is not None:
            routed = await refine.submit(question, graph, scores, routed, readings, first.trigger, context)
            texts = await fetch_texts.submit(question, graph, scores, routed.paths, context)
            readings = await read_paths.submit(question, texts, context)
            second = await judge.submit(question, readings, None, context)
            evidence = Evidence(
                routed.paths, readings, doubtful=True, sized=routed.sized, verdict=second, before=evidence, edits=routed.edits
            )
    return await synthesize.submit(question, graph, scores, evidence, context)
