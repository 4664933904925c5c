"""The default's routing: how many pages a question is worth, the chains on them, and how they are routed once more."""

from dataclasses import replace

import numpy as np
import pytest

from storage.graph.search import EVERYTHING, Scope
from storage.records.documents import EdgeKind
from tasks.algorithms.flow.refinement import Trigger
from tasks.algorithms.flow.sizes import FEATURES, WEIGHED_PAGES, completeness
from tasks.algorithms.probability import probabilities
from tasks.asking.candidates import page_ranking
from tasks.asking.question import scope_weights
from tasks.asking.records import PathReading, Quote
from tasks.asking.weights import model_of, shipped_weights
from tasks.routing.chains import open_pages, refine, route, route_pages
from tasks.routing.sizes import Sized, ranked_features, size
from tasks.routing.way import best_passages, bundle_chains
from tests.asking_worlds import Passage, at_context, at_place, candidates_of, published, written
from tests.library import alone
from tests.storage.worlds import EMBEDDER, document_id
from tests.tasks import routing_worlds
from tests.tasks.refining_worlds import ISLANDS, begun, edits_of
from tests.tasks.routing_worlds import a_graph, scored

WORLD = (ISLANDS,)


TIDES = written("islands", *[Passage(f"The tide at island {n} is {n} metres.", page=n) for n in range(1, 13)])
MIXED = written("mixed", *[Passage(f"the {word} at noon", page=n) for n, word in enumerate(("storm", "crew", "storm", "price"), 1)])
TIDE = "What is the tide?"


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    with at_context(published(tmp_path_factory.mktemp("world"), TIDES, MIXED)) as context:
        yield context


def of_document(context, name, **settings):
    return at_place(context, alone(name), **settings)


def sized(context, text=TIDE):
    question, graph, scores = candidates_of(text, context)
    return size(question, graph, scores, context), page_ranking(graph, scores)


def test_pages_come_in_falling_probability_as_the_weights_make_it_of_the_ranking(mixed):
    place = of_document(mixed, "islands")
    found, ranked = sized(place)
    expected = probabilities(ranked_features(TIDE, ranked), shipped_weights(tokens=False).document.logistic)
    assert dict(zip(found.pages, found.probabilities, strict=True)) == dict(zip([key for key, _ in ranked], expected, strict=True))
    assert (np.diff(found.probabilities) <= 0).all() and found.read == found.pages[: found.count]
    assert 1 <= found.count < len(found.pages) == 12


def test_the_next_page_of_the_same_document_follows_the_best_one():
    ranked = [(("a", 4), 0.8), (("b", 5), 0.5), (("a", 5), 0.4), (("a", 3), 0.1)]
    assert ranked_features("?", ranked)[:, FEATURES.index("follows")].tolist() == [0, 0, 1, 0]
    assert ranked_features("?", []).shape == (0, len(FEATURES))
    assert len(ranked_features("?", [(("a", page), 0.5) for page in range(99)])) == WEIGHED_PAGES


def test_a_question_of_one_document_and_one_of_many_take_other_weights(mixed, tmp_path):
    weights = shipped_weights()

    def weights_in(place):
        return scope_weights(weights, place)

    assert weights_in(of_document(mixed, "islands")) is weights.document
    assert weights_in(replace(mixed, scope=EVERYTHING)) is weights.corpus
    both = Scope(documents=(document_id("islands"), document_id("mixed")))
    assert weights_in(replace(mixed, scope=both)) is weights.corpus
    with at_context(published(tmp_path, MIXED)) as alone:
        assert weights_in(alone) is weights.document


def test_pages_of_no_score_are_no_evidence(mixed):
    words_alone = {"lexical_share": 1.0, "page_share": 0.0}
    found, ranked = sized(of_document(mixed, "mixed", relevance=words_alone), "Which storm?")
    assert set(found.pages) == {(document_id("mixed"), page) for page in (1, 3)} and len(ranked) == 4
    none, _ranked = sized(of_document(mixed, "mixed", relevance=words_alone), "zebra")
    assert (none.pages, none.read, none.count, none.completeness) == ((), (), 0, None)


