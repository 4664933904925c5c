"""FlowReader: score every node, route evidence from the question to its answer, read the chosen paths, refine once."""

from tasks.judging import judge
from tasks.path_reader import Question
from tasks.question import AskDesk
from tasks.reading import fetch_texts, read_paths
from tasks.retrieval import find_candidates, score
from tasks.routing import lay_out, route, select
from tasks.synthesis import Evidence, Findings, synthesize
from tasks.terrain_editor import refine


async def read(question: Question, desk: AskDesk) -> Findings:
    """Answer by flow: candidates, score, lay out -> route -> select -> fetch -> read -> judge -> (refine once) -> synthesize."""
    graph = await find_candidates.submit(question, desk)
    scores = await score.submit(question, graph, desk)
    terrain = await lay_out.submit(question, graph, scores, desk)
    routed = await route.submit(question, terrain, desk)
    paths = await select.submit(question, terrain, routed, desk)
    texts = await fetch_texts.submit(question, graph, scores, paths, desk)
    readings = await read_paths.submit(question, texts, desk)
    first = await judge.submit(question, routed, readings, desk)
    evidence = Evidence(paths, readings, verdict=first)
    if first.trigger is not None:
        refined = await refine.submit(question, graph, scores, terrain, routed, readings, first.trigger, desk)
        routed = await route.submit(question, refined.terrain, desk)
        paths = await select.submit(question, refined.terrain, routed, desk)
        texts = await fetch_texts.submit(question, graph, scores, paths, desk)
        readings = await read_paths.submit(question, texts, desk)
        second = await judge.submit(question, routed, readings, desk)
        evidence = Evidence(paths, readings, verdict=second, before=evidence, edits=refined.edits)
    return await synthesize.submit(question, graph, scores, evidence, desk)
