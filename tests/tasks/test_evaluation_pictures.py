"""Pictures are small PNG files with everything on them, whatever is shown."""

import io
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from PIL import Image

from storage.evaluation_records import Figure
from tasks.evaluation_figures import difference_of
from tasks.evaluation_pictures import COLOURS, Curve, PictureError, curve_picture, group_picture, interval_picture

WIDTH = 1200
BLUE, ORANGE = (tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5)) for colour in COLOURS[:2])


def figure(arm="flow", value=0.5, wide=0.1, *, group="all", metric="recall@1", questions=611, documents=38):
    return Figure(arm, group, metric, value, value - wide, value + wide, questions, documents)


def opened(png):
    with Image.open(io.BytesIO(png)) as picture:
        assert picture.format == "PNG"
        assert picture.info["dpi"] == pytest.approx((150, 150), abs=1)
        return np.asarray(picture.convert("RGB")).astype(int)


def where(pixels, colour):
    """The places of pixels near a colour, as (rows, columns)."""
    return np.nonzero(np.abs(pixels - colour).sum(axis=2) < 60)


def empty_border(pixels):
    """Whether nothing touches the edge of the picture, as what is cut does."""
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    return bool((edge > 250).all())


def long_named(count):
    return [
        figure(f"ablation {number} " + "with a name of sixty characters, none cut"[: 50 - len(str(number))], 0.3 + number / 100)
        for number in range(count)
    ]


@pytest.mark.parametrize("name", ["W" * 60, "an ablation whose name is sixty characters long, as some are"])
def test_forty_arms_of_long_names_are_drawn_whole_in_a_small_file(name):
    figures = [figure(f"{number:02} {name}"[:60], 0.3 + number / 100, 0.0 if number % 3 else 0.05) for number in range(40)]
    png = interval_picture(figures, title="Recall@1 of " + "a very long title " * 8, reference=figures[3].arm)
    pixels = opened(png)
    assert len(png) < 200_000
    assert pixels.shape[1] == WIDTH
    assert empty_border(pixels)
    rows = np.unique(where(pixels, BLUE)[0])
    assert 1 + (np.diff(rows) > 1).sum() == 39, "a point for each arm but the reference"


def test_one_arm_with_no_width_is_a_point_on_its_own_line():
    pixels = opened(interval_picture([figure("flow", 0.0, 0.0)], title="Nothing found", reference="flow"))
    assert empty_border(pixels)
    assert not where(pixels, BLUE)[0].size


def test_better_arms_stand_further_right_and_wider_intervals_are_wider():
    pixels = opened(
        interval_picture([figure("full", 0.5), figure("a", 0.3, 0.05), figure("b", 0.6, 0.1)], title="t", reference="full")
    )
    rows, columns = where(pixels, BLUE)
    above = rows < np.median(np.unique(rows))
    assert np.median(columns[above]) < np.median(columns[~above])
    assert 1.6 < np.ptp(columns[~above]) / np.ptp(columns[above]) < 2.4


def test_differences_stand_beside_a_line_at_zero_that_is_the_reference():
    metric = difference_of("recall@1")
    pixels = opened(
        interval_picture(
            [figure("a", -0.05, 0.01, metric=metric), figure("b", 0.05, 0.01, metric=metric)], title="t", reference="full"
        )
    )
    _, columns = where(pixels, BLUE)
    left, right = columns[columns < columns.mean()], columns[columns > columns.mean()]
    dark = np.nonzero((pixels.sum(axis=2) < 150).sum(axis=0) > 60)[0]
    assert ((dark > left.max()) & (dark < right.min())).any(), "no line between them"


@pytest.mark.parametrize(("part", "enough"), [("questions", 10), ("documents", 5)])
def test_a_point_of_few_questions_or_documents_is_hollow(part, enough):
    def inked(count):
        point = figure("a", 0.3, **{part: count})
        rows = interval_picture([figure("full"), point], title="t", reference="full")
        curve = curve_picture([Curve("a", ((1, point),))], title="t", number="rounds")
        return np.array([where(opened(png), BLUE)[0].size for png in (rows, curve)])

    assert (inked(enough - 1) < inked(enough)).all()


def test_a_curve_of_few_documents_says_so_without_leaving_its_sheet():
    points = tuple((number, figure(metric="perfect recall", documents=3)) for number in range(6))
    assert empty_border(opened(curve_picture([Curve("perfect recall", points)], title="t", number="rounds of evolution")))


