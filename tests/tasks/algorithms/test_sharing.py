from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.sharing import fair_shares, group_in_order, halves


def test_the_small_get_all_they_need_and_the_large_share_the_rest():
    assert fair_shares(needs=[10, 1000, 500], room=610) == [10, 300, 300]
    assert fair_shares(needs=[10, 20], room=100) == [10, 20]
    assert fair_shares(needs=[5, 5], room=0) == [0, 0]
    assert fair_shares(needs=[], room=7) == []


@given(st.lists(st.integers(0, 1000), max_size=20), st.integers(0, 5000))
def test_no_text_gets_more_than_it_needs_and_no_room_is_wasted(needs, room):
    shares = fair_shares(needs=needs, room=room)
    assert all(0 <= share <= need for share, need in zip(shares, needs, strict=True)) and sum(shares) <= room
    assert sum(needs) <= room or sum(shares) > room - len(needs)


@given(st.lists(st.integers(0, 50)), st.integers(1, 8), st.integers(0, 100))
def test_every_item_is_in_one_group_and_no_group_is_too_large(sizes, most_items, most_size):
    groups = group_in_order(sizes=sizes, most_items=most_items, most_size=most_size)
    assert [place for group in groups for place in group] == list(range(len(sizes)))
    for group in groups:
        assert 1 <= len(group) <= most_items
        assert len(group) == 1 or sum(sizes[place] for place in group) <= most_size


@given(st.lists(st.integers(0, 50)), st.integers(1, 8), st.integers(0, 100))
def test_no_two_neighbouring_groups_could_be_one(sizes, most_items, most_size):
    groups = group_in_order(sizes=sizes, most_items=most_items, most_size=most_size)
    for one, other in pairwise(groups):
        with_first = [*one, other[0]]
        assert len(with_first) > most_items or sum(sizes[place] for place in with_first) > most_size


def test_halves_part_a_group_and_keep_its_order():
    assert halves([4, 5, 9]) == [[4], [5, 9]]
    assert halves([4, 5]) == [[4], [5]]
