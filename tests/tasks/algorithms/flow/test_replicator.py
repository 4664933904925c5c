import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.flow.replicator import proportional_shares, replicator_dynamics, replicator_step, survivors

number = st.floats(0, 1).map(lambda value: round(value, 3))


@st.composite
def games(draw):
    """Draw symmetric payoffs and shares; zeros in both are common."""
    count = draw(st.integers(1, 7))
    half = draw(arrays(float, (count, count), elements=number))
    return np.maximum(half, half.T), proportional_shares(weights=draw(arrays(float, count, elements=number)))


def slow_dynamics(payoff, start, mixing, tolerance, max_steps):
    shares, steps = list(start), 0
    while steps < max_steps:
        fitness = [sum(a * x for a, x in zip(row, shares, strict=True)) for row in payoff]
        mean = sum(x * f for x, f in zip(shares, fitness, strict=True))
        unmixed = [x * f / mean for x, f in zip(shares, fitness, strict=True)] if mean > 0 else shares
        following = [(1 - mixing) * x + mixing / len(start) for x in unmixed]
        moved = sum((a - b) ** 2 for a, b in zip(following, shares, strict=True)) ** 0.5
        shares, steps = following, steps + 1
        if moved < tolerance:
            break
    return shares


def test_two_paths_worked_by_hand():
    # A x = (0.5, 0.4), x'A x = 0.45: the shares become 5/9 and 4/9, and with a fifth mixed in 49/90 and 41/90.
    payoff = np.array([[0.8, 0.2], [0.2, 0.6]])
    shares = replicator_dynamics(payoff=payoff, start=np.array([0.5, 0.5]), mixing=0.2, tolerance=0.0, max_steps=1)
    assert np.allclose(shares, [49 / 90, 41 / 90])


def test_without_mixing_the_equilibrium_of_two_paths_is_where_both_earn_the_same():
    payoff = np.array([[0.2, 0.8], [0.8, 0.4]])
    shares = replicator_dynamics(payoff=payoff, start=np.array([0.9, 0.1]), mixing=0.0, tolerance=1e-12, max_steps=1000)
    # 0.2 x + 0.8 (1 - x) = 0.8 x + 0.4 (1 - x) at x = 0.4.
    assert np.allclose(shares, [0.4, 0.6], atol=1e-9)


@given(games(), st.sampled_from([0.0, 0.2, 1.0]), st.integers(0, 25))
def test_shares_equal_a_loop_and_stay_on_the_simplex(game, mixing, max_steps):
    payoff, start = game
    shares = replicator_dynamics(payoff=payoff, start=start, mixing=mixing, tolerance=1e-4, max_steps=max_steps)
    assert np.allclose(shares, slow_dynamics(payoff.tolist(), start.tolist(), mixing, 1e-4, max_steps), atol=1e-9)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1.0)


@given(games())
def test_without_mixing_the_payoff_of_the_population_never_falls(game):
    payoff, shares = game
    for _ in range(10):
        following = replicator_step(payoff=payoff, shares=shares)
        assert following @ payoff @ following >= shares @ payoff @ shares - 1e-12
        shares = following


def test_mixing_hides_what_is_extinct():
    game = {"payoff": np.diag([1.0, 0.01, 0.01]), "start": np.full(3, 1 / 3), "tolerance": 1e-6, "max_steps": 50}
    assert survivors(shares=replicator_dynamics(**game, mixing=0.2), threshold=0.05).tolist() == [0, 1, 2]
    assert survivors(shares=replicator_dynamics(**game, mixing=0.0), threshold=0.05).tolist() == [0]


def test_a_population_that_earns_nothing_stays_and_mixing_may_wake_it():
    payoff, start = np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0])
    still = replicator_dynamics(payoff=payoff, start=start, mixing=0.0, tolerance=1e-4, max_steps=20)
    assert still.tolist() == [1.0, 0.0]
    woken = replicator_dynamics(payoff=payoff, start=start, mixing=0.2, tolerance=1e-4, max_steps=20)
    assert np.allclose(woken, [0.1, 0.9])


def test_the_dynamics_end_where_a_step_moves_less_than_the_tolerance():
    game = {"payoff": np.array([[0.2, 0.8], [0.8, 0.4]]), "start": np.array([0.9, 0.1]), "mixing": 0.0}
    first = replicator_dynamics(**game, tolerance=0.0, max_steps=1)
    moved = np.linalg.norm(first - game["start"])
    ended = replicator_dynamics(**game, tolerance=moved * 1.01, max_steps=99)
    assert np.array_equal(ended, first)
    assert not np.array_equal(replicator_dynamics(**game, tolerance=moved * 0.99, max_steps=99), first)


def test_no_step_gives_the_start_and_no_paths_give_nothing():
    start = np.array([0.3, 0.7])
    shares = replicator_dynamics(payoff=np.ones((2, 2)), start=start, mixing=0.2, tolerance=1e-4, max_steps=0)
    assert shares.tolist() == [0.3, 0.7]
    empty = replicator_dynamics(payoff=np.zeros((0, 0)), start=np.zeros(0), mixing=0.2, tolerance=1e-4, max_steps=20)
    assert len(empty) == 0


@given(arrays(float, st.integers(0, 6), elements=st.floats(0, 1e308)))
def test_first_shares_are_a_distribution_whatever_the_weights(weights):
    shares = proportional_shares(weights=weights)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert len(weights) == 0 or shares.sum() == pytest.approx(1.0)


def test_first_shares_worked_by_hand():
    assert proportional_shares(weights=np.array([1.0, 3.0])).tolist() == [0.25, 0.75]
    assert proportional_shares(weights=np.zeros(4)).tolist() == [0.25] * 4


def test_survivors_come_largest_first_and_equal_ones_by_place():
    assert survivors(shares=np.array([0.1, 0.4, 0.0, 0.1, 0.4]), threshold=0.1).tolist() == [1, 4]
    assert survivors(shares=np.array([0.1, 0.4, 0.0, 0.1, 0.4]), threshold=0.0).tolist() == [1, 4, 0, 3]
    assert survivors(shares=np.zeros(0), threshold=0.0).tolist() == []


@pytest.mark.parametrize("payoff", [np.nan, -1.0])
def test_a_payoff_that_is_none_is_refused(payoff):
    with pytest.raises(ValueError, match="payoffs must be finite, from 0"):
        replicator_dynamics(payoff=np.full((2, 2), payoff), start=np.ones(2) / 2, mixing=0.2, tolerance=1e-4, max_steps=20)
