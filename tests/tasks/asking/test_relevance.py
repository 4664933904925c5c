"""Relevance: words and meaning of a question in a node and on its page, and how rare the words are in all that is asked."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.corpus.snapshot import open_for_reading
from storage.graph.search import Scope
from storage.records.documents import NodeKind
from tasks.algorithms.text.counting import count_stems
from tasks.asking import relevance as module
from tasks.asking.candidates import find_candidates
from tasks.asking.relevance import (
    ReadTexts,
    Statistics,
    count_asked,
    own_vectors,
    read_texts,
    scope_statistics,
    texts_seen,
    weigh_relevance,
)
from tests.asking_worlds import AXES, Passage, asked, at_context, at_place, ordinals_of, published, written
from tests.storage.worlds import document_id

TURNED = np.roll(np.eye(len(AXES), dtype=np.float32), 1, axis=1)[:6]
"""Evolved vectors that say other things than the texts do."""
REPORT = written(
    "report",
    Passage("the blade turns in the tide"),
    Passage("steel holds the blade", summary="of a ship", keywords=("anchor", "chain")),
    Passage("root blade", page=2),
    Passage("the blade root is of steel", page=2),
    Passage("nothing of that", page=3, kind=NodeKind.TABLE, label="Table 4"),
    Passage("the price of a cable", page=3),
    evolved=TURNED,
)
WORLD = (REPORT,)
NO_PAGE = {"page_share": 0.0}


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


def test_counts_have_the_stems_first_and_the_pairs_behind(context):
    question = asked("blade root of steel", context)
    graph = find_candidates(question, context)
    texts = read_texts(context.snapshot).code_nodes("content", graph.ids, graph.columns["search_text"].tolist())
    counted = count_asked(question, texts)
    place = ordinals_of(graph, context).index(3)
    assert question.terms.stems == ("blade", "root", "steel") and counted.counts.shape[1] == 5
    assert counted.counts[place].tolist() == [1, 1, 1, 1, 1]
    assert counted.lengths[place] == 6


@given(st.lists(st.sampled_from([*AXES, "Table 4", "page 2", "root", "revenue", "zebra", "?", "1,150"]), min_size=1, max_size=6))
def test_relevance_is_a_share_whatever_is_asked(context, words):
    weighed(" ".join(words), context)


FEW = {"whole_limit": 1, "by_vector": 3, "by_text": 3, "hops": 0, "limit": 10}


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
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
    texts = read_texts(context.snapshot).code_nodes("content", graph.ids, graph.columns["search_text"].tolist())
    counted = count_asked(question, texts)
    found = scope_statistics(question, counted.counts, counted.lengths, context)
    return found, dict(zip(question.terms.stems, found.frequencies.tolist(), strict=False)), len(graph)


def test_texts_are_counted_as_they_are():
    counts, lengths = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([4.0, 2.0, 0.0])
    known = Statistics.of(counts, lengths)
    assert (known.texts, known.frequencies.tolist(), known.mean_length) == (3, [2.0, 1.0], 2.0)


def test_a_scope_that_is_taken_whole_is_counted_exactly(logs):
    with at_context(logs) as context:
        found, held, nodes = statistics(context, "tide storm crew")
    assert (found.texts, nodes, held) == (160, 160, {"tide": 120, "storm": 40, "crew": 16})


def test_a_larger_scope_is_estimated_from_a_sample_of_all_of_it(logs):
    with at_context(logs, candidates={**FEW, "sample": 100}) as context:
        found, held, nodes = statistics(context, "tide storm crew")
    assert found.texts == 160 and nodes < 20
    assert 90 < held["tide"] < 150 and 15 < held["storm"] < 70 and held["crew"] < 40


def test_what_no_sample_holds_is_counted_among_the_candidates(logs):
    with at_context(logs, candidates={**FEW, "sample": 100}) as context:
        sampled, held, _ = statistics(context, "day 7")
    assert held["7"] >= 1 and sampled.frequencies.min() >= 0


def test_one_scope_learns_nothing_from_another_asked_in_the_same_snapshot(logs):
    log, letters = (Scope(documents=(document_id(name),)) for name in ("log", "letters"))
    with at_context(logs, candidates=FEW, scope=log) as context:
        _, first, _ = statistics(context, "tide storm crew")
        place = at_place(context, letters)
        _, second, _ = statistics(place, "tide storm crew")
    assert (first["tide"], first["storm"]) == (120, 0)
    assert (second["tide"], second["storm"]) == (0, 40)


def test_another_size_of_the_sample_is_another_sample(logs):
    with at_context(logs, candidates={**FEW, "sample": 100}) as context:
        _, rough, _ = statistics(context, "tide storm crew")
        whole = at_place(context, context.scope, candidates={**FEW, "sample": 20000})
        _, exact, _ = statistics(whole, "tide storm crew")
    assert exact == {"tide": 120, "storm": 40, "crew": 16} != rough


def test_what_the_paper_counts_is_sampled_where_it_is_counted(logs):
    with at_context(logs, candidates={**FEW, "sample": 20000}) as context:
        content = at_place(context, context.scope, candidates={**FEW, "sample": 20000})
        paper = at_place(context, context.scope, candidates={**FEW, "sample": 20000}, relevance={"text": "paper"})
        (_, own, _), (_, papers, _) = (statistics(place, "buoy tide") for place in (content, paper))
    assert own == {"buoy": 0, "tide": 120}
    assert papers["buoy"] == 120


def test_a_text_is_coded_once_for_its_node_and_kind():
    known = ReadTexts()
    first = known.code_nodes("content", ["a"], ["the tide turns"])
    assert first.words.tolist() == [3] and known.code_nodes("content", ["a"], ["never looked at all"]).words.tolist() == [3]
    assert known.code_nodes("paper", ["a"], ["steel"]).words.tolist() == [1]


def test_counts_are_of_the_texts_whatever_was_read_before():
    known = ReadTexts()
    texts = known.code_nodes("content", ["a", "b"], ["tides and tides", "steel"])
    assert count_stems(texts, ["tide", "steel", "storm"]).tolist() == [[2, 0, 0], [0, 1, 0]]
    later = known.code_nodes("content", ["b", "c", "b"], ["steel", "a storm of tides", "steel"])
    assert count_stems(later, ["tide", "steel", "storm"]).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_texts_that_others_keep_are_not_kept():
    known = ReadTexts()
    assert count_stems(known.code_once(["tides and tides"]), ["tide"]).tolist() == [[2]] and not known._texts


def test_no_more_texts_are_kept_than_the_bound(monkeypatch):
    monkeypatch.setattr(module, "KEPT_TEXTS", 2)
    known = ReadTexts()
    names = ["a", "b", "c", "d"]
    for _ in range(2):
        texts = known.code_nodes("content", names, names)
        assert count_stems(texts, names).tolist() == np.eye(4).tolist() and len(known._texts) == 2


def test_a_vocabulary_that_has_grown_too_large_is_begun_anew_and_what_was_coded_by_it_still_counts(monkeypatch):
    monkeypatch.setattr(module, "KEPT_CHUNKS", 3)
    known = ReadTexts()
    before = known.code_nodes("content", ["a"], ["one two steel four"])
    after = known.code_nodes("content", ["a"], ["tides of steel"])
    assert [count_stems(texts, ["steel", "tide"]).tolist() for texts in (before, after)] == [[[1, 0]], [[1, 1]]]


def test_many_threads_count_alike():
    known, names = ReadTexts(), [f"word{number}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        rounds = list(pool.map(lambda turn: known.code_nodes(f"kind {turn}", names, names), range(8)))
    assert all(count_stems(texts, names).tolist() == np.eye(200).tolist() for texts in rounds)


def test_a_snapshot_has_one_vocabulary_whatever_else_is_remembered_and_whichever_comes_first(location):
    with open_for_reading(location) as snapshot, open_for_reading(location) as other:
        gate = threading.Barrier(8)

        def ask(_turn):
            gate.wait()
            return read_texts(snapshot)

        with ThreadPoolExecutor(8) as pool:
            found = {id(each) for each in pool.map(ask, range(8))}
        for number in range(50):
            snapshot.view.remember(number, object)
        assert found == {id(read_texts(snapshot))}
        assert read_texts(other) is not read_texts(snapshot)
