import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from storage.graph.view import NodeColumns, WholeColumns

NODES = 12
TEXTS = np.array([f"text {number}" for number in range(NODES)], object)
VECTORS = np.arange(NODES * 2, dtype=np.float32).reshape(NODES, 2)
TABLE = {"text": TEXTS, "vector": VECTORS}
ASKED = st.tuples(
    st.lists(st.integers(0, NODES - 1), unique=True),
    st.sampled_from([("text",), ("vector",), ("text", "vector"), ("vector", "text")]),
)


class Reader:
    """Reads the table and counts the values."""

    def __init__(self):
        self.values = 0

    def __call__(self, positions, columns):
        assert (np.diff(positions) > 0).all()
        self.values += len(positions) * len(columns)
        return {name: TABLE[name][positions] for name in columns}


@given(st.lists(ASKED, max_size=12), st.integers(1, NODES + 3))
def test_what_is_taken_is_what_the_table_holds_whatever_was_kept(questions, capacity):
    kept = NodeColumns(Reader(), nodes=NODES, capacity=capacity)
    for positions, columns in questions:
        taken = kept.take(np.array(positions, np.int64), columns)
        assert set(taken) == set(columns)
        for name in columns:
            assert np.array_equal(taken[name], TABLE[name][positions])


def test_the_longest_kept_go_first():
    reader = Reader()
    kept = NodeColumns(reader, nodes=NODES, capacity=4)
    for positions in ([0, 1], [2, 3], [4, 5]):
        kept.take(np.array(positions), ["text"])
    assert reader.values == 6
    kept.take(np.array([2, 3, 4, 5]), ["text"])
    assert reader.values == 6
    kept.take(np.array([0]), ["text"])
    assert reader.values == 7


def test_a_column_that_is_kept_whole_is_read_once_whatever_is_taken_of_it():
    reader = Reader()
    kept = WholeColumns(reader, nodes=NODES)
    for positions in ([3, 1, 3], [], [11]):
        taken = kept.take(np.array(positions, np.int64), ["text", "vector"])
        assert taken["text"].tolist() == TEXTS[positions].tolist() and np.array_equal(taken["vector"], VECTORS[positions])
    assert reader.values == 2 * NODES
