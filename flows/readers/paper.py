"""FlowReader as in its paper: sources and sinks, the cheapest flow, replicator dynamics, the gate and one refinement."""

from functools import partial

from tasks.asking.calls import call_bounds
from tasks.asking.candidates import find_candidates, score
from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.asking.second_look import note_no_look
from tasks.reading.paths import fetch_texts, judge, read_paths
from tasks.reading.synthesis import Evidence, Findings, synthesize
from tasks.routing.paper import lay_out, route, select
from tasks.routing.paper_refinement import refine

most_calls = partial(call_bounds, gated=True)


async def read(question: Question, context: AskContext) -> Findings:
    """Answer by flow: candidates, score, lay out -> route -> select -> fetch -> read -> (judge -> refine once) -> synthesize.

    Unlike by default, quotes by rules are judged, too; readings in small forms are not.
    """
    note_no_look(context)
    graph = await find_candidates.submit(question, context)
    scores = await score.submit(question, graph, context)
    terrain = await lay_out.submit(question, graph, scores, context)
    routed = await route.submit(question, terrain, context)
    paths = await select.submit(question, terrain, routed, context)
    texts = await fetch_texts.submit(question, graph, scores, paths, context)
    readings = await read_paths.submit(question, texts, context)
    evidence = Evidence(paths, readings)
    if context.reader.judged or not context.reader.model:
        first = await judge.submit(question, readings, routed.saturation, context)
        evidence = Evidence(paths, readings, verdict=first)
        if first.trigger is not None:
            refined = await refine.submit(question, graph, scores, terrain, routed, readings, first.trigger, context)
            routed = await route.submit(question, refined.terrain, context)
            paths = await select.submit(question, refined.terrain, routed, context)
            texts = await fetch_texts.submit(question, graph, scores, paths, context)
            readings = await read_paths.submit(question, texts, context)
            second = await judge.submit(question, readings, routed.saturation, context)
            evidence = Evidence(paths, readings, verdict=second, before=evidence, edits=refined.edits)
    return await synthesize.submit(question, graph, scores, evidence, context)
