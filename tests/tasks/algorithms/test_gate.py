import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.gate import Trigger, gate

PAPER = {"saturation_below": 0.6, "consistency_below": 0.65}


@pytest.mark.parametrize(
    ("supported", "saturation", "consistency", "expected"),
    [
        (0, 0.1, 0.1, Trigger.NO_SUPPORT),
        (0, 1.0, 1.0, Trigger.NO_SUPPORT),
        (1, 0.59, 0.1, Trigger.LOW_SATURATION),
        (1, 0.6, 0.64, Trigger.LOW_CONSISTENCY),
        (1, 0.6, 0.65, None),
        (9, 1.0, 1.0, None),
    ],
)
def test_the_gravest_reason_wins_and_a_threshold_itself_is_enough(supported, saturation, consistency, expected):
    assert gate(supported=supported, saturation=saturation, consistency=consistency, **PAPER) is expected


unit = st.floats(0, 1)


@given(st.integers(0, 3), unit, unit, unit, unit)
def test_the_gate_is_quiet_exactly_where_no_reason_holds(supported, saturation, consistency, saturation_below, consistency_below):
    trigger = gate(
        supported=supported,
        saturation=saturation,
        consistency=consistency,
        saturation_below=saturation_below,
        consistency_below=consistency_below,
    )
    assert (trigger is None) == (supported > 0 and saturation >= saturation_below and consistency >= consistency_below)


@pytest.mark.parametrize("wrong", [math.nan, -0.1, 1.1])
def test_a_number_that_could_never_fire_is_refused(wrong):
    with pytest.raises(ValueError, match="saturation and consistency must be finite, from 0 to 1"):
        gate(supported=1, saturation=1.0, consistency=wrong, **PAPER)
