"""Ribbons: as wide as their flow, side by side where they meet, inside the drawing."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.drawing import lay_out_paths
from tasks.report.graph_frame import DESK_WIDTH, THINNEST, draw_ribbons, lying_frame, standing_frame


@st.composite
def layouts(draw):
    raw = draw(st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=4, unique=True), min_size=1, max_size=8))
    number = {node: place for place, node in enumerate(dict.fromkeys(node for path in raw for node in path))}
    flows = draw(st.lists(st.floats(0, 3), min_size=len(raw), max_size=len(raw)))
    return lay_out_paths(paths=[[number[node] for node in path] for path in raw], flows=flows, nodes=len(number))


frames = pytest.mark.parametrize("frame_of", [lying_frame, standing_frame])


@frames
def test_twice_the_flow_is_twice_the_width(frame_of):
    layout = lay_out_paths(paths=[[0, 1], [2, 3]], flows=[1.0, 2.0], nodes=4)
    widths = {
        ribbon.route.source: ribbon.width for ribbon in draw_ribbons(layout, frame_of(layout)) if ribbon.route.target in (1, 3)
    }
    assert widths[2] == pytest.approx(2 * widths[0])


@frames
def test_no_flow_at_all_is_drawn_as_thin_lines(frame_of):
    layout = lay_out_paths(paths=[[0, 1]], flows=[0.0], nodes=2)
    assert {ribbon.width for ribbon in draw_ribbons(layout, frame_of(layout))} == {THINNEST}


def test_a_standing_drawing_is_a_phone_wide_and_a_lying_one_a_desk():
    layout = lay_out_paths(paths=[[node] for node in range(11)], flows=[1.0] * 11, nodes=11)
    assert standing_frame(layout).size[0] == pytest.approx(340)
    assert lying_frame(layout).size[0] == 1080
    assert lying_frame(layout).paper((1, 2)) == (1, 2)
    assert standing_frame(layout).paper((1, 2)) == (2, 1)


def test_long_chains_make_a_lying_drawing_wider_and_no_drawing_is_shrunk_until_its_words_are_small():
    short, long = (lay_out_paths(paths=[[*range(count)]], flows=[1.0], nodes=count) for count in (2, 12))
    assert lying_frame(short).least_width <= DESK_WIDTH < lying_frame(long).least_width
    assert 12 * lying_frame(long).least_width / lying_frame(long).size[0] >= 11
    assert standing_frame(long).least_width == standing_frame(long).size[0] <= 340


@frames
@given(layouts())
def test_everything_lies_within_the_drawing(frame_of, layout):
    frame = frame_of(layout)
    for ribbon in draw_ribbons(layout, frame):
        for along, across in ribbon.points:
            assert 0 <= along <= frame.along
            assert across - ribbon.width / 2 >= -1e-6 or ribbon.width == THINNEST
            assert across + ribbon.width / 2 <= frame.across + 1e-6 or ribbon.width == THINNEST


@frames
@given(layouts())
def test_ribbons_that_meet_at_a_side_do_not_overlap(frame_of, layout):
    ribbons = draw_ribbons(layout, frame_of(layout))
    for end in range(-1, len(layout.columns) + 1):
        for own, place in (("source", 0), ("target", -1)):
            spans = sorted(
                (ribbon.points[place][1] - ribbon.width / 2, ribbon.points[place][1] + ribbon.width / 2)
                for ribbon in ribbons
                if getattr(ribbon.route, own) == end
            )
            assert all(before[1] <= after[0] + 1e-6 for before, after in itertools.pairwise(spans))


@frames
@given(layouts())
def test_ribbons_run_from_side_to_side_past_the_columns_between(frame_of, layout):
    for ribbon in draw_ribbons(layout, frame_of(layout)):
        assert len(ribbon.points) == 2 + 2 * len(ribbon.route.between)
        if ribbon.route.between:
            assert all(a[0] <= b[0] for a, b in itertools.pairwise(ribbon.points))