def test_a_probability_is_one_where_the_weights_are_of_the_corpus_own_embedder_and_reranker(mixed):
    place = of_document(mixed, "islands")
    strange, _ = sized(place)
    assert not strange.calibrated and strange.calibrated_pages == {} and strange.completeness is None
    own = shipped_weights().fitted.model_copy(update={"embedder": model_of(EMBEDDER), "tokens": False})
    found, _ = sized(replace(place, weights=place.weights.model_copy(update={"fitted": own})))
    assert found.calibrated and found.read == strange.read
    assert found.calibrated_pages == dict(zip(found.pages, found.probabilities.tolist(), strict=True))
    assert found.completeness == completeness(found.probabilities)[found.count - 1]
    question, graph, scores = candidates_of(TIDE, place)
    for fitted_with, ranked_with, calibrated in (("", "a-model", False), ("a-model", "a-model", True), ("a-model", "", False)):
        weights = place.weights.model_copy(update={"fitted": own.model_copy(update={"reranker": fitted_with})})
        found = size(question, graph, replace(scores, reranker=ranked_with), replace(place, weights=weights))
        assert found.calibrated == calibrated


def test_who_wants_more_pages_for_an_answer_gets_more(mixed):
    three, five, eight = (sized(of_document(mixed, "islands", pages_per_answer=pages))[0].read for pages in (3, 5, 8))
    assert len(three) < len(eight) and three == five[: len(three)] and five == eight[: len(five)]


def reading(*pages, document="d", count=None):
    """Return these pages as the most probable ones, of which the first `count` are read."""
    chances = np.linspace(0.9, 0.1, len(pages))
    keys = tuple((document, page) for page in pages)
    return Sized(keys, chances, len(pages) if count is None else count, calibrated=True)


def opened(scores, sized, edges=()):
    return open_pages(a_graph(edges), scores.combined, sized)


def paths(scores, sized, edges=(), **settings):
    made = route_pages(opened(scores, sized, edges), sized, routing_worlds.at_context(**settings))
    return [path.nodes for path in made.paths]


