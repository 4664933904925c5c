"""One answer out of all readings: with paths, pages, places and the gate's report, all of them in the snapshot."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from storage.records.answers import AnswerStatus, GateReport, GraphEdit, NamedDocument, PagePlace
from tasks.algorithms.flow.refinement import Trigger
from tasks.asking.candidates import find_candidates, score
from tasks.asking.records import PathReading, Synthesis, Verdict
from tasks.reading.synthesis import NO_WORD_SAID, Evidence, gate_report, places_of, ranked_pages, synthesize
from tasks.routing.paths import ChosenPath
from tasks.routing.sizes import Sized
from tests.asking_worlds import Passage, asked, at_context, ordinals_of, published, written
from tests.storage.worlds import document_id

QUIET = Verdict(consistency=1.0, saturation=0.9, trigger=None)
FIRED = Verdict(consistency=0.5, saturation=0.7, trigger=Trigger.LOW_CONSISTENCY)
EDITS = (GraphEdit("source", "a", "", 0.0, 0.5),)


@dataclass(frozen=True)
class Joining:
    """A reader that puts answers in a row."""

    model = ""

    def keywords(self, _question):
        return ()

    def synthesize(self, _question, readings, _rarity, verdict):
        assert verdict in {QUIET, FIRED, None}
        said = [reading.answer for reading in readings if reading.supported]
        return Synthesis(", ".join(said), AnswerStatus.ANSWERED if said else AnswerStatus.NOT_FOUND, (), "because")


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    report = written("report", *[Passage(f"the tide of day {day}", page=1 + day // 2) for day in range(6)])
    with at_context(published(tmp_path_factory.mktemp("world"), report, written("note", Passage("a cable")))) as context:
        context = replace(context, reader=Joining())
        question = asked("the tide", context)
        graph = find_candidates(question, context)
        yield question, graph, score(question, graph, context), context


def found(scene, evidence):
    question, graph, scores, context = scene
    return synthesize(question, graph, scores, evidence, context)


def node(scene, name, ordinal):
    graph = scene[1]
    owners = [graph.document_ids[document] for document in graph.documents.tolist()]
    return list(zip(owners, ordinals_of(graph, scene[3]), strict=True)).index((document_id(name), ordinal))


def path_of(*nodes):
    return ChosenPath(nodes=nodes, flow=0.5, quality=0.25, share=0.125)


def read(*answers):
    return tuple(PathReading(answer, ()) for answer in answers)


def test_each_path_comes_with_its_answer(scene):
    first, second = node(scene, "report", 0), node(scene, "report", 3)
    made = found(scene, Evidence((path_of(first, second), path_of(second)), read("yes", ""), verdict=QUIET))
    graph, context = scene[1], scene[3]
    assert [path.nodes for path in made.paths] == [(graph.ids[first], graph.ids[second]), (graph.ids[second],)]
    assert [path.answer for path in made.paths] == ["yes", ""] and made.synthesis.answer == "yes"
    assert (made.paths[0].flow, made.paths[0].quality, made.paths[0].share) == (0.5, 0.25, 0.125)
    assert {path for chain in made.paths for path in chain.nodes} <= {
        each.id for each in context.snapshot.nodes(document_id("report"))
    }
    assert made.paths[0].pages == (PagePlace(NamedDocument(document_id("report"), "report.pdf"), 1), *made.paths[1].pages)


def test_evidence_pages_are_those_of_all_paths_each_once_in_their_order(scene):
    places = [node(scene, "report", ordinal) for ordinal in (4, 5, 0, 1)]
    made = found(
        scene, Evidence((path_of(*places[:2]), path_of(places[2]), path_of(places[3])), read("a", "b", "c"), verdict=QUIET)
    )
    assert [place.page for place in made.evidence_pages] == [3, 1]
    assert places_of(scene[1], [], scene[3].names) == ()


def test_every_page_with_a_candidate_is_ranked_the_best_first_and_ties_by_document_and_page(scene):
    _, graph, scores, context = scene
    ranked = ranked_pages(graph, scores, context.names, None)
    assert len(ranked) == 4 and {page.probability for page in ranked} == {None}
    assert [page.score for page in ranked] == sorted((page.score for page in ranked), reverse=True)
    level = replace(scores, combined=np.full(len(graph), 0.5))
    order = [(page.document.id, page.page) for page in ranked_pages(graph, level, context.names, None)]
    assert order == sorted(order)


def test_the_pages_that_were_worth_their_price_are_the_evidence_and_have_their_probability(scene):
    chances = np.array([0.75, 0.5, 0.25])
    keys = tuple((document_id("report"), page) for page in (2, 1, 3))
    sized = Sized(keys, chances, count=2, calibrated=True)
    evidence = Evidence((path_of(node(scene, "report", 0)),), read("yes"), sized=sized)
    made = found(scene, evidence)
    assert [place.page for place in made.evidence_pages] == [2, 1] and made.gate is None
    assert {page.page: page.probability for page in made.pages if page.document.name == "report.pdf"} == {2: 0.75, 1: 0.5, 3: 0.25}
    assert [page.probability for page in made.pages if page.document.name == "note.pdf"] == [None]
    assert made.completeness == pytest.approx(0.75**0.5)
    unsure = found(scene, replace(evidence, sized=replace(sized, calibrated=False)))
    assert {page.probability for page in unsure.pages} == {unsure.completeness} == {None}
    assert unsure.evidence_pages == made.evidence_pages


def test_what_a_reader_hands_over_says_whether_it_may_be_refused(scene):
    evidence = Evidence((path_of(0),), read("yes"))
    assert found(scene, evidence).refusal is None and found(scene, replace(evidence, doubtful=True)).refusal is not None


def test_a_gate_that_fired_reports_the_first_pass_and_the_edits(scene):
    before = Evidence((path_of(0),), read("yes"), verdict=FIRED)
    after = Evidence((path_of(1), path_of(2)), read("no", "so"), verdict=QUIET, before=before, edits=EDITS)
    made = found(scene, after)
    assert made.gate == gate_report(after) == GateReport(0.5, 0.7, "low_consistency", EDITS)
    assert made.synthesis.answer == "no, so" and len(made.paths) == 2


def test_what_the_first_pass_supported_is_not_lost_by_a_second_that_supports_nothing(scene):
    before = Evidence((path_of(0),), read("yes"), verdict=FIRED)
    after = Evidence((path_of(1),), read(""), verdict=QUIET, before=before, edits=EDITS)
    made = found(scene, after)
    assert made.synthesis.answer == "yes" and [path.answer for path in made.paths] == ["yes"]
    assert made.gate is not None and made.gate.edits == EDITS


def test_without_a_path_nothing_is_madeand_the_pages_are_ranked_all_the_same(scene):
    made = found(scene, Evidence((), (), verdict=QUIET))
    assert made.synthesis.status is AnswerStatus.NOT_FOUND and made.evidence_pages == () and len(made.pages) == 4


def test_a_question_that_names_what_is_not_there_is_answered_in_part_and_says_so(scene):
    context = scene[3]
    named = asked("What do page 99 and Table 7 say of the tide on page 2?", context)
    graph = find_candidates(named, context)
    scores = score(named, graph, context)
    made = synthesize(named, graph, scores, Evidence((path_of(0),), read("yes"), verdict=QUIET), context)
    assert made.synthesis.status is AnswerStatus.PARTIAL
    assert len(made.synthesis.notes) == 2 and "page 99" in made.synthesis.notes[0] and "table 7" in made.synthesis.notes[1]
    lost = synthesize(named, graph, scores, Evidence((path_of(0),), read(""), verdict=QUIET), context)
    assert lost.synthesis.status is AnswerStatus.NOT_FOUND and len(lost.synthesis.notes) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Was kostet ein Apfelkuchen?", NO_WORD_SAID),
        ("収益はいくらですか", NO_WORD_SAID),
        ("Was kostet tide?", "because"),
        ("What does the unicorn eat?", "because"),
    ],
)
def test_a_question_in_another_language_of_which_no_word_is_there_is_named_as_one(scene, text, why):
    context = scene[3]
    question = asked(text, context)
    graph = find_candidates(question, context)
    scores = score(question, graph, context)
    lost = synthesize(question, graph, scores, Evidence((path_of(0),), read(""), verdict=QUIET), context)
    assert (lost.synthesis.status, lost.synthesis.why) == (AnswerStatus.NOT_FOUND, why)
    supported = synthesize(question, graph, scores, Evidence((path_of(0),), read("yes"), verdict=QUIET), context)
    assert supported.synthesis.why == "because"
