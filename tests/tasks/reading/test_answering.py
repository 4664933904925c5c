"""One answer out of all readings: what was found, where, by whom, what it cost; and it is kept."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from storage.records.answers import AnswerStatus, Citation, GateReport, GraphEdit, NamedDocument, PagePlace
from storage.records.documents import Modality, NodeKind
from storage.records.steps import StepRecord
from storage.runs.answer_json import answer_json
from storage.runs.answers import find_answer, read_answers
from storage.runs.log import EntryKind
from tasks.algorithms.flow.refinement import Trigger
from tasks.algorithms.layout.lines import read_lines
from tasks.asking.calls import CallBook, Stage
from tasks.asking.candidates import find_candidates, score
from tasks.asking.records import PathReading, Quote, Synthesis, Verdict
from tasks.asking.request import AskRequest
from tasks.asking.threads import ALONE
from tasks.models.chat.call import ModelCall
from tasks.models.chat.errors import Outcome
from tasks.reading.answer import citation, gather_answer, record, usage
from tasks.reading.synthesis import NO_WORD_SAID, Evidence, Findings, gate_report, places_of, ranked_pages, synthesize
from tasks.routing.sizes import Sized
from tasks.routing.way import ChosenPath
from tests.asking_worlds import Passage, asked, at_context, candidates_of, ordinals_of, published, run_of, written
from tests.library import NOTE
from tests.storage.worlds import document_id

REPORT = written("report", Passage("price: 7\nprice: 9", page=2, kind=NodeKind.TABLE, section="4 Prices"))
WORLD = (REPORT,)


def quoted():
    return Quote(**{**dict.fromkeys(Quote.__dataclass_fields__), "node": REPORT.nodes[0], "text": "price: 9"})


def findings():
    synthesis = Synthesis("", AnswerStatus.EVIDENCE, (quoted(),), "because", ("a note",))
    return Findings(synthesis, paths=(), pages=(), evidence_pages=(), gate=None, completeness=0.75)


def took(step, seconds):
    return StepRecord("run", step, "1", "key", "q", "then", seconds, 1, False, {})


def made(context, *, steps=(), calls=None, **limits):
    request = AskRequest(questions=("How much?",), corpus="prices", reader="top-k", settings=context.settings, **limits)
    return gather_answer(
        answer_id="0" * 32,
        asked="2026-01-01T00:00:00+00:00",
        question="How much?",
        asked_as="How much?",
        thread=ALONE,
        findings=findings(),
        request=request,
        context=context,
        steps=steps,
        calls=calls or CallBook("0" * 32, {}),
    )


def test_a_citation_has_the_words_and_the_place_of_its_node(context):
    assert citation(quoted(), context.names, {(document_id("report"), 2): 0.62}, (), {}) == Citation(
        document=NamedDocument(document_id("report"), "report.pdf"),
        page=2,
        box=REPORT.nodes[0].box,
        node_id=REPORT.nodes[0].id,
        quote="price: 9",
        section=("4 Prices",),
        modality=Modality.TABLE,
        probability=0.62,
    )


def test_a_citation_has_the_box_of_the_lines_where_its_words_stand(context):
    kept = "1000 3000 2000 3100 Price: 7\n1000 3200 2000 3300 Price: 9\n1000 9000 2000 9100 price: 9"
    lines = {(document_id("report"), 2): read_lines(kept)}
    assert citation(quoted(), context.names, {}, (), lines).box == (0.1, 0.32, 0.2, 0.33)


def test_an_answer_says_what_was_found_and_by_whom(context):
    answer = made(context)
    assert (answer.answer, answer.status, answer.notes) == ("", AnswerStatus.EVIDENCE, ("a note",))
    assert (answer.answer_by, answer.why) == (None, "because") and len(answer.citations) == 1
    assert (answer.reader, answer.corpus, answer.snapshot) == ("top-k", "prices", context.snapshot.number)
    assert answer.models == {"embedder": context.embedder.identity.key, "reader": context.reader.name}
    assert answer.settings == context.settings.model_dump(mode="json")


def test_an_answer_says_within_which_limits_it_was_asked(context):
    assert made(context).scope == {"documents": [], "pages": None, "modality": None}
    limited = made(context, documents=("report.pdf",), pages="2-3", modality=Modality.TABLE)
    assert limited.scope == {"documents": ["report.pdf"], "pages": "2-3", "modality": "table"}


def test_seconds_are_summed_by_step_and_tokens_over_all_calls():
    book = CallBook("a", {Stage.FIRST: 22, Stage.REFINED: 25, Stage.LAST: 1})
    book.made += [ended(10, 2, 0.5), ended(20, 3, 0.25, attempts=3), ended(0, 0, 0.0, attempts=0, outcome=Outcome.CACHED)]
    spent = usage(book, [took("read", 0.5), took("route", 0.125), took("read", 0.25)], {"pages rated": 3.0})
    assert (spent.calls, spent.cached, spent.input_tokens, spent.output_tokens, spent.cost) == (2, 1, 30, 5, 0.75)
    assert spent.seconds == {"read": 0.75, "route": 0.125} and spent.most_calls == 48 and spent.counts == {"pages rated": 3.0}


def ended(input_tokens, output_tokens, cost, *, attempts=1, outcome=Outcome.OK):
    """A call that ended."""
    return ModelCall("worker", "", "", "m", "h", "", input_tokens, output_tokens, cost, 0.1, attempts, outcome, "")


@pytest.mark.parametrize(
    ("book", "note"),
    [
        ({"notes": ["the model failed on path 2 of 3"] * 2}, "the model failed on path 2 of 3"),
        ({"left_out": 2}, "dropped 2 citations of the model, for naming nothing"),
        ({"left_out": 1}, "dropped 1 citation of the model, for naming nothing"),
        ({"unchecked": {("a1", "blue")}}, "1 quote is read from a picture and could not be checked"),
        ({"unchecked": {("a1", "blue"), ("a1", "red")}}, "2 quotes are read from pictures and could not be checked"),
        ({"shown": 100, "held": 147}, "the model was shown 100 of the 147 characters that were found"),
    ],
)
def test_what_went_wrong_with_the_calls_is_noted_once_and_the_model_is_named(context, book, note):
    answer = made(context, calls=CallBook("a", {}, made=[ended(1, 1, 0.0)], **book))
    first, noted = answer.notes
    assert first == "a note" and noted.startswith(note)
    assert answer.models == {
        "embedder": context.embedder.identity.key,
        "reader": context.reader.name,
        "chat": "m",
        "prompt worker": "h",
    }


def test_an_answer_that_is_recorded_is_found_again_byte_for_byte(context):
    answer = made(context, steps=[took("read", 0.5)])
    record(answer)
    location = context.snapshot.location
    present = {document_id("report")}
    assert answer_json(find_answer(location, "0" * 8, present=present)) == answer_json(answer)
    assert [kept.answer_id for kept in read_answers(location, present=present)] == [answer.answer_id]
    *_, answered, step = run_of(location).entries
    assert answered["kind"] == EntryKind.ANSWER and step["kind"] == EntryKind.STEP and step["step"] == "record"
    assert step["subject"] == answer.answer_id


def test_what_has_no_place_on_a_page_has_no_box(context):
    somewhere = replace(quoted(), node=replace(REPORT.nodes[0], box=(0.0, 0.0, 1.0, 1.0)))
    assert citation(somewhere, context.names, {}, (), {}).box is None


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
    with at_context(published(tmp_path_factory.mktemp("world"), report, NOTE)) as context:
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
    named, graph, scores = candidates_of("What do page 99 and Table 7 say of the tide on page 2?", context)
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
    question, graph, scores = candidates_of(text, context)
    lost = synthesize(question, graph, scores, Evidence((path_of(0),), read(""), verdict=QUIET), context)
    assert (lost.synthesis.status, lost.synthesis.why) == (AnswerStatus.NOT_FOUND, why)
    supported = synthesize(question, graph, scores, Evidence((path_of(0),), read("yes"), verdict=QUIET), context)
    assert supported.synthesis.why == "because"
