"""Every point at which a torture kills is there: also those that only `make campaign` comes to."""

from tests.torture import test_kills, test_transfer
from tests.torture.dies_at import found


def test_every_named_point_is_a_function():
    points = {point for group in (test_kills.POINTS, test_kills.IN_RECOVERY) for points in group for point in points}
    points |= {*test_transfer.OLD_STANDS, *test_transfer.NEW_STANDS}
    assert len(points) > 30 and all(found(point) for point in points)
