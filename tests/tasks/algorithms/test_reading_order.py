from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.reading_order import order_boxes

unit = st.floats(0, 1)
boxes = st.lists(
    st.tuples(unit, unit, unit, unit).map(lambda b: (min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])))
)


def test_two_columns_between_full_width_blocks_are_read_one_after_the_other():
    title, foot = (0.1, 0.05, 0.9, 0.1), (0.1, 0.9, 0.9, 0.95)
    left = [(0.1, 0.15, 0.48, 0.4), (0.1, 0.42, 0.48, 0.85)]
    right = [(0.52, 0.15, 0.9, 0.3), (0.52, 0.32, 0.9, 0.85)]
    page = [foot, right[1], left[0], title, right[0], left[1]]
    assert [page[index] for index in order_boxes(page)] == [title, *left, *right, foot]


def test_cells_on_common_lines_are_read_line_by_line():
    grid = [(x, y, x + 0.1, y + 0.02) for y in (0.1, 0.15, 0.2) for x in (0.1, 0.4, 0.7)]
    assert order_boxes(grid[::-1]) == list(range(8, -1, -1))


def test_one_column_is_read_from_the_top():
    assert order_boxes([(0.1, 0.5, 0.5, 0.6), (0.12, 0.1, 0.5, 0.2)]) == [1, 0]


@given(boxes)
def test_every_box_is_read_once(page):
    assert sorted(order_boxes(page)) == list(range(len(page)))
