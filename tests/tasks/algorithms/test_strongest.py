import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.strongest import strongest


def test_strongest_worked_by_hand():
    scores = np.array([0.2, 0.9, 0.0, 0.9, -1.0, 0.5])
    assert strongest(scores=scores, count=3).tolist() == [1, 3, 5]
    assert strongest(scores=scores, count=9).tolist() == [1, 3, 5, 0]
    assert strongest(scores=scores, count=0).tolist() == []
    assert strongest(scores=np.zeros(4), count=2).tolist() == []
    assert strongest(scores=np.zeros(0), count=2).tolist() == []


@given(st.lists(st.integers(-2, 5), max_size=12), st.integers(0, 12))
def test_strongest_equals_a_full_sort(scores, count):
    expected = sorted((i for i, score in enumerate(scores) if score > 0), key=lambda i: (-scores[i], i))[:count]
    assert strongest(scores=np.array(scores, dtype=np.float64), count=count).tolist() == expected
