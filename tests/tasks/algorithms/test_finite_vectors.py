import numpy as np
import pytest

from tasks.algorithms.finite_vectors import require_finite_vectors


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_row_that_is_not_finite_is_named(bad):
    with pytest.raises(ValueError, match="the vector of row 1 holds a number that is not finite; embed its document again"):
        require_finite_vectors(np.array([[0, 1], [1, bad], [bad, 0]], dtype=np.float32))


def test_finite_vectors_and_no_rows_pass():
    require_finite_vectors(np.zeros((0, 4), dtype=np.float32))
    require_finite_vectors(np.ones((3, 4), dtype=np.float32))
