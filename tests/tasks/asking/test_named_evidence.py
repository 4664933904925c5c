"""What a question names outright is lifted, by rule: pages, labels, sections, statements, kinds of elements."""

import numpy as np
import pytest

from storage.graph.search import Scope
from storage.records.documents import NodeKind
from tasks.algorithms.arrays import pages_of_nodes
from tasks.algorithms.questions.statements import STATEMENT_STEMS, Statement
from tasks.asking.candidates import find_candidates, score
from tasks.asking.named_places import find_named, resolve
from tasks.asking.question import NAMED_PLACE
from tasks.asking.relevance import read_texts
from tests.asking_worlds import Passage, asked, at_context, at_place, ordinals_of, published, written
from tests.storage.worlds import document_id

BALANCE = " ".join(STATEMENT_STEMS[Statement.BALANCE])
REPORT = written(
    "report",
    Passage("a cover", kind=NodeKind.TITLE, section="Report"),
    Passage("what the year brought", page=2, section="4 Results"),
    Passage("the tide", page=2, kind=NodeKind.TABLE, label="Table 1", section="4.1 Tides"),
    Passage("a curve", page=3, kind=NodeKind.FIGURE, label="Figure 5", section="Appendix B"),
    Passage(f"consolidated balance sheets {BALANCE}", page=4, section="Accounts"),
    Passage("the blade is of steel", page=5, section="Coating the blades"),
    Passage("steel", page=6, section="Coating the blades"),
    Passage("the crew went home", page=7, section="Coating the blades"),
)
BOOK = written("book", Passage("the end"), Passage("of it", page=2), printed=("iii", "2"))


ATLAS = written(
    "atlas",
    Passage("what the tide does", section="2 Harbours"),
    Passage("depths: in metres", page=2, kind=NodeKind.TABLE, section="2 Harbours"),
    Passage("measured by the crew", page=2, section="2 Harbours"),
    Passage("a chart", page=3, kind=NodeKind.FIGURE, section="2 Harbours"),
    Passage("storm", page=4, section="3 Weather"),
    Passage("storms: by year", page=5, kind=NodeKind.TABLE, section="3 Weather"),
)


WORLD = (REPORT, BOOK)


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    with at_context(published(tmp_path_factory.mktemp("world"), ATLAS)) as context:
        yield context


FEW = {"whole_limit": 1, "by_vector": 1, "by_text": 1, "hops": 0}
"""Candidates of a large scope, next to none of them found by vector or text."""


def found_by_name(text, context, *, of="report", named=None, **candidates):
    """Return which nodes of a document are among a few candidates, by their place in it."""
    place = at_place(context, candidates=FEW | candidates, named=named or {})
    graph = find_candidates(asked(text, place), place)
    own = [graph.document_ids[document] == document_id(of) for document in graph.documents.tolist()]
    return {at for at, mine in zip(ordinals_of(graph, context), own, strict=True) if mine}


def named_in(text, context):
    """Return the candidates of a question, and what of them it names."""
    question = asked(text, context)
    graph = find_candidates(question, context)
    texts = read_texts(context.snapshot).code_nodes("content", graph.ids, graph.columns["search_text"].tolist())
    pages = pages_of_nodes(documents=graph.documents, pages=graph.pages)
    return graph, find_named(question, graph, texts, pages, context)


def lifted(text, context, *, of="report", candidates=None, **settings):
    """Return what is added to each node of a document that gets something, by its place in the document."""
    graph, named = named_in(text, at_place(context, named=settings, candidates=candidates or {}))
    bonus = named.bonus
    assert bonus.shape == (len(graph),) and np.isfinite(bonus).all() and (bonus >= 0).all()
    own = np.array([graph.document_ids[document] == document_id(of) for document in graph.documents.tolist()])
    at = ordinals_of(graph, context)
    return dict(sorted((at[node], round(float(bonus[node]), 6)) for node in np.flatnonzero(own & (bonus > 0)).tolist()))


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("What is written on page 2?", {1: 1.0, 2: 1.0}),
        ("What does slide 3 show?", {3: 1.0}),
        ("What is on the last page?", {7: 1.0}),
        ("What is on the cover?", {0: 1.0}),
        ("What do pages 5-6 say?", {5: 1.0, 6: 1.0}),
        ("What is told from page 5 to page 7?", {5: 1.0, 6: 1.0, 7: 1.0}),
        ("What do the last two pages say?", {6: 1.0, 7: 1.0}),
        ("What stands in the appendix?", {3: 1.0, 4: 1.0, 5: 1.0, 6: 1.0, 7: 1.0}),
        ("What does Table 1 list?", {1: 1.0, 2: 1.0}),
        ("What is drawn in Figure 5?", {3: 1.0}),
        ("What does section 4.1 say?", {1: 1.0, 2: 1.0}),
        ("What does Appendix B say?", {3: 1.0}),
        ('What does the section "Coating the blades" say?', {5: 1.0, 6: 1.0, 7: 1.0}),
        ("Who went home?", {}),
        ("What is on page 99?", {}),
    ],
)
def test_a_place_that_is_named_is_lifted_and_nothing_else(context, text, places):
    found = lifted(text, context, title=0.0, modality=0.0)
    assert places.items() <= found.items() and all(found[place] < 1.0 for place in found.keys() - places.keys())


