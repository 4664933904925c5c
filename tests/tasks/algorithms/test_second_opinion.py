import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.arrays import best_of_pages
from tasks.algorithms.second_opinion import best_pages, standardised, with_second_opinion

PAGES = np.array([0, 0, 1, 2, 2, 3])
SCORES = np.array([0.2, 0.6, 0.5, 0.1, 0.4, 0.0])


def test_the_best_pages_are_those_of_the_best_nodes():
    assert best_of_pages(values=SCORES, pages=PAGES).tolist() == [0.6, 0.5, 0.4, 0.0]
    assert best_of_pages(values=SCORES[:2], pages=np.array([0, 2])).tolist() == [0.2, -math.inf, 0.6]
    assert best_pages(scores=SCORES, pages=PAGES, count=2).tolist() == [0, 1]
    assert best_pages(scores=SCORES, pages=PAGES, count=9).tolist() == [0, 1, 2], "a page of score 0 is none"
    assert best_pages(scores=np.ones(3), pages=np.array([2, 0, 1]), count=2).tolist() == [0, 1], "equal ones by number"
    assert len(best_pages(scores=np.zeros(0), pages=np.zeros(0, np.int64), count=2)) == 0


def test_a_page_rises_by_the_weight_times_its_standardised_cosine():
    best, cosines = np.array([0, 1, 2]), np.array([0.80, 0.86, 0.83])
    found = with_second_opinion(scores=SCORES, pages=PAGES, best=best, cosines=cosines, weight=0.2)
    z = math.sqrt(1.5)
    assert found == pytest.approx([0.2 * math.exp(-0.2 * z), 0.6 * math.exp(-0.2 * z), 0.5 * math.exp(0.2 * z), 0.1, 0.4, 0.0])
    assert standardised(cosines) == pytest.approx([-z, z, 0])
    assert standardised(np.array([0.8, 0.8])).tolist() == [0, 0] and len(standardised(np.zeros(0))) == 0


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=20), st.integers(1, 12), st.floats(0, 1), st.integers(0, 99))
def test_scores_stay_in_bounds_and_pages_without_an_opinion_in_their_order(scores, count, weight, seed):
    random = np.random.default_rng(seed)
    values, pages = np.array(scores), np.sort(random.integers(0, 5, len(scores)))
    pages = np.unique(pages, return_inverse=True)[1]
    best = best_pages(scores=values, pages=pages, count=count)
    cosines = random.random(len(best))
    found = with_second_opinion(scores=values, pages=pages, best=best, cosines=cosines, weight=weight)
    assert ((found >= 0) & (found <= 1)).all()
    for page in range(pages.max() + 1):
        on = pages == page
        assert (np.argsort(found[on], kind="stable") == np.argsort(values[on], kind="stable")).all()
    if weight == 0:
        assert found.tolist() == values.tolist()
