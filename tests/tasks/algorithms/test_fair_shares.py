"""Who needs little gets it, and nobody gets more than the others want for."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.fair_shares import fair_shares


def test_the_small_get_all_they_need_and_the_large_share_the_rest():
    assert fair_shares(needs=[10, 1000, 500], room=610) == [10, 300, 300]
    assert fair_shares(needs=[10, 20], room=100) == [10, 20]
    assert fair_shares(needs=[5, 5], room=0) == [0, 0]
    assert fair_shares(needs=[], room=7) == []


@given(st.lists(st.integers(0, 1000), max_size=20), st.integers(0, 5000))
def test_nobody_gets_more_than_it_needs_and_no_room_is_wasted(needs, room):
    shares = fair_shares(needs=needs, room=room)
    assert all(0 <= share <= need for share, need in zip(shares, needs, strict=True)) and sum(shares) <= room
    assert sum(needs) <= room or sum(shares) > room - len(needs)