def test_the_page_with_the_number_printed_comes_before_the_page_that_it_counts(context):
    assert lifted("What is on page 2?", context, of="book") == {1: 1.0}
    assert lifted("What is on page iii?", context, of="book") == {0: 1.0}
    assert lifted("What is on page iii?", context) == {}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("What does section 4.1 say of Figure 5?", {2, 3}),
        ("What does section 4.1 say?", {2}),
        ("What is on page 2 of the report?", {1, 2}),
        ("What is on page 2 of the book?", set()),
        ("What is on page 99?", set()),
        ("Who went home?", set()),
    ],
)
def test_what_is_named_most_strongly_is_known_by_node_in_the_document_that_is_meant(context, text, places):
    _graph, named = named_in(text, context)
    assert named.nodes - {node.id for node in BOOK.nodes} == {REPORT.nodes[place].id for place in places}


def test_what_a_question_names_in_vain_is_known(context):
    _graph, named = named_in("What do page 99 and Table 7 say?", context)
    assert sorted(named.unknown) == ["page 99", "table 7"] and not named.nodes


def test_among_candidates_of_a_larger_scope_nothing_is_reported_missing(context):
    place = at_place(context, candidates=FEW)
    assert named_in("What do page 99 and Table 7 say?", place)[1].unknown == ()
    assert named_in("the tide", context)[1].unknown == ()


def test_a_statement_is_lifted_where_a_line_of_it_is_asked_for_and_more_for_a_ratio(context):
    assert lifted("What are the total current liabilities?", context, item=0.5, title=0.0, modality=0.0) == {4: 0.5}
    assert lifted("What is the current ratio?", context, ratio=1.0, title=0.0, modality=0.0) == {4: 1.0}
    assert lifted("What is the current ratio?", context, ratio=0.0, item=0.0, title=0.0, modality=0.0) == {}
    assert lifted("What is the current ratio?", context, of="book") == {}


def test_a_title_that_is_named_in_passing_counts_for_its_first_two_pages(context):
    assert lifted("How often is coating needed on the blades?", context, title=0.25, place=0.0, modality=0.0) == {5: 0.25, 6: 0.25}


def test_pages_with_a_figure_or_a_table_are_lifted_where_one_is_asked_for(context):
    quiet = {"title": 0.0, "place": 0.0, "item": 0.0, "ratio": 0.0}
    assert lifted("Which chart shows the storm?", context, modality=0.25, **quiet) == {3: 0.25}
    assert lifted("According to the table, how high?", context, modality=0.25, **quiet) == {1: 0.25, 2: 0.25}


def test_who_counts_elements_asks_for_the_pages_that_hold_one(context):
    quiet = {"title": 0.0, "item": 0.0, "ratio": 0.0, "modality": 0.25}
    assert lifted("How many pages contain tables?", context, **quiet) == {1: 1.0, 2: 1.0}
    assert lifted("List all figures about the storm.", context, **quiet) == {3: 1.0}
    # Where a place is named, elements only come first in it.
    assert lifted("How many tables are on page 2?", context, **quiet) == {1: 1.25, 2: 1.25}
    assert lifted("How many tables are on page 3?", context, **quiet) == {1: 0.25, 2: 0.25, 3: 1.0}


