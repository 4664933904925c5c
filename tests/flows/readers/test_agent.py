"""`agent` on worlds small enough to see: a query finds all of a kind, the context what goes on over the page."""

from storage.records.answers import AnswerStatus, TraceKind
from storage.records.documents import WHOLE_PAGE, EdgeKind, NodeKind
from tasks.algorithms.graphs.graph_query import OPERATORS, Condition, GraphQuery, run_query
from tasks.readers.graph_indexes import index_of, position_of
from tests.asking_worlds import Passage, answer_at, at_place, candidates_of, steps_of, written
from tests.library import alone, asked_by, kinds

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


WORLD = (REPORT, CREWS)


def told(context, text, scope=None, **method):
    return asked_by("agent", context, text, scope, **method)


def pages(places):
    return {place.page for place in places}


def test_charts_all_over_a_report_are_all_found_by_a_query_of_their_kind_and_by_nothing_else(context):
    answer = told(context, LISTED, alone("report"))
    assert answer.reader == "agent" and answer.gate is None and pages(answer.evidence_pages) >= CHARTS
    assert not pages(told(context, LISTED, alone("report"), tools=("context",)).evidence_pages) >= CHARTS
    as_many = answer_at(at_place(context, alone("report")), LISTED, reader="top-k").pages[: len(answer.evidence_pages)]
    assert not pages(as_many) >= CHARTS
    queries = [step for step in answer.trace if step.kind is TraceKind.QUERY]
    assert len(queries) == 3 and all("kind is figure" in query.asked and "has crew" in query.asked for query in queries)
    assert [len(query.nodes) for query in queries] == [0, 0, 10] and pages(queries[-1].pages) == CHARTS


def test_of_what_is_kept_the_best_pages_alone_are_read_where_their_number_is_fixed(context):
    whole, three = (told(context, LISTED, alone("report"), pages=most) for most in (0, 3))
    assert len(pages(whole.evidence_pages)) > 3 and pages(three.evidence_pages) == pages(whole.pages[:3])
    assert three.usage.counts == whole.usage.counts and three.pages == whole.pages


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


def test_every_condition_that_the_language_has_can_be_asked_of_a_corpus(context):
    _question, graph, scores = candidates_of(HOW_MANY, at_place(context, alone("report")))
    index, values = index_of(graph, scores, context), {"page": "3", "kind": "figure"}
    for field, operators in OPERATORS.items():
        for op in operators:
            found = run_query(GraphQuery((Condition(field, op, values.get(field, "tide")),)), index)
            assert found.total == found.left[0] <= len(graph)


def test_where_an_element_stands_on_its_page_goes_by_its_middle_and_by_nothing_where_pages_have_no_places():
    boxes = (None, WHOLE_PAGE, (0.0, 0.0, 0.2, 0.2), (0.1, 0.3, 0.9, 0.6), (0.8, 0.9, 1.0, 1.0))
    assert [position_of(box) for box in boxes] == ["", "", "top left", "middle centre", "bottom right"]


def test_of_a_large_corpus_the_best_documents_are_searched_whole(context):
    small = {"whole_limit": 21, "by_vector": 2, "by_text": 2, "hops": 0}
    answer = answer_at(at_place(context, candidates=small), LISTED, reader="agent")
    assert "documents" in steps_of(context.snapshot.location) and pages(answer.evidence_pages) >= CHARTS
    assert answer_at(at_place(context, candidates=small | {"whole_limit": 5}), LISTED, reader="agent").evidence_pages
