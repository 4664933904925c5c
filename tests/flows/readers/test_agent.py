"""`agent` on worlds small enough to see: a query finds all of a kind, the context what goes on over the page."""

import pytest

from storage.artifacts import kept_artifacts
from storage.graph.search import Scope
from storage.records.answers import AnswerStatus, TraceKind
from storage.records.documents import EdgeKind, Modality, NodeKind
from storage.runs.answers import without_words
from tasks.report.write import render_report
from tasks.settings.ask import AllSettings
from tasks.settings.base import changed
from tasks.settings.reader_methods import AGENT_ABLATIONS
from tests.asking_worlds import Passage, answer_at, at_context, at_place, published, steps_of, written
from tests.storage.worlds import document_id

LISTED = "List all the crew of steel works from the charts."
CHARTS = {2, 4, 6, 8, 10, 12, 14, 16, 18, 20}
REPORT = written(
    "report",
    *(
        Passage(f"Tide {page}, tide, tide, blade, price, crew.", page=page, kind=NodeKind.FIGURE)
        if page in CHARTS
        else Passage(f"The crew of steel works, {page}.", page=page)
        for page in range(1, 21)
    ),
    Passage("Tide: no people.", page=21, kind=NodeKind.FIGURE),
)
HOW_MANY = "How many charts are in the report?"
WHICH = "Which crew built the harbour wall?"
CREWS = written(
    "crews",
    Passage("The crew that built the harbour wall: Diaz, Gomez,", page=1, kind=NodeKind.LIST, arcs=((1, EdgeKind.CONTINUES, 0.9),)),
    Passage("Perez, Ruiz.", page=2, kind=NodeKind.LIST),
    *(Passage(f"A wall of the harbour {page}.", page=page) for page in range(3, 8)),
)


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    return published(tmp_path_factory.mktemp("world"), REPORT, CREWS)


@pytest.fixture
def context(location, home):
    with at_context(location) as context:
        yield context


def alone(name, **limits):
    return Scope(documents=(document_id(name),), **limits)


def told(context, text, scope=None, reader="agent", **method):
    settings = context.settings.agent.model_copy(update=method)
    return answer_at(at_place(context, scope, agent=settings.model_dump()), text, reader=reader)


def pages(places):
    return {place.page for place in places}


def kinds(answer):
    return [step.kind.value for step in answer.trace]


def test_charts_all_over_a_report_are_all_found_by_a_query_of_their_kind_and_by_nothing_else(context):
    answer = told(context, LISTED, alone("report"))
    assert answer.reader == "agent" and answer.gate is None and pages(answer.evidence_pages) >= CHARTS
    assert not pages(told(context, LISTED, alone("report"), tools=("context",)).evidence_pages) >= CHARTS
    as_many = answer_at(at_place(context, alone("report")), LISTED, reader="top-k").pages[: len(answer.evidence_pages)]
    assert not pages(as_many) >= CHARTS
    queries = [step for step in answer.trace if step.kind is TraceKind.QUERY]
    assert len(queries) == 3 and all("kind is figure" in query.asked and "has crew" in query.asked for query in queries)
    assert [len(query.nodes) for query in queries] == [0, 0, 10] and pages(queries[-1].pages) == CHARTS


def test_where_the_elements_themselves_are_counted_one_query_has_all_of_their_kind(context):
    answer = told(context, HOW_MANY, alone("report"))
    (query,) = [step for step in answer.trace if step.kind is TraceKind.QUERY]
    assert query.found == "11 passages of 11 on 11 pages" and pages(query.pages) == CHARTS | {21}
    fewer = told(context, HOW_MANY, alone("report"), query_pages=4)
    assert next(step.found for step in fewer.trace if step.kind is TraceKind.QUERY) == "4 passages of 11 on 4 pages"


def test_a_list_that_goes_on_over_the_page_is_found_by_its_context_and_by_nothing_else(context):
    answer = told(context, WHICH, alone("crews"))
    assert answer.status is AnswerStatus.EVIDENCE and pages(answer.evidence_pages) >= {1, 2}
    assert 2 not in pages(told(context, WHICH, alone("crews"), tools=("query",)).evidence_pages)
    most = len(answer.evidence_pages)
    assert 2 not in pages(answer_at(at_place(context, alone("crews")), WHICH, reader="top-k").pages[:most])