def test_the_nodes_of_the_pages_that_are_read_are_open_with_all_arcs_between_them():
    edges = [(6, 0, EdgeKind.SEMANTIC, 0.9), (0, 3, EdgeKind.NEXT, 0.5), (8, 1, EdgeKind.REFERS_TO, 1.0004)]
    found = opened(scored(n0=0.8, n7=0.6), reading(3, 1, 2, count=2), edges)
    assert (found.nodes.tolist(), found.pages.tolist()) == ([0, 1, 2, 6, 7, 8], [1, 1, 1, 0, 0, 0])
    ends = list(zip(found.nodes[found.tails].tolist(), found.nodes[found.heads].tolist(), strict=True))
    assert ends == [(6, 0), (8, 1), (7, 6), (6, 8), (0, 1), (1, 2)]
    assert found.similarities.tolist() == [0.9, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_each_page_has_a_path_in_the_order_of_their_probability():
    assert paths(scored(n0=0.8, n7=0.6, n12=0.7), reading(3, 1, 5, count=2)) == [(7,), (0,)]


def test_a_page_is_read_on_from_its_best_node_and_a_relation_leads_to_what_another_page_leaves():
    scores = scored(n0=0.8, n2=0.5, n6=0.7, n7=0.6)
    # On page 3 the step from 6 to 7 earns 0.6 and costs about 0.2 of the best score; from 0 it is the same without a relation.
    assert paths(scores, reading(1, 3)) == [(0, 2), (6, 7)]
    assert paths(scores, reading(3, 1)) == [(6, 7), (0, 2)]
    # A node of one page that only the other leads to: 8 is too weak for a step within its page, and from 0 the relation is sure.
    weak = scored(n0=0.8, n6=0.7, n8=0.29)
    assert paths(weak, reading(1, 3)) == [(0,), (6,)]
    assert paths(weak, reading(1, 3), [(0, 8, EdgeKind.REFERS_TO, 1.0)]) == [(0, 8), (6,)]


def test_where_no_page_is_read_there_is_no_path():
    assert paths(scored(), reading(1, 2, count=0)) == paths(scored(), reading()) == []


def test_of_more_chains_than_are_read_neighbours_are_read_together_and_the_best_by_themselves():
    together = bundle_chains([(1,), (2, 3), (4, 2), (5,), (6,)], most=3)
    assert [(path.nodes, path.flow) for path in together] == [((1,), 1.0), ((2, 3, 4), 2.0), ((5, 6), 2.0)]
    assert [path.nodes for path in bundle_chains([(1,), (2, 3)], most=2)] == [(1,), (2, 3)] and bundle_chains([], most=3) == ()
    two = paths(scored(n0=0.8, n3=0.7, n6=0.6), reading(1, 2, 3), selection={"read": 2})
    assert two == [(0,), (3, 6)]


def test_the_baseline_takes_the_best_nodes_each_by_itself():
    few = routing_worlds.at_context(selection={"read": 2})
    with_best = best_passages.function(routing_worlds.asked(), scored(n3=0.8, n7=0.9), few)
    assert [(path.nodes, path.flow, path.quality) for path in with_best] == [((7,), 0.0, None), ((3,), 0.0, None)]


def half_way(context, *pages, count, rate=1.0, **gate):
    """Return a question with its candidates, routed once over the first `count` of these pages."""
    first = begun(context, rate=rate, gate=gate)
    sized = reading(*pages, document=document_id("islands"), count=count)
    return first, route(first.question, first.graph, first.scores, sized, first.context)


def refined(first, routed, trigger, readings=()):
    return refine(first.question, first.graph, first.scores, routed, readings, trigger, first.context)


def test_without_support_twice_as_many_pages_are_read_and_the_new_ones_are_named(context):
    first, routed = half_way(context, 9, 2, 3, 1, 12, count=2)
    again = refined(first, routed, Trigger.NO_SUPPORT)
    assert again.sized.read == routed.sized.pages[:4] and len(again.paths) == 4 and not first.context.reader.shown
    ids, found = first.graph.ids, edits_of(again, "source")
    assert [(edit.source, edit.target) for edit in found] == [(ids[first.place(2)], ""), (ids[first.place(0)], "")]
    assert [edit.after for edit in found] == again.sized.probabilities[2:4].tolist()
    last = refined(first, again, Trigger.NO_SUPPORT)
    assert last.sized.count == 5 and len(last.edits) == 1
    assert refined(first, last, Trigger.NO_SUPPORT).edits == ()


@pytest.mark.parametrize("pairs", [1, 2, 32])
def test_where_answers_differ_the_steps_of_the_chains_are_weighed_anew_within_their_bounds(context, pairs):
    first, routed = half_way(context, 9, 2, 3, count=3, rate=0.0, damping=0.5, bound=0.1, pairs=pairs)
    again = refined(first, routed, Trigger.LOW_CONSISTENCY)
    ids, carrying = first.graph.ids, np.flatnonzero(routed.flow > 0)
    nodes = routed.opened.nodes
    taken = {(ids[nodes[routed.opened.tails[arc]]], ids[nodes[routed.opened.heads[arc]]]) for arc in carrying}
    assert taken and set(first.context.reader.shown) <= taken and len(first.context.reader.shown) == min(pairs, len(taken))
    assert not first.context.reader.bridges and again.sized is routed.sized
    changed = edits_of(again, "re-weight")
    assert changed and all(edit.after == pytest.approx(max(edit.before - 0.1, 0.5 * edit.before)) for edit in changed)


def test_nodes_that_readers_quoted_are_lifted_and_none_beyond_one(context):
    first, routed = half_way(context, 9, 2, 12, count=3, cited_boost=0.9)
    place = first.place(5)
    node = context.snapshot.find_nodes([first.graph.ids[place]])[0]
    quote = Quote(**{**dict.fromkeys(Quote.__dataclass_fields__), "node": node})
    after = refined(first, routed, Trigger.LOW_CONSISTENCY, (PathReading("a harbour", (quote,)),)).opened
    changed = np.flatnonzero(after.scores != routed.opened.scores)
    assert after.nodes[changed].tolist() == [place] and after.scores.max() <= 1.0
    assert after.scores[changed].tolist() == pytest.approx([min(1.0, first.scores.combined[place] + 0.9)])


def test_where_there_is_nothing_to_edit_nothing_is(context):
    first, routed = half_way(context, count=0)
    for trigger in Trigger:
        again = refined(first, replace(routed, sized=reading()), trigger)
        assert (again.paths, again.edits) == ((), ())
