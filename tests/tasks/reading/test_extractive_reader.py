"""Without a model the answer is quotes, and none where nothing supports the question; the gate looks at all readings."""

import time
from dataclasses import dataclass, replace

import pytest

from storage.graph.search import Scope
from storage.records.answers import AnswerStatus
from storage.records.documents import Modality, NodeKind
from tasks.algorithms.flow.refinement import Trigger
from tasks.asking.calls import counting_calls
from tasks.asking.records import PathReading
from tasks.asking.weights import RefusalWeights, model_of, shipped_weights
from tasks.reading.paths import judge
from tasks.settings.ask import AskSettings
from tests.asking_worlds import Passage, answer_at, asked, at_context, published, written

REPORT = written(
    "report",
    Passage("Merrow Tidal Systems", kind=NodeKind.TITLE),
    Passage("Segment: 2024\nService revenue: 41.2\nTotal revenue: 184.6", 2, NodeKind.TABLE, section="Revenue"),
    Passage("The gearbox failed because a seal was cut. The crane came late.", 3, section="The failure"),
    Passage("The replacement of the gearbox cost 1.3 million pounds.", 4, section="Provisions"),
    Passage("Ellary works 418 Braye yard 212 Corran base 137 Sula base 96 Design office 71", 5, NodeKind.FIGURE),
    Passage("Merrow Tidal Systems sells turbines to islands.", 6),
)
WORLD = (REPORT,)
REVENUE = "What was the total revenue of Merrow Tidal Systems in 2024?"
FAILURE = "Why did the gearbox fail, and what did its replacement cost?"


def refusing(context):
    """The context with weights that hold for its embedder, and refuse what names something that stands nowhere."""
    weights = shipped_weights(tokens=False)
    fitted = weights.fitted.model_copy(update={"embedder": model_of(context.embedder.identity)})
    refusal = RefusalWeights(bias=-3.0, weights=(6.0, 0.0, 0.0, 0.0), threshold=0.5)
    document = weights.document.model_copy(update={"refusal": refusal})
    return replace(context, weights=weights.model_copy(update={"fitted": fitted, "document": document}))


def quoted(answer):
    return [citation.quote for citation in answer.citations]


def test_the_row_that_answers_comes_before_the_name_of_the_company(context):
    answer = answer_at(context, REVENUE)
    assert quoted(answer)[0] == "Total revenue: 184.6" and answer.citations[0].page == 2


def test_what_says_it_comes_first(context):
    assert "Braye yard 212" in quoted(answer_at(context, "How many people work at the Braye yard?"))[0]


def test_a_question_of_two_parts_is_answered_from_two_pages(context):
    answer = answer_at(context, FAILURE)
    assert answer.status is AnswerStatus.EVIDENCE
    assert {citation.page for citation in answer.citations[:2]} == {3, 4}
    assert (answer.answer, answer.answer_by) == ("", None), "nobody read what is quoted"


def test_a_part_without_evidence_is_noted_as_open(context):
    answer = answer_at(context, "Why did the gearbox fail, and who painted the lighthouse?")
    assert answer.status is AnswerStatus.EVIDENCE
    assert 'nothing was found for the part "who painted the lighthouse"' in answer.notes
    assert answer_at(context, "Why did the gearbox fail?").notes == ()


def test_words_that_no_quote_holds_are_named_where_little_of_the_question_is_quoted(context):
    answer = answer_at(context, "Was the gearbox lubricated?")
    assert answer.status is AnswerStatus.EVIDENCE
    assert 'the quotes do not say "lubricated"' in answer.notes


def test_a_name_that_stands_nowhere_is_not_answered_with_something_else(context):
    question = "What was the total revenue of Vattenfall?"
    refused = answer_at(refusing(context), question)
    assert (refused.status, refused.answer, refused.answer_by) == (AnswerStatus.NOT_FOUND, "", None)
    doubtful = "it is doubtful that the documents answer the question (probability that they do not: 0.95)"
    assert refused.why == f'the documents say nothing about "Vattenfall", and {doubtful}'
    assert 1 <= len(refused.citations) <= 3, "what comes closest"
    assert refused.refusal.features["a name is missing"] == 1.0
    assert refused.completeness is None and {page.probability for page in refused.pages} == {None}
    shown = answer_at(context, question)
    assert shown.status is AnswerStatus.EVIDENCE and 'the documents say nothing about "Vattenfall"' in shown.notes
    assert shown.refusal.probability is None, "weights of another embedder refuse nothing"


def test_names_that_stand_on_different_pages_are_features_of_the_refusal_and_its_title_counts(context):
    def apart(question):
        return answer_at(context, question).refusal.features["names apart"]

    assert apart("What does Merrow sell?") == apart("Which turbines has Corran base?") == 0.0
    assert 0.0 < apart("How many people work for Merrow at the Vattenfall yard?") < 1.0
    assert answer_at(refusing(context), "What does Merrow sell?").status is AnswerStatus.EVIDENCE


@pytest.mark.parametrize("limits", [{"first_page": 5}, {"last_page": 5}, {"modality": Modality.FIGURE}])
def test_a_name_may_stand_outside_the_pages_that_are_asked(location, limits):
    with at_context(location, scope=Scope(**limits)) as context:
        answer = answer_at(refusing(context), "How many people of Vattenfall work at the Braye yard?")
    assert answer.citations and answer.refusal.features["names apart"] == 0.0


