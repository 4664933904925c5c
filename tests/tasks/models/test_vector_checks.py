import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.models.vector_checks import EmbeddingError, unit_vectors

ENTRIES = st.floats(-1e3, 1e3).filter(lambda value: abs(value) > 1e-3)


@given(arrays(np.float64, (3, 5), elements=ENTRIES))
def test_every_row_gets_length_one_and_keeps_its_direction(raw):
    unit = unit_vectors(raw, count=3, dimension=5, source="it")
    assert unit.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose((unit * raw).sum(axis=1), np.linalg.norm(raw, axis=1), rtol=1e-5)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ([[1.0, 0.0]], "1 vectors for 2 texts"),
        ([[1.0], [1.0]], r"shape \(1,\) where 2 numbers"),
        ([[1.0, 0.0], [1.0]], "different lengths"),
        ([[1.0, 0.0], [0.0, 0.0]], "length 0.0 for text 1 of 2"),
        ([[1.0, 0.0], [float("nan"), 0.0]], "length nan for text 1 of 2"),
        ([[float("inf"), 0.0], [1.0, 0.0]], "length inf for text 0 of 2"),
    ],
)
def test_what_is_no_unit_vector_is_refused_by_name(raw, says):
    with pytest.raises(EmbeddingError, match=says):
        unit_vectors(raw, count=2, dimension=2, source="it")


def test_no_texts_have_no_vectors():
    assert unit_vectors([], count=0, dimension=4, source="it").shape == (0, 4)
