"""The figures of an answer: ranked pages, the gate, the cost, the settings."""

from storage.answer_records import GateReport, GraphEdit, RankedPage, Usage
from tasks.report.accounts import list_pages, show_cost, show_gate, show_notes, show_settings
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import a_node, a_record, an_answer, cite, evidence_of, named

PAPER = a_record(document_id("paper"), "paper.pdf")
NODE = a_node(PAPER.id, 0)
EVIDENCE = evidence_of(NODE, records=(PAPER,))


def ranked(*scores):
    return tuple(RankedPage(named(PAPER), number, score) for number, score in enumerate(scores, 1))


def test_pages_are_listed_in_their_order_with_what_they_are_to_the_answer():
    shown = list_pages(an_answer((cite(NODE, PAPER),), pages=ranked(0.8, 0.4)), EVIDENCE, 10)
    first, second = shown.split("<li>")[1:]
    assert "cited 1" in first and "on a path" in first and "0.800" in first and 'width="100"' in first
    assert "cited" not in second and 'width="50"' in second


def test_more_pages_than_fit_are_counted():
    shown = list_pages(an_answer(pages=ranked(*[0.5] * 30)), EVIDENCE, 10)
    assert shown.count("<li>") == 10
    assert "20 more pages were candidates and are not listed" in shown
    folded = list_pages(an_answer(pages=ranked(*[0.5] * 21)), EVIDENCE, 20).split("<details>")[1]
    assert "1 more page was a candidate and is not listed" in folded


def test_after_ten_pages_the_list_is_folded_and_counts_on():
    ten = list_pages(an_answer(pages=ranked(*[0.5] * 10)), EVIDENCE, 40)
    assert "<details>" not in ten and ten.count("<li>") == 10
    open_part, folded = list_pages(an_answer(pages=ranked(*[0.5] * 30)), EVIDENCE, 40).split("<details>")
    assert open_part.count("<li>") == 10 and folded.count("<li>") == 20
    assert "<summary>The next 20</summary>" in folded and 'start="11"' in folded
    assert "<summary>One more</summary>" in list_pages(an_answer(pages=ranked(*[0.5] * 11)), EVIDENCE, 40)


def test_scores_of_nothing_fill_no_bar():
    assert 'class="level" width="0"' in list_pages(an_answer(pages=ranked(0.0, -1.0)), EVIDENCE, 10)


def test_the_gate_is_shown_against_its_thresholds():
    shown = show_gate(GateReport(0.75, 0.5, "", ()), {"gate": {"consistency": 0.65, "saturation": 0.6}})
    assert "fires below 0.65" in shown and "fires below 0.6<" in shown
    assert "stayed quiet" in shown
    assert "fires below" not in show_gate(GateReport(0.75, 0.5, "", ()), {"gate": 3})
    assert "no gate" in show_gate(None, {})


def test_a_gate_that_fired_lists_its_edits_and_counts_the_rest():
    bridge, source = GraphEdit("bridge", "a" * 64, "b" * 64, 0.0, 0.5), GraphEdit("source", "c" * 64, "", 0.1, 0.2)
    shown = show_gate(GateReport(0.5, 0.5, "saturation", (bridge, source)), {})
    assert "It fired: saturation." in shown
    assert "bridge: aaaaaaaa to bbbbbbbb, 0 became 0.5" in shown
    assert "source: cccccccc, 0.1 became 0.2" in shown
    assert "and 5 more" in show_gate(GateReport(0.5, 0.5, "x", (bridge,) * 25), {})


def test_the_cost_is_told_in_calls_tokens_money_and_seconds():
    shown = show_cost(Usage(7, 1234, 56, 0.0123, {"route": 0.25, "read": 0.75}))
    for words in (">7<", ">1,234<", ">56<", ">$0.0123<", ">1<", "0.25 s", "read"):
        assert words in shown
    assert 'width="25"' in shown
    assert "cache" not in shown and "At most" not in shown
    by_model = show_cost(Usage(7, 1234, 56, 0.0123, {}, cached=3, most_calls=48))
    assert "From the cache" in by_model and ">3<" in by_model and ">48<" in by_model
    assert "steps" not in show_cost(Usage(0, 0, 0, 0.0, {}))
    assert 'width="0"' in show_cost(Usage(0, 0, 0, 0.0, {"read": 0.0}))


def test_settings_are_listed_by_their_dotted_names_and_escaped():
    shown = show_settings(an_answer(settings={"routing": {"demand": 6.0, "kinds": [], "of": ["a", "<b>"]}}, scope={}))
    assert "routing.demand" in shown and ">6.0<" in shown
    assert ">all<" in shown
    assert "a, &lt;b&gt;" in shown
    assert "Scope" not in shown
    assert "pages" not in show_settings(an_answer(scope={"pages": None}, settings={}))


def test_notes_and_what_was_left_out_are_told():
    shown = show_notes(["extractive"], ["the picture of page 2"])
    assert "extractive" in shown
    assert "Left out: the picture of page 2." in shown
    assert show_notes([], []) == ""
