"""What FlowReader's and G2-Reader's calls are sent of a question: each its own part of the evidence, and no more than that."""

from itertools import count

import pytest

from tests.flows.duties.worlds import FACT, SCAN, fact_of, forms_of, quote_first
from tests.flows.readers.lengths import step
from tests.scripted_answers import Reader, pieces_of, question_of, whole_answer

pytestmark = pytest.mark.torture
ASKED = "How many lifts does FOULCAST need, and what orders came in the best quarter?"
PICTURES = 3
"""Shown with a path, at most."""


@pytest.fixture(scope="module")
def flow(papers):
    """A question whose flow is strained and whose readers contradict each other: every kind of call is made."""
    return papers.ask("flowreader", ASKED, Reader({}, rate=0.9, instead={"PathAnswer": quote_first}))


def paths_of(papers, answer):
    """Return the paths that an answer rests on, by the ordinals of their nodes."""
    ordinals = papers.ordinals("flowreader")
    return [tuple(ordinals[name] for name in path["nodes"]) for path in answer["paths"]]


def test_keywords_are_found_in_the_question_alone(papers, flow):
    sent, _answer = flow
    (first,) = forms_of(sent, "Keywords")
    assert first is sent[0] and question_of(first) == ASKED and not first.images
    assert not papers.nodes_in(first.text) and "mixed.pdf" not in first.text


def test_a_worker_reads_its_own_path_with_the_pictures_of_that_path_and_none_of_another(papers, flow):
    sent, answer = flow
    readings = forms_of(sent, "PathAnswer")
    read = [tuple(node.ordinal for node in papers.passages(request)) for request in readings]
    assert len(set(read)) == len(read), "no path is read twice"
    assert set(paths_of(papers, answer)) <= set(read)
    seen = set()
    for request in readings:
        nodes = papers.passages(request)
        own = {f"n{node.ordinal}" if node.picture else f"page {node.page}" for node in nodes}
        telling = {name for name in own if name in papers.drawn and (name.startswith("n") or name == SCAN)}
        shown = papers.pictures_of(request)
        assert set(shown) <= telling and len(shown) == len({*shown}) == min(PICTURES, len(telling))
        assert papers.nodes_in(request.text) <= {node.ordinal for node in nodes} and question_of(request) == ASKED
        assert FACT not in request.text, "what another one noted"
        seen.update(shown)
    assert SCAN in seen and any(name.startswith("n") for name in seen)


def test_two_answers_are_compared_without_the_passages_behind_them(papers, flow):
    sent, _answer = flow
    given = {quote_first(request)["answer"] for request in forms_of(sent, "PathAnswer")}
    compared = forms_of(sent, "Comparison")
    assert compared
    for request in compared:
        texts = [text for _, text in pieces_of(request)]
        assert len({*texts}) == 2 and {*texts} <= given and question_of(request) == ASKED
        assert not request.images and not papers.nodes_in(request.text) and FACT not in request.text


@pytest.mark.parametrize(("form", "joined"), [("RatedBridges", False), ("RatedSteps", True)])
def test_a_rater_is_shown_both_passages_of_each_pair_those_of_a_bridge_unjoined_as_yet(papers, flow, form, joined):
    sent, _answer = flow
    edges, rated = papers.edges("flowreader"), forms_of(sent, form)
    assert rated
    for request in rated:
        ends = [papers.node_of(heading, text).ordinal for heading, text in pieces_of(request)]
        pairs = list(zip(ends[::2], ends[1::2], strict=True))
        assert 1 <= len(pairs) == len({*pairs}) <= 8 and all(one != other for one, other in pairs)
        assert [pair in edges for pair in pairs] == [joined] * len(pairs)
        assert not request.images and question_of(request) == ASKED and FACT not in request.text
        assert request.body["temperature"] == 0.2


def test_the_last_one_is_shown_what_every_reader_said_and_the_passages_that_they_cite(papers, flow):
    sent, answer = flow
    (last,) = forms_of(sent, "WholeAnswer")
    assert last is sent[-1] and question_of(last) == ASKED
    reports = [(heading, text) for heading, text in pieces_of(last) if heading.startswith("path ")]
    readings = {tuple(node.ordinal for node in papers.passages(request)): request for request in forms_of(sent, "PathAnswer")}
    shown, paths = {node.ordinal for node in papers.passages(last)}, paths_of(papers, answer)
    for path, (_heading, text) in zip(paths, reports, strict=True):
        request = readings[path]
        assert quote_first(request)["answer"] in text and fact_of(request) in text
        assert path[0] in shown, "what the reader cites"
    assert shown <= {node for path in paths for node in path}


BOTH = "What does FOULCAST cost, what orders came in the best quarter, and is that more?"
COST, ORDERS, MORE = "What does FOULCAST cost?", "What orders came in the best quarter?", "Is that more than it costs?"
MISSING, INSTEAD = "the cost in thousands of pounds", "Which plan has the lowest cost in Table 3?"
FIRST = [step("s1", COST), step("s2", ORDERS), step("s3", MORE, "s1")]
SECOND = [step("s1", COST), step("s2", ORDERS), step("s3", INSTEAD, "s2")]
"""The third step is asked in other words, and builds on another one."""


