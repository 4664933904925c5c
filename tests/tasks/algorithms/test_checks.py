import numpy as np
import pytest

from tasks.algorithms.checks import require_places, require_range


def test_numbers_in_range_pass_ends_included():
    require_range(name="scores", values=np.array([0.0, 0.5, 1.0]), low=0.0, high=1.0)
    require_range(name="scores", values=np.zeros(0), low=0.0, high=1.0)
    require_range(name="demand", values=6.0, low=0.0, high=np.inf)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, -0.1])
def test_the_first_wrong_number_is_named_with_its_place(wrong):
    with pytest.raises(ValueError, match=rf"scores must be finite, from 0 to inf, not {wrong} at place 1"):
        require_range(name="scores", values=[0.5, wrong, np.nan], low=0.0, high=np.inf)


def test_a_single_number_has_no_place():
    with pytest.raises(ValueError, match=r"demand must be finite, from 0 to inf, not nan; compute them again"):
        require_range(name="demand", values=np.nan, low=0.0, high=np.inf)


@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_place_that_is_not_there_is_named(wrong):
    require_places(name="sinks", places=np.array([0, 2]), count=3)
    require_places(name="sinks", places=np.zeros(0, dtype=np.int64), count=0)
    with pytest.raises(ValueError, match=f"sinks name place {wrong} of 3; number them from 0 to 2"):
        require_places(name="sinks", places=np.array([0, wrong]), count=3)
