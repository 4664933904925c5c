"""How rare words are is told by what is asked, not by what was found for them."""

import numpy as np
import pytest

from storage.graph.search import Scope
from tasks.asking.candidates import find_candidates
from tasks.asking.relevance import Statistics, count_asked, read_texts, scope_statistics
from tests.asking_worlds import Passage, asked, at_context, at_place, published, written
from tests.storage.worlds import document_id

FEW = {"whole_limit": 1, "by_vector": 3, "by_text": 3, "hops": 0, "limit": 10}


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    """120 passages of `log` name the tide, 40 of `letters` the storm; one in ten of each has the crew beside it."""
    logs = [
        Passage(f"the tide {'and the crew ' if place % 10 == 0 else ''}of day {place}", summary="a log", keywords=("buoy",))
        for place in range(120)
    ]
    letters = [Passage(f"the storm {'and the crew ' if place % 10 == 0 else ''}of night {place}") for place in range(40)]
    return published(tmp_path_factory.mktemp("world"), written("log", *logs), written("letters", *letters))


def statistics(context, text):
    question = asked(text, context)
    graph = find_candidates(question, context)
    texts = read_texts(context.snapshot).coded("content", graph.ids, graph.columns["search_text"].tolist())
    counted = count_asked(question, texts)
    found = scope_statistics(question, counted.counts, counted.lengths, context)
    return found, dict(zip(question.terms.stems, found.frequencies.tolist(), strict=False)), len(graph)


def test_texts_are_counted_as_they_are():
    counts, lengths = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([4.0, 2.0, 0.0])
    known = Statistics.of(counts, lengths)
    assert (known.texts, known.frequencies.tolist(), known.mean_length) == (3, [2.0, 1.0], 2.0)


def test_a_scope_that_is_taken_whole_is_counted_exactly(location):
    with at_context(location) as context:
        found, held, nodes = statistics(context, "tide storm crew")
    assert (found.texts, nodes, held) == (160, 160, {"tide": 120, "storm": 40, "crew": 16})


def test_a_larger_scope_is_estimated_from_a_sample_of_all_of_it(location):
    with at_context(location, candidates={**FEW, "sample": 100}) as context:
        found, held, nodes = statistics(context, "tide storm crew")
    assert found.texts == 160 and nodes < 20
    assert 90 < held["tide"] < 150 and 15 < held["storm"] < 70 and held["crew"] < 40


def test_what_no_sample_holds_is_counted_among_the_candidates(location):
    with at_context(location, candidates={**FEW, "sample": 100}) as context:
        sampled, held, _ = statistics(context, "day 7")
    assert held["7"] >= 1 and sampled.frequencies.min() >= 0


def test_one_scope_learns_nothing_from_another_asked_in_the_same_snapshot(location):
    log, letters = (Scope(documents=(document_id(name),)) for name in ("log", "letters"))
    with at_context(location, candidates=FEW, scope=log) as context:
        _, first, _ = statistics(context, "tide storm crew")
        place = at_place(context, letters)
        _, second, _ = statistics(place, "tide storm crew")
    assert (first["tide"], first["storm"]) == (120, 0)
    assert (second["tide"], second["storm"]) == (0, 40)


def test_another_size_of_the_sample_is_another_sample(location):
    with at_context(location, candidates={**FEW, "sample": 100}) as context:
        _, rough, _ = statistics(context, "tide storm crew")
        whole = at_place(context, context.scope, candidates={**FEW, "sample": 20000})
        _, exact, _ = statistics(whole, "tide storm crew")
    assert exact == {"tide": 120, "storm": 40, "crew": 16} != rough


def test_what_the_paper_counts_is_sampled_where_it_is_counted(location):
    with at_context(location, candidates={**FEW, "sample": 20000}) as context:
        content = at_place(context, context.scope, candidates={**FEW, "sample": 20000})
        paper = at_place(context, context.scope, candidates={**FEW, "sample": 20000}, relevance={"text": "paper"})
        (_, own, _), (_, papers, _) = (statistics(place, "buoy tide") for place in (content, paper))
    assert own == {"buoy": 0, "tide": 120}
    assert papers["buoy"] == 120
