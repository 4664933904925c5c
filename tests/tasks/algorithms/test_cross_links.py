import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms import cross_links
from tasks.algorithms.cosines import snap_fine
from tasks.algorithms.cross_links import links_to_others, mutual_links


def unit_or_zero(rows):
    rows = rows.astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def documents(columns=3):
    shape = st.integers(0, 6)
    # Small whole numbers: zero vectors, duplicates and equal cosines are common.
    return shape.flatmap(lambda n: arrays(np.int8, (n, columns), elements=st.integers(-2, 2))).map(unit_or_zero)


def slow_links(first, second, minimum, limit):
    a, b = snap_fine(first), snap_fine(second)
    cosine = {(i, j): sum((a[i] * b[j]).tolist()) for i in range(len(a)) for j in range(len(b))}
    links = []
    for (i, j), value in cosine.items():
        best_second = min(range(len(b)), key=lambda other: (-cosine[i, other], other))
        best_first = min(range(len(a)), key=lambda other: (-cosine[other, j], other))
        weight = round(min(max(value, 0.0), 1.0), 6)
        if (best_second, best_first) == (j, i) and weight > 0 and weight >= minimum:
            links.append((i, j, weight))
    return sorted(links, key=lambda link: (-link[2], link[0]))[:limit]


def test_links_worked_by_hand():
    first = np.array([[1, 0], [0, 1]], dtype=np.float32)
    second = np.array([[0.8, 0.6], [0.6, 0.8], [0.96, 0.28]], dtype=np.float32)
    # 0 of first is nearest to 2 (0.96) and the other way round; 1 to 1 (0.8); row 0 of second is nobody's nearest.
    assert mutual_links(first=first, second=second, minimum=0.5, limit=8) == [(0, 2, 0.96), (1, 1, 0.8)]
    assert mutual_links(first=first, second=second, minimum=0.9, limit=8) == [(0, 2, 0.96)]
    assert mutual_links(first=first, second=second, minimum=0.5, limit=1) == [(0, 2, 0.96)]
    assert mutual_links(first=first, second=second, minimum=0.5, limit=0) == []


@given(documents(), documents(), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 4))
def test_links_equal_the_definition(first, second, minimum, limit):
    assert mutual_links(first=first, second=second, minimum=minimum, limit=limit) == slow_links(first, second, minimum, limit)


@given(documents(), documents())
def test_links_are_the_same_from_both_sides(first, second):
    there = mutual_links(first=first, second=second, minimum=0.0, limit=100)
    back = mutual_links(first=second, second=first, minimum=0.0, limit=100)
    assert sorted(there) == sorted((row, column, weight) for column, row, weight in back)


@given(documents(), st.lists(st.tuples(documents(), st.booleans()), min_size=1, max_size=5), st.integers(0, 3))
def test_many_documents_at_once_equal_pair_by_pair(own, others, limit):
    starts = np.cumsum([0, *(len(other) for other, _ in others)])
    expected = []
    for (other, leads), begin in zip(others, starts.tolist(), strict=False):
        if leads:
            pair = [(i, begin + j, w) for i, j, w in mutual_links(first=own, second=other, minimum=0.3, limit=limit)]
        else:
            pair = [(i, begin + j, w) for j, i, w in mutual_links(first=other, second=own, minimum=0.3, limit=limit)]
        expected += pair
    assert expected == links_to_others(
        own=own,
        others=np.concatenate([other for other, _ in others]),
        starts=starts,
        own_first=np.array([leads for _, leads in others]),
        minimum=0.3,
        limit=limit,
    )


@given(st.integers(0, 2**32 - 1))
def test_the_size_of_a_block_changes_nothing(seed):
    random = np.random.default_rng(seed)
    first, second = (unit_or_zero(random.integers(-1, 2, size=(count, 8))) for count in (40, 30))
    whole = mutual_links(first=first, second=second, minimum=0.1, limit=20)
    cells = cross_links.BLOCK_CELLS
    try:
        cross_links.BLOCK_CELLS = 7 * 30
        assert mutual_links(first=first, second=second, minimum=0.1, limit=20) == whole
    finally:
        cross_links.BLOCK_CELLS = cells