def test_its_way_is_told_step_by_step_and_counted(context):
    before = len(steps_of(context.snapshot.location))
    answer = told(context, LISTED, alone("report"))
    assert steps_of(context.snapshot.location)[before:] == [
        *("keywords", "candidates", "score", "search", "query", "context", "take-kept", "fetch", "read", "synthesize", "record")
    ]
    assert kinds(answer) == ["search", *["query"] * 3, *["context"] * 3, "read"]
    assert [step.number for step in answer.trace] == list(range(1, 9))
    assert all(need < step.number for step in answer.trace for need in step.needs)
    assert answer.usage.counts["queries"] == 3 and answer.usage.counts["pages kept"] == len(answer.evidence_pages)
    ranked = [page.page for page in answer.pages]
    assert len(ranked) == len(set(ranked)) == 21 and set(ranked[: len(answer.evidence_pages)]) == pages(answer.evidence_pages)
    assert kinds(told(context, LISTED, alone("report"), tools=())) == ["search", "read"]


def test_what_was_kept_of_a_document_is_one_path_of_so_many_documents(context):
    answer = told(context, "What of the crew?", tools=(), search_share=0.0, search_pages=30)
    assert len(answer.paths) == len({page.document.id for page in answer.evidence_pages}) == 2
    assert len(told(context, "What of the crew?", tools=(), search_share=0.0, search_pages=30, paths=1).paths) == 1


def test_a_named_place_is_kept_whatever_else_fits(context):
    answer = told(context, "What is on page 7 of the harbour wall?", alone("crews"), tools=("query",))
    (query,) = [step for step in answer.trace if step.kind is TraceKind.QUERY]
    assert "7" in query.asked and pages(query.pages) == {7} and 7 in pages(answer.evidence_pages)


def test_a_query_that_the_language_does_not_have_finds_nothing_and_says_why(context):
    answer = told(context, f"List all {'x' * 400} in the charts", alone("report"))
    refused = [step for step in answer.trace if step.kind is TraceKind.QUERY]
    assert len(refused) == 3 and all(not step.nodes and "400, but must be 1 to 300" in step.found for step in refused)


def test_nothing_outside_the_limits_is_kept(context):
    answer = told(context, LISTED, alone("report", first_page=3, last_page=9))
    assert pages(answer.evidence_pages) <= set(range(3, 10)) and pages(answer.evidence_pages) >= {4, 6, 8}
    figures = told(context, LISTED, alone("report", modality=Modality.FIGURE))
    assert pages(figures.evidence_pages) >= CHARTS and pages(figures.evidence_pages) <= CHARTS | {21}


def test_of_a_large_corpus_the_best_documents_are_searched_whole(context):
    small = {"whole_limit": 21, "by_vector": 2, "by_text": 2, "hops": 0}
    answer = answer_at(at_place(context, candidates=small), LISTED, reader="agent")
    assert "documents" in steps_of(context.snapshot.location) and pages(answer.evidence_pages) >= CHARTS
    assert answer_at(at_place(context, candidates=small | {"whole_limit": 5}), LISTED, reader="agent").evidence_pages


def test_a_removed_document_takes_the_words_of_the_steps_with_it(context):
    answer = told(context, WHICH, alone("crews"))
    bare = without_words(answer, {document_id("crews")})
    assert all(step.asked == step.found == "" for step in bare.trace if step.pages)
    assert without_words(answer, {document_id("report")}) == answer
    page = render_report(answer, context.snapshot, kept_artifacts())
    assert page.html.count('id="step-') == len(answer.trace)


def test_every_ablation_is_a_method(context):
    for change in AGENT_ABLATIONS.values():
        settings = changed(AllSettings(), change).ask
        assert settings.agent != AllSettings().ask.agent
        assert told(context, WHICH, alone("crews"), **settings.agent.model_dump()).evidence_pages


ODD = (
    *("why?", "?", "...", "the of and", "page 2", "page 999", "figure 3", "section 4.2", "how many?", "list all", "all each every"),
    *("how many charts", "list all tables", "List each formula of every page", "all ; all ; all", "number of", "in total"),
    *(
        "Crew " * 300,
        "How many " + "x" * 5000 + " are in the charts?",
        "list all \x00 in the figures",
        "how many ' OR 1=1 -- in tables?",
    ),
    *("Diaz and Gomez and Perez and Ruiz and Tide and Steel?", "קרבן all figures", "図は何枚ありますか", "(a+)+$ all charts"),
    *("Which pages 1 to 5?", "last page", "List all images on page 2", "How many charts are on pages 3-4?", "\n\n"),
)


@pytest.mark.parametrize("text", ODD)
def test_odd_questions_end_in_an_answer(context, text):
    assert told(context, text).trace[-1].kind is TraceKind.READ
