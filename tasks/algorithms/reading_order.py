"""Reading order of a page whose reader did not know it: columns between full-width blocks, from the boxes alone."""

from __future__ import annotations

from collections.abc import Sequence

from storage.records import Box
from tasks.algorithms.layout import shared_height

_SPANNING_WIDTH = 0.6  # wider than a column of a two-column page can be
_GUTTER = 0.01  # the narrowest gap between two columns, as a share of the page's width
_CELL_HEIGHT = 0.04  # of the page: two lines; what is higher is a paragraph
_ALIGNED_SHARE = 0.7  # so many cells on a common line make rows of a table, not columns of text


def order_boxes(boxes: Sequence[Box]) -> list[int]:
    """Return the indices of a page's boxes in reading order.

    Full-width boxes cut the page into bands; a band is read column by column, from the left, unless its boxes stand on
    common lines as a table's cells do: then line by line.
    """
    ordered: list[int] = []
    band: list[int] = []
    for index in sorted(range(len(boxes)), key=lambda index: (boxes[index][1], boxes[index][0])):
        if boxes[index][2] - boxes[index][0] > _SPANNING_WIDTH:
            ordered += [*_order_band(boxes, band), index]
            band = []
        else:
            band.append(index)
    return ordered + _order_band(boxes, band)


def _order_band(boxes: Sequence[Box], band: Sequence[int]) -> list[int]:
    columns = _find_columns(boxes, band)
    if len(columns) > 1 and not _is_grid(boxes, columns):
        return [index for column in columns for index in column]
    return list(band)


def _find_columns(boxes: Sequence[Box], band: Sequence[int]) -> list[list[int]]:
    """Group a band's boxes by the vertical gutters that no box crosses; each group keeps the order from the top."""
    columns: list[list[int]] = []
    right = -1.0
    for index in sorted(band, key=lambda index: boxes[index][0]):
        if not columns or boxes[index][0] >= right + _GUTTER:
            columns.append([])
        columns[-1].append(index)
        right = max(right, boxes[index][2])
    position = {index: place for place, index in enumerate(band)}
    return [sorted(column, key=position.__getitem__) for column in columns]


def _is_grid(boxes: Sequence[Box], columns: Sequence[Sequence[int]]) -> bool:
    """Tell whether the shorter columns' boxes stand on the lines of the longest, two lines at least."""
    longest = max(columns, key=len)
    others = [index for column in columns if column is not longest for index in column]
    # Two pointers, both from the top, so that a page of many fragments stays linear.
    aligned = place = 0
    for index in sorted(others, key=lambda index: boxes[index][1]):
        while place < len(longest) - 1 and boxes[longest[place]][3] <= boxes[index][1]:
            place += 1
        aligned += _same_line(boxes[index], boxes[longest[place]])
    return len(longest) > 1 and aligned > 1 and aligned >= _ALIGNED_SHARE * len(others)


def _same_line(first: Box, second: Box) -> bool:
    heights = sorted((first[3] - first[1], second[3] - second[1]))
    return shared_height(first, second) > 0.5 and heights[1] <= min(_CELL_HEIGHT, 2 * heights[0])
