import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as float_arrays

from tasks.algorithms.path_decomposition import SMALLEST_FLOW
from tasks.algorithms.reweighting import arcs_at, damped_weights, top_decile_arcs
from tests.tasks.algorithms.flow_worlds import arcs

unit = st.floats(0, 1)


def test_weights_worked_by_hand():
    old, proposed = np.array([0.5, 0.5, 0.2, 0.9]), np.array([0.6, 1.0, 1.0, 0.0])
    # 0.6 of the way would be +0.06, +0.30, +0.48 and -0.54; the last two are held at 0.30.
    assert np.allclose(damped_weights(old=old, proposed=proposed, damping=0.6, bound=0.3), [0.56, 0.8, 0.5, 0.6])


@given(st.integers(0, 6).flatmap(lambda n: st.tuples(*[float_arrays(float, n, elements=unit)] * 2)), unit, unit)
def test_a_weight_moves_towards_the_proposal_no_further_than_the_bound(weights, damping, bound):
    old, proposed = weights
    new = damped_weights(old=old, proposed=proposed, damping=damping, bound=bound)
    assert (np.abs(new - old) <= bound + 1e-12).all()
    assert (new >= np.minimum(old, proposed) - 1e-12).all()
    assert (new <= np.maximum(old, proposed) + 1e-12).all()
    assert ((new >= 0) & (new <= 1)).all()
    for before, wish, after in zip(old.tolist(), proposed.tolist(), new.tolist(), strict=True):
        change = (1 - damping) * before + damping * wish - before
        assert after == pytest.approx(before + min(bound, abs(change)) * (1 if change > 0 else -1))


@pytest.mark.parametrize("name", ["old", "proposed", "damping"])
@pytest.mark.parametrize("wrong", [np.nan, 1.5])
def test_a_weight_that_is_none_is_refused(name, wrong):
    numbers = {"old": np.array([0.5]), "proposed": np.array([0.5]), "damping": 0.6, "bound": 0.3}
    with pytest.raises(ValueError, match=f"{name}.* must be finite, from 0 to 1, not {wrong}"):
        damped_weights(**{**numbers, name: wrong if name == "damping" else np.array([wrong])})


def test_the_top_tenth_of_the_arcs_in_use_is_at_least_one():
    flow = np.zeros(40)
    flow[[3, 8, 20]] = [0.2, 0.5, 0.5]
    assert top_decile_arcs(flow=flow).tolist() == [8]
    flow[25:35] = 0.1
    assert top_decile_arcs(flow=flow).tolist() == [8, 20]  # two of thirteen
    assert top_decile_arcs(flow=np.full(5, SMALLEST_FLOW)).tolist() == []
    assert top_decile_arcs(flow=np.zeros(0)).tolist() == []


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), max_size=40))
def test_no_arc_left_out_carries_more_than_one_chosen(flows):
    flow = np.array(flows)
    chosen = top_decile_arcs(flow=flow)
    used = np.count_nonzero(flow)
    assert len(chosen) == int(np.ceil(used / 10))
    left_out = np.delete(flow, chosen)
    assert len(chosen) == 0 or left_out.max(initial=0.0) <= flow[chosen].min()


def test_a_flow_that_is_no_amount_is_refused():
    with pytest.raises(ValueError, match="flows must be finite"):
        top_decile_arcs(flow=np.array([np.nan]))


def test_arcs_at_a_node_begin_or_end_there():
    members = np.array([False, True, False, False])
    assert arcs_at(members=members, **arcs((0, 1), (2, 3), (1, 3), (0, 2))).tolist() == [0, 2]
    assert arcs_at(members=members, **arcs()).tolist() == []
