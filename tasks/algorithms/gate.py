"""The gate: whether the first reading can be trusted, and if not, what is wrong with it first."""

from __future__ import annotations

from enum import StrEnum

from tasks.algorithms.arrays import require_range


class Trigger(StrEnum):
    """Why System 2 is called (section 3.5.2), in the order of precedence: one edit only, for the gravest reason."""

    NO_SUPPORT = "no_support"
    LOW_SATURATION = "low_saturation"
    LOW_CONSISTENCY = "low_consistency"


def gate(
    *, supported: int, saturation: float, consistency: float, saturation_below: float, consistency_below: float
) -> Trigger | None:
    """Return the gravest trigger, or None where the answer may be given as it is.

    Args:
        supported: answers that a path supports.
        saturation: of the routed flow, in [0, 1].
        consistency: of the supported answers, in [0, 1].
        saturation_below: the trigger fires under it, not at it; 0 switches it off.
        consistency_below: likewise.

    Raises:
        ValueError: a saturation or a consistency that is not a number in [0, 1]; it would never fire.
    """
    require_range(name="saturation and consistency", values=[saturation, consistency], low=0.0, high=1.0)
    if supported == 0:
        return Trigger.NO_SUPPORT
    if saturation < saturation_below:
        return Trigger.LOW_SATURATION
    if consistency < consistency_below:
        return Trigger.LOW_CONSISTENCY
    return None
