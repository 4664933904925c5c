"""Second looks in an evaluation: what is recorded of them, rankings at other weights, and weights that are fitted."""

from dataclasses import replace

import numpy as np
import pytest

from storage.records.evaluations import Asked, BenchmarkQuestion
from tasks.asking.second_look import SecondLooks
from tasks.evaluation.looks import TRIED, fit_looks, look_rows, ranked_at, score_looks

PAGES = (("a.pdf", 1), ("a.pdf", 2), ("a.pdf", 3))


def asked(name, looks, scores=(0.8, 0.7, 0.1)):
    return Asked("key", name, "flow", PAGES, PAGES[:1], 1.0, "", "evidence", scores=scores, looks=looks)


def test_of_each_look_its_weight_and_what_it_made_of_the_ranked_pages_is_kept():
    opinions = [("tokens_weight", 0.2, np.array([1.0, -1.0])), ("weight", 0.1, np.array([0.5, 0]))]
    looked = [SecondLooks([("d", 3), ("d", 1)], opinions)]
    assert look_rows([("d", 1), ("d", 2), ("d", 3)], looked) == {"tokens_weight": (0.2, -1, 0, 1), "weight": (0.1, 0, 0, 0.5)}
    assert look_rows([("d", 1)], []) == {}


def test_a_ranking_at_other_weights_is_what_asking_again_would_give():
    one = asked("q", {"tokens_weight": (0.1, -1.0, 1.0, 0.0), "weight": (0.5, 0.0, 0.0, 2.0)})
    assert ranked_at(one, {}) == list(zip(PAGES, one.scores, strict=True))
    # by hand: at 0.3 the first loses exp(-0.2), the second gains exp(0.2); without the other look the third loses exp(-1)
    changed = dict(ranked_at(one, {"tokens_weight": 0.3, "weight": 0.0}))
    assert list(changed) == [PAGES[1], PAGES[0], PAGES[2]]
    assert list(changed.values()) == pytest.approx([0.7 * np.exp(0.2), 0.8 * np.exp(-0.2), 0.1 * np.exp(-1)])


def benchmark(documents):
    """Questions whose second page is right, and which the tokens alone tell from the first."""
    questions = [BenchmarkQuestion(f"q{number}", "?", (name,), evidence=((name, 2),)) for number, name in enumerate(documents)]
    told = {"tokens_weight": (0.1, -1.0, 1.0, 0.0), "weight": (0.1, 1.0, -1.0, 0.0)}
    found = {
        one.id: replace(asked(one.id, told), ranked=tuple((one.documents[0], page) for page in (1, 2, 3))) for one in questions
    }
    return questions, found


def test_a_look_that_tells_gets_a_weight_and_one_that_misleads_none():
    questions, found = benchmark(["a", "b", "c", "d"])
    assert fit_looks(questions, found) == {"tokens_weight": TRIED[2], "weight": 0.0}, "of equals the smallest: 0.8 < 0.7 exp(0.2)"
    assert fit_looks(questions, {name: replace(one, looks={}) for name, one in found.items()}) == {}


def test_out_of_fold_each_document_is_ranked_by_weights_of_others():
    questions, found = benchmark(["a", "b", "c", "d"])
    # the tokens mislead in the last document, and its own fit would have seen that
    found["q3"] = replace(found["q3"], looks={"tokens_weight": (0.1, 1.0, -1.0, 0.0), "weight": (0.1, 0.0, 0.0, 0.0)})
    scored = score_looks("flow", questions, found, found)
    means = {(row["document"], row["metric"]): row["value"] for row in scored.iter_rows(named=True)}
    assert [means[name, "recall@1 with second looks, out of fold"] for name in "abcd"] == [1, 1, 1, 0]
    assert [means[name, "recall@1 without second looks"] for name in "abcd"] == [0, 0, 0, 1]
    assert means["d", "recall@3 with second looks, out of fold"] == 1
    assert score_looks("flow", questions[:1], found, found).is_empty(), "of one document nothing is fitted"
