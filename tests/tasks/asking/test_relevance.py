"""Relevance: words and meaning of a question in a node and on its page, and what the question names outright."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.graph.search import Scope
from storage.records.documents import NodeKind
from tasks.asking.candidates import find_candidates
from tasks.asking.relevance import count_asked, own_vectors, read_texts, texts_seen, weigh_relevance
from tests.asking_worlds import AXES, Passage, asked, at_context, at_place, ordinals_of, published, written
from tests.storage.worlds import document_id

TURNED = np.roll(np.eye(len(AXES), dtype=np.float32), 1, axis=1)[:6]
"""Evolved vectors that say other things than the texts do."""
NO_PAGE = {"page_share": 0.0}


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    report = written(
        "report",
        Passage("the blade turns in the tide"),
        Passage("steel holds the blade", summary="of a ship", keywords=("anchor", "chain")),
        Passage("root blade", page=2),
        Passage("the blade root is of steel", page=2),
        Passage("nothing of that", page=3, kind=NodeKind.TABLE, label="Table 4"),
        Passage("the price of a cable", page=3),
        evolved=TURNED,
    )
    return published(tmp_path_factory.mktemp("world"), report, written("note", Passage("a harbour")))


@pytest.fixture(scope="module")
def context(location):
    with at_context(location, scope=Scope(documents=(document_id("report"),))) as context:
        yield context


def weighed(text, context, **settings):
    """Return r by the place of each passage in the report, and what was said of the question's stems."""
    place = at_place(context, **settings)
    question = asked(text, place)
    graph = find_candidates(question, place)
    found = weigh_relevance(question, graph, place)
    assert found.relevance.shape == (len(graph),) and (found.relevance >= 0).all() and (found.relevance <= 1).all()
    return dict(zip(ordinals_of(graph, place), found.relevance.tolist(), strict=True)), dict(found.rarity)


def test_words_and_meaning_lift_the_node_that_has_them(context):
    nodes, rarity = weighed("What is the price of a cable?", context, relevance=NO_PAGE)
    assert max(nodes, key=nodes.get) == 5 and set(rarity) == {"price", "cabl"}
    assert nodes[5] > 2 * max(nodes[place] for place in range(5))


def test_a_rare_word_weighs_more_than_a_common_one(context):
    _, rarity = weighed("blade, price", context)
    assert rarity["price"] > rarity["blade"] > 0


def test_neighbouring_words_count_where_they_stand_together(context):
    def ahead(share):
        nodes, _ = weighed("blade root", context, relevance={**NO_PAGE, "lexical_share": 1.0, "pair_share": share})
        return nodes[3] - nodes[2]

    assert ahead(2.0) > ahead(0.0)


def test_a_page_lends_its_nodes_what_it_says(context):
    alone, _ = weighed("What is the price of a cable?", context, relevance=NO_PAGE)
    shared, _ = weighed("What is the price of a cable?", context, relevance={"page_share": 0.5})
    assert shared[4] > alone[4] and shared[5] > shared[4]


def test_a_named_place_comes_before_what_resembles_the_question(context):
    nodes, _ = weighed("What does Table 4 say of the blade in the tide?", context)
    assert max(nodes, key=nodes.get) == 4 and nodes[4] == 1.0


def test_the_papers_text_is_summary_and_keywords(context):
    place = at_place(context, relevance={"text": "paper"})
    graph = find_candidates(asked("anchor", place), place)
    seen = texts_seen(place.settings.relevance, lambda name: graph.columns[name].tolist())
    texts = dict(zip(ordinals_of(graph, place), seen, strict=True))
    assert texts[1] == "of a ship anchor chain" and texts[5] == "the price of a cable "
    nodes, _ = weighed("anchor chain", context, relevance={"text": "paper", "lexical_share": 1.0, **NO_PAGE})
    assert max(nodes, key=nodes.get) == 1
    other, _ = weighed("anchor chain", context, relevance={"text": "content", "lexical_share": 1.0, **NO_PAGE})
    assert not any(other.values())


def test_the_vectors_compared_are_those_before_evolution_or_after_it(context):
    question = asked("cable", context)
    first, last = (at_place(context, relevance={"vectors": kind}) for kind in ("initial", "evolved"))
    before, after = (own_vectors(find_candidates(question, place), place.settings.relevance) for place in (first, last))
    assert not np.array_equal(before, after) and sorted(map(tuple, after)) == sorted(map(tuple, TURNED))


def test_a_question_that_nothing_has_anything_of_weighs_nothing(context):
    place = at_place(context, relevance={"lexical_share": 1.0, **NO_PAGE})
    question = asked("zebra", place)
    found = weigh_relevance(question, find_candidates(question, place), place)
    assert not found.relevance.any() and found.rarity["zebra"] > 0


def test_one_node_is_weighed_too(location):
    with at_context(location, scope=Scope(documents=(document_id("note"),))) as context:
        nodes, rarity = weighed("Where is the harbour?", context)
    assert len(nodes) == 1 and 0 < nodes[0] <= 1 and rarity


def test_counts_have_the_stems_first_and_the_pairs_behind(context):
    question = asked("blade root of steel", context)
    graph = find_candidates(question, context)
    texts = read_texts(context.snapshot).coded("content", graph.ids, graph.columns["search_text"].tolist())
    counted = count_asked(question, texts)
    place = ordinals_of(graph, context).index(3)
    assert question.terms.stems == ("blade", "root", "steel") and counted.counts.shape[1] == 5
    assert counted.counts[place].tolist() == [1, 1, 1, 1, 1]
    assert counted.lengths[place] == 6


@given(st.lists(st.sampled_from([*AXES, "Table 4", "page 2", "root", "revenue", "zebra", "?", "1,150"]), min_size=1, max_size=6))
def test_relevance_is_a_share_whatever_is_asked(context, words):
    weighed(" ".join(words), context)