def test_a_question_that_shares_no_word_is_not_found(context):
    answer = answer_at(context, "Which bishop crowned the emperor?")
    assert answer.status is AnswerStatus.NOT_FOUND and "a word of the question" in answer.why


def test_every_quote_stands_in_its_node(context):
    nodes = {node.id: node for node in REPORT.nodes}
    rows = {row.text for row in REPORT.rows}
    for question in (REVENUE, FAILURE, "How many people work at the Braye yard?"):
        for citation in answer_at(context, question).citations:
            assert citation.quote in rows or citation.quote in " ".join(nodes[citation.node_id].content.split())


def test_a_pair_of_passages_is_rated_by_likeness_and_by_the_words_they_hold_together(context):
    question = asked("gearbox crane", context)
    failure, cost, other = REPORT.nodes[2], REPORT.nodes[3], REPORT.nodes[5]
    rated = context.reader.rate_pairs(question, [(failure, cost), (cost, other), (failure, cost)], [0.8, 0.8, -0.5], bridges=False)
    assert rated == pytest.approx([0.8, 0.4, 0.0])
    assert context.reader.rate_pairs(question, [], [], bridges=True) == []
    assert context.reader.rate_pairs(asked("?!", context), [(failure, cost)], [0.8], bridges=True) == [0.0]


def test_nothing_read_is_nothing_found(context):
    question = asked(REVENUE, context)
    found = context.reader.synthesize(question, [], dict.fromkeys(question.terms.stems, 1.0), None)
    assert found.status is AnswerStatus.NOT_FOUND and "no passage that was read" in found.why
    assert context.reader.consistency(question, []) == 1.0


PLACES = written(
    "places",
    Passage("The tide is told of in Table 1 and Table 2.", 1),
    Passage("Port: Depth\nEllary: 12\nBraye: 9", 2, NodeKind.TABLE, "Table 1"),
    Passage("Ship: Crew\nMorwen: 40", 3, NodeKind.TABLE, "Table 2"),
    Passage("The harbour closes at dusk.", 3),
)


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("What does Table 1 show?", {"Ellary: 12", "Braye: 9"}),
        ("What does Table 2 in places.pdf show?", {"Morwen: 40"}),
        ("page 3", {"Morwen: 40", "The harbour closes at dusk."}),
    ],
)
def test_a_question_what_stands_in_a_place_gets_what_stands_there(tmp_path, question, answered):
    with at_context(published(tmp_path, PLACES)) as context:
        answer = answer_at(context, question)
    assert answer.status is AnswerStatus.EVIDENCE
    assert {quote.rpartition(" | ")[2] for quote in quoted(answer)} == answered


def test_a_place_that_is_named_counts_with_what_is_asked_of_it(tmp_path):
    with at_context(published(tmp_path, PLACES)) as context:
        answer = answer_at(context, "How deep is Braye in Table 1?")
        assert "Braye" in quoted(answer)[0] and answer.citations[0].page == 2
        assert answer_at(context, "What does Table 7 show?").status is AnswerStatus.NOT_FOUND


@dataclass(frozen=True)
class Agreeing:
    """A reader whose answers agree so far, and who says how many it was shown."""

    agreement: float
    seen: list[int]
    model: str = "agreeing"

    def consistency(self, _question, readings):
        self.seen.append(len(readings))
        return self.agreement


def judged(context, *answers, saturation=1.0, agreement=1.0, gate=None, **book):
    reader = Agreeing(agreement, [])
    place = replace(context, settings=AskSettings.model_validate({"gate": gate or {}}), reader=reader)
    with counting_calls("a", {}, **book):
        verdict = judge(asked("the tide", context), [PathReading(answer, ()) for answer in answers], saturation, place)
    assert reader.seen == [sum(map(bool, answers))]
    return verdict


@pytest.mark.parametrize(
    ("answers", "saturation", "agreement", "gate", "trigger"),
    [
        (("", ""), 0.0, 0.0, {}, Trigger.NO_SUPPORT),
        (("yes", ""), 0.0, 0.0, {}, Trigger.LOW_SATURATION),
        (("yes",), None, 0.0, {}, Trigger.LOW_CONSISTENCY),
        (("yes",), None, 1.0, {}, None),
        (("yes",), 0.5, 0.5, {"saturation": 0.5}, Trigger.LOW_CONSISTENCY),
        (("yes",), 0.5, 0.5, {"saturation": 0.5, "consistency": 0.5}, None),
        ((), 0.1, 0.2, {"enabled": False}, None),
    ],
)
def test_the_gravest_reason_fires_by_the_bounds_that_are_set_unless_the_gate_is_off(
    context, answers, saturation, agreement, gate, trigger
):
    verdict = judged(context, *answers, saturation=saturation, agreement=agreement, gate=gate)
    assert verdict.trigger is trigger and (verdict.saturation, verdict.consistency) == (saturation, agreement)


def test_where_the_time_is_up_nothing_more_is_looked_for(context):
    assert judged(context, deadline=time.monotonic()).trigger is None
    assert judged(context, deadline=time.monotonic() + 60).trigger is Trigger.NO_SUPPORT
