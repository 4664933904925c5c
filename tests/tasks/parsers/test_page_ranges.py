"""Ranges cover every page once, none longer than allowed, none much shorter than the others."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.parsers.page_ranges import cut_ranges


@given(total=st.integers(1, 3000), most=st.integers(1, 200))
def test_ranges_cover_the_pages_evenly(total, most):
    ranges = cut_ranges(total, most)
    assert [page for first, last in ranges for page in range(first, last + 1)] == list(range(1, total + 1))
    lengths = [last - first + 1 for first, last in ranges]
    assert max(lengths) <= most
    assert max(lengths) - min(lengths) <= 1
    assert len(ranges) == -(-total // most)
