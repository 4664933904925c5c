"""How many pages a question is worth: by which weights, of which pages, and when a probability means something."""

from dataclasses import replace

import numpy as np
import pytest

from storage.graph.search import EVERYTHING, Scope
from tasks.algorithms.flow.sizes import FEATURES, WEIGHED_PAGES, completeness
from tasks.algorithms.probability import probabilities
from tasks.asking.candidates import find_candidates, page_ranking, score
from tasks.asking.question import scope_weights
from tasks.asking.weights import model_of, shipped_weights
from tasks.routing.sizes import ranked_features, size
from tests.asking_worlds import Passage, asked, at_context, at_place, published, written
from tests.storage.worlds import EMBEDDER, document_id

ISLANDS = written("islands", *[Passage(f"The tide at island {n} is {n} metres.", page=n) for n in range(1, 13)])
MIXED = written("mixed", *[Passage(f"the {word} at noon", page=n) for n, word in enumerate(("storm", "crew", "storm", "price"), 1)])
TIDE = "What is the tide?"


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    with at_context(published(tmp_path_factory.mktemp("world"), ISLANDS, MIXED)) as context:
        yield context


def of_document(context, name, **settings):
    return at_place(context, Scope(documents=(document_id(name),)), **settings)


def sized(context, text=TIDE):
    question = asked(text, context)
    graph = find_candidates(question, context)
    scores = score(question, graph, context)
    return size(question, graph, scores, context), page_ranking(graph, scores)


def test_pages_come_in_falling_probability_as_the_weights_make_it_of_the_ranking(context):
    place = of_document(context, "islands")
    found, ranked = sized(place)
    expected = probabilities(ranked_features(TIDE, ranked), shipped_weights().document.logistic)
    assert dict(zip(found.pages, found.probabilities, strict=True)) == dict(zip([key for key, _ in ranked], expected, strict=True))
    assert (np.diff(found.probabilities) <= 0).all() and found.read == found.pages[: found.count]
    assert 1 <= found.count < len(found.pages) == 12


def test_the_next_page_of_the_same_document_follows_the_best_one():
    ranked = [(("a", 4), 0.8), (("b", 5), 0.5), (("a", 5), 0.4), (("a", 3), 0.1)]
    assert ranked_features("?", ranked)[:, FEATURES.index("follows")].tolist() == [0, 0, 1, 0]
    assert ranked_features("?", []).shape == (0, len(FEATURES))
    assert len(ranked_features("?", [(("a", page), 0.5) for page in range(99)])) == WEIGHED_PAGES


def test_a_question_of_one_document_and_one_of_many_take_other_weights(context, tmp_path):
    weights = shipped_weights()

    def weights_in(place):
        return scope_weights(weights, place)

    assert weights_in(of_document(context, "islands")) is weights.document
    assert weights_in(replace(context, scope=EVERYTHING)) is weights.corpus
    both = Scope(documents=(document_id("islands"), document_id("mixed")))
    assert weights_in(replace(context, scope=both)) is weights.corpus
    with at_context(published(tmp_path, MIXED)) as alone:
        assert weights_in(alone) is weights.document


def test_pages_of_no_score_are_no_evidence(context):
    words_alone = {"lexical_share": 1.0, "page_share": 0.0}
    found, ranked = sized(of_document(context, "mixed", relevance=words_alone), "Which storm?")
    assert set(found.pages) == {(document_id("mixed"), page) for page in (1, 3)} and len(ranked) == 4
    none, _ranked = sized(of_document(context, "mixed", relevance=words_alone), "zebra")
    assert (none.pages, none.read, none.count, none.completeness) == ((), (), 0, None)


def test_a_probability_is_one_where_the_weights_are_of_the_corpus_own_embedder(context):
    place = of_document(context, "islands")
    strange, _ = sized(place)
    assert not strange.calibrated and strange.calibrated_pages == {} and strange.completeness is None
    own = shipped_weights().fitted.model_copy(update={"embedder": model_of(EMBEDDER)})
    found, _ = sized(replace(place, weights=place.weights.model_copy(update={"fitted": own})))
    assert found.calibrated and found.read == strange.read
    assert found.calibrated_pages == dict(zip(found.pages, found.probabilities.tolist(), strict=True))
    assert found.completeness == completeness(found.probabilities)[found.count - 1]


def test_who_wants_more_pages_for_an_answer_gets_more(context):
    three, five, eight = (sized(of_document(context, "islands", pages_per_answer=pages))[0].read for pages in (3, 5, 8))
    assert len(three) < len(eight) and three == five[: len(three)] and five == eight[: len(five)]