@pytest.fixture(scope="module")
def plan(papers):
    """A question taken apart in three, found wanting once and mended; by the calls of each role."""
    checks = count(1)
    model = Reader(
        {},
        instead={
            "Planned": lambda request: {"thought": "", "steps": SECOND if "missing" in dict(pieces_of(request)) else FIRST},
            "PlanCheck": lambda _request: {"reason": "", "sufficient": next(checks) > 1, "missing": [MISSING]},
            "PathAnswer": lambda request: quote_first(request, whole=True),
            "WholeAnswer": whole_answer("", kind="none"),
        },
    )
    sent, _answer = papers.ask("g2", BOTH, model)
    assert all(question_of(request) == BOTH for request in sent)
    first, mended = forms_of(sent, "Planned")
    workers = {dict(pieces_of(request))["the part to answer"]: request for request in forms_of(sent, "PathAnswer")}
    assert len(workers) == len(forms_of(sent, "PathAnswer")), "what is kept is not asked again"
    return {"first": first, "mended": mended, "checks": forms_of(sent, "PlanCheck"), "last": sent[-1], **workers}


def reply_of(request):
    return quote_first(request)["answer"]


def test_a_question_is_taken_apart_after_a_look_at_the_summaries_of_the_best_nodes(papers, plan):
    found = dict(pieces_of(plan["first"]))["what a first look found"].splitlines()
    assert 1 < len(found) <= 10 and all(line.startswith(f"n{place}: ") for place, line in enumerate(found, 1))
    assert len(papers.nodes_in(plan["first"].text)) < len(found), "their summaries, and not all their words"
    assert FACT not in plan["first"].text


def test_a_worker_has_the_answers_that_its_part_needs_and_of_no_other(plan):
    known = {part: [text for heading, text in pieces_of(plan[part]) if heading.startswith("known")] for part in (COST, ORDERS)}
    assert known == {COST: [], ORDERS: []}
    for part, needed, other in ((MORE, COST, ORDERS), (INSTEAD, ORDERS, COST)):
        (text,) = [text for heading, text in pieces_of(plan[part]) if heading.startswith("known")]
        assert needed in text and f"Answer: {reply_of(plan[needed])}" in text
        assert other not in text and MISSING not in plan[part].text


@pytest.mark.parametrize("part", [COST, ORDERS, INSTEAD])
def test_its_evidence_begins_with_the_nearest_node_and_what_that_is_joined_with_and_pictures_are_of_it(papers, plan, part):
    nodes, edges = papers.passages(plan[part]), papers.edges("g2")
    first, *others = [node.ordinal for node in nodes]
    beside = {other for edge in edges if first in edge for other in edge} - {first}
    assert beside and {*others[: len(beside)]} == beside
    assert len(nodes) == len({*nodes}) <= 30
    own = {f"n{node.ordinal}" if node.picture else f"page {node.page}" for node in nodes}
    shown = papers.pictures_of(plan[part])
    assert shown and {*shown} <= own and {*shown} <= {SCAN, *(name for name in own if name.startswith("n"))}


def test_the_checker_sees_every_part_with_its_answer_and_its_quote_and_none_of_the_passages(papers, plan):
    for request, parts in zip(plan["checks"], [(COST, ORDERS, MORE), (COST, ORDERS, INSTEAD)], strict=True):
        found = [text for heading, text in pieces_of(request) if heading.startswith("s")]
        for part, text in zip(parts, found, strict=True):
            assert text.startswith(part) and f"Answer: {reply_of(plan[part])}" in text and "Quote, page " in text
        assert not papers.nodes_in(request.text)


def test_a_plan_is_mended_by_what_is_missing_beside_what_was_found(papers, plan):
    pieces = dict(pieces_of(plan["mended"]))
    assert pieces["missing"] == MISSING and "what a first look found" not in pieces
    for name, part in (("s1", COST), ("s2", ORDERS), ("s3 (needs s1)", MORE)):
        assert pieces[name].startswith(part) and reply_of(plan[part]) in pieces[name]
    assert not papers.nodes_in(plan["mended"].text)


def test_the_reasoner_is_shown_the_answers_of_all_parts_and_passages_of_their_evidence(papers, plan):
    reports = [text for heading, text in pieces_of(plan["last"]) if heading.startswith("path ")]
    evidence = {node.id for part in (COST, ORDERS, INSTEAD) for node in papers.passages(plan[part])}
    assert [f"Answer: {reply_of(plan[part])}" in text for part, text in zip((COST, ORDERS, INSTEAD), reports, strict=True)] == [
        True
    ] * 3
    shown = papers.passages(plan["last"])
    assert shown and {node.id for node in shown} <= evidence
    assert {papers.passages(plan[part])[0].id for part in (COST, ORDERS, INSTEAD)} <= {node.id for node in shown}