def test_of_a_thousand_groups_the_forty_of_most_questions_are_drawn_and_the_rest_counted():
    groups = {f"type: {number:04}": 1 + number * 7919 % 1200 for number in range(1200)}
    figures = [figure(arm, group=group, questions=count) for group, count in groups.items() for arm in ("flow", "top-k")]
    before = time.thread_time()
    drawn = group_picture(figures, title="Recall@1")
    assert time.thread_time() - before < 20.0, "the processor's time: all of them took a minute"
    largest = [one for one in figures if one.questions > 1160]
    assert drawn == group_picture(largest, title="Recall@1: the 40 largest groups, 1,160 left out")


def test_of_forty_groups_none_is_left_out():
    pixels = opened(group_picture([figure(group=f"type: {number:02}") for number in range(40)], title="Recall@1"))
    rows = np.unique(where(pixels, BLUE)[0])
    # one more is the legend's
    assert 1 + (np.diff(rows) > 1).sum() == 41


def test_groups_have_a_point_for_each_arm():
    groups = ["all", "one page", "source: Generalized-text (Layout)", "type: Administration/Industry file, and more of it"]
    figures = [figure(arm, value, 0.02, group=group) for group in groups for arm, value in (("flow", 0.7), ("top-k", 0.3))]
    pixels = opened(group_picture(figures, title="Recall@1 by group"))
    assert empty_border(pixels)
    for colour in (BLUE, ORANGE):
        rows = np.unique(where(pixels, colour)[0])
        # one more is the legend's
        assert 1 + (np.diff(rows) > 1).sum() == len(groups) + 1


def test_curves_rise_where_their_figures_do_and_a_single_point_is_seen():
    rising = Curve("top-k, cut", tuple((pages, figure("k", pages / 20)) for pages in (10, 1, 3.5)))
    pixels = opened(
        curve_picture([rising, Curve("flow", ((6.3, figure(value=0.9)),))], title="t", number="pages returned on average")
    )
    assert empty_border(pixels)
    below_legend = pixels[120:]
    rows, columns = where(below_legend, BLUE)
    left, right = columns < np.quantile(columns, 0.2), columns > np.quantile(columns, 0.8)
    assert rows[left].mean() > rows[right].mean(), "rows count downwards"
    assert where(below_legend, ORANGE)[0].size > 50


def test_rounds_and_long_legends_are_drawn_whole():
    curves = [
        Curve(
            f"{name} with a name that is much longer than anyone needs",
            tuple((number, figure(value=0.5 + number / 50)) for number in range(6)),
        )
        for name in "abcdefg"
    ]
    assert empty_border(opened(curve_picture(curves, title="Recall@1", number="rounds of evolution")))


def test_every_curve_keeps_its_colour_in_the_file():
    curves = [Curve(str(place), tuple((number, figure(value=0.5)) for number in range(6))) for place in range(len(COLOURS))]
    pixels = opened(curve_picture(curves, title="all on one line", number="rounds"))
    for colour in COLOURS:
        exact = tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))
        assert (np.abs(pixels - exact).sum(axis=2) < 30).sum() > 50, colour


def test_a_dollar_sign_is_no_formula_and_the_same_figures_make_the_same_file():
    draw = [interval_picture([figure(r"$\frac{$ & 10-K $"), figure("b")], title="$x^{$", reference="b") for _ in range(2)]
    assert draw[0] == draw[1]


def test_threads_draw_the_same_as_one():
    alone = interval_picture(long_named(3), title="t", reference=long_named(1)[0].arm)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(interval_picture(long_named(3), title="t", reference=long_named(1)[0].arm)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 4


def test_what_no_picture_can_show_is_refused_by_name():
    with pytest.raises(PictureError, match="no figures"):
        interval_picture([], title="t", reference="flow")
    with pytest.raises(PictureError, match=r"not 2 \(recall@1, seconds\)"):
        group_picture([figure(), figure(metric="seconds")], title="t")
    with pytest.raises(PictureError, match="'recall@1' of 'flow' is nan"):
        curve_picture([Curve("a", ((1, figure(value=float("nan"))),))], title="t", number="rounds")
    with pytest.raises(PictureError, match="the reference 'full' has no 'recall@1'; give one of flow"):
        interval_picture([figure()], title="t", reference="full")


def test_matplotlib_is_loaded_by_drawing_only_and_pyplot_never():
    program = """
import sys
from tasks.evaluation_pictures import interval_picture
from storage.evaluation_records import Figure
assert "matplotlib" not in sys.modules
interval_picture([Figure("flow", "all", "recall@1", 0.5, 0.4, 0.6, 20, 9)], title="t", reference="flow")
assert "matplotlib.figure" in sys.modules and "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