@pytest.mark.parametrize(
    ("text", "places", "others"),
    [
        ("List all tables in chapter 2.", {1: 1.25, 2: 1.25}, {0: 0.5, 3: 0.5}),
        ("What do the figures on pages 2-4 show?", {3: 1.25}, {1: 0.5, 2: 0.5, 4: 0.5}),
        ("How many tables are there on pages 2 and 5?", {1: 1.25, 2: 1.25, 5: 1.25}, {}),
        ("What does the chart on page 3 show?", {3: 1.25}, {}),
        # what is compared may be named for its text, and where nothing of that kind is known the place is all there is
        ("Does the chart on page 3 show the storm of page 4?", {3: 1.25, 4: 1.0}, {}),
        ("Which formula stands on page 4?", {4: 1.0}, {}),
    ],
)
def test_elements_in_a_place_are_first_those_in_it_then_its_rest_and_none_elsewhere(atlas, text, places, others):
    quiet = {"title": 0.0, "item": 0.0, "ratio": 0.0, "modality": 0.25}
    assert lifted(text, atlas, of="atlas", second=0.5, **quiet) == places | others


def test_who_lists_elements_in_a_place_names_them_and_who_reads_off_one_names_its_page(atlas):
    def names(text):
        return {node.ordinal for node in ATLAS.nodes if node.id in named_in(text, atlas)[1].nodes}

    assert names("List all tables in chapter 2.") == names("How many tables are on page 2?") == {1}
    assert names("What depth does the table on page 2 give?") == {1, 2}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Which cable is on page 3?", {3}),
        ("Which cable do the last two pages name?", {6, 7}),
        ("Which cable does Figure 5 show?", {3}),
        ("Which cable does Chart 5 show?", {3}),
        ("Which cable does Table 1 list?", {2}),
        ("Which cable stands in the appendix?", {3, 4, 5, 6, 7}),
        ('Which cable is named in the section "Coating the blades"?', {5, 6, 7}),
        ("How many pages contain tables?", {2}),
        ("List all figures of cables in chapter 4.", {1, 2}),
        ("List all figures of cables.", {3}),
        ("Which figure has a cable?", set()),
        ("Which cable is on page 99?", set()),
    ],
)
def test_what_is_named_in_a_large_scope_is_a_candidate_though_neither_its_words_nor_its_vector_find_it(context, text, places):
    unfound = found_by_name(text, context, by_name=0)
    assert found_by_name(text, context) == places | unfound and (not places or places - unfound)


def test_of_many_documents_those_named_or_found_are_looked_into_and_of_much_the_first(context, monkeypatch):
    text = "Which cable is on page 2?"
    assert found_by_name(text, context) >= {1, 2} and 1 in found_by_name(text, context, of="book")
    monkeypatch.setattr("tasks.asking.named_places.NAMED_DOCUMENTS", 1)
    assert found_by_name("Did the crew go home on page 2?", context) >= {1, 2}
    assert 1 not in found_by_name("Did the crew go home on page 2?", context, of="book")
    assert 1 in found_by_name("Did the crew go home on page 2 of the book?", context, of="book")
    assert found_by_name("What did the crew do on the last page, on pages 2 and 3?", context, by_name=1) >= {1}


def test_a_place_is_lifted_among_candidates_of_a_larger_scope_too(context):
    large = {"whole_limit": 1}
    assert lifted("What is on page 2?", context, candidates=large)[2] == 1.0
    assert lifted("What does Figure 5 show?", context, candidates=FEW)[3] >= 1.0
    assert not lifted("What does the crew do?", context, candidates=large)


def test_what_adds_nothing_names_nothing(context):
    for text in ("What is on page 2?", "What do page 99 and Table 7 say?"):
        place = at_place(context, named={"place": 0.0})
        named = named_in(text, place)[1]
        assert not named.nodes and not named.unknown
        assert NAMED_PLACE not in score(asked(text, place), find_candidates(asked(text, place), place), place).rarity
    text = "Which cable is on page 3?"
    assert (
        found_by_name(text, context, named={"place": 0.0}) == found_by_name(text, context, by_name=0) < found_by_name(text, context)
    )


def test_places_stay_inside_the_scope(context):
    place = at_place(context, Scope(documents=(document_id("book"),)))
    question = asked("What is on page 2?", place)
    graph = find_candidates(question, place)
    assert {document for document, _ in resolve(question.places, graph.document_ids, (), place).pages} == {document_id("book")}
