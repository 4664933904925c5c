"""`agent` on worlds small enough to see: a query finds all of a kind, the context what goes on over the page."""

import pytest

from storage.graph.search import Scope
from storage.records.answers import AnswerStatus, TraceKind
from storage.records.documents import EdgeKind, NodeKind
from tests.asking_worlds import Passage, answer_at, at_context, at_place, published, written
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
    assert len(queries) == 3 and all('"value":"figure"' in query.asked and '"value":"crew"' in query.asked for query in queries)
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
