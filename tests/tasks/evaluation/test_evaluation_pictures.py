"""Which figures are drawn, where the pictures lie, and that nothing on them is cut."""

import io

import numpy as np
import pytest
from PIL import Image

from storage.locations import evaluations_folder
from storage.records.evaluations import Figure
from tasks.evaluation.arms import FULL
from tasks.evaluation.pictures import COLOURS, picture, pictures_of, write_pictures
from tasks.evaluation.scoring import ALL, CORRECT, PERFECT, difference_of
from tasks.settings.ask import AllSettings
from tests.storage.evaluation_worlds import evaluation

SETTINGS = AllSettings().model_dump(mode="json")
BLUE, ORANGE = (tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5)) for colour in COLOURS[:2])


def figure(arm, metric, value=0.5, group=ALL, questions=20, documents=8):
    return Figure(arm, group, metric, value, value - 0.125, value + 0.125, questions, documents)


def in_parts(*metrics):
    return tuple(figure(arm, metric, group=group) for metric in metrics for arm in ("flow", "top-k") for group in (ALL, "one page"))


def ablated(*arms, metrics=("recall@1", PERFECT)):
    """The whole method and other arms, each with its difference to it."""
    own = [figure(arm, metric, 0.25 + place / 8) for metric in metrics for place, arm in enumerate((FULL, *arms))]
    return (*own, *(figure(arm, difference_of(metric), -0.125) for metric in metrics for arm in arms))


def drawn(*figures, **more):
    return dict(pictures_of(evaluation("r" * 12, figures=figures, settings=SETTINGS, **more)))


def opened(png):
    with Image.open(io.BytesIO(png)) as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert (edge > 250).all(), "something touches the edge, as what is cut does"
    return pixels


def where(pixels, colour):
    """The places of pixels near a colour, as (rows, columns)."""
    return np.nonzero(np.abs(pixels - colour).sum(axis=2) < 60)


@pytest.mark.parametrize(
    ("figures", "what", "names"),
    [
        (in_parts("recall@1", "recall@3", "recall@5", PERFECT, "seconds"), "retrieval", ["perfect-recall", "recall-1", "recall-5"]),
        (in_parts(CORRECT, "calls"), "answers", [CORRECT]),
        ((figure("flow", "recall@1"), figure("top-k", "recall@1")), "retrieval", []),
        (ablated("mixing 0", "greedy paths"), "ablations", ["recall-1", "perfect-recall"]),
        (ablated("mixing 0", metrics=("recall@1",)), "ablations", ["recall-1"]),
        ((figure(FULL, "recall@1"),), "ablations", []),
    ],
)
def test_each_evaluation_has_its_pictures_and_none_of_what_has_no_parts(figures, what, names):
    assert list(drawn(*figures, what=what)) == names


def test_a_picture_of_what_was_fitted_on_these_documents_says_so():
    figures = in_parts("recall@1", PERFECT)
    here, elsewhere = (drawn(*figures, models={"fitted on": digits}) for digits in ("a" * 12, "b" * 12))
    assert here["recall-1"] == elsewhere["recall-1"] and here["perfect-recall"] != elsewhere["perfect-recall"]


def test_pictures_lie_in_the_folder_of_their_run_and_are_replaced_there(home):
    measured = evaluation("run-of-today", figures=in_parts("recall@1", PERFECT), settings=SETTINGS)
    paths = write_pictures(measured)
    assert paths == tuple(home / "evaluations" / "run-of-today" / f"{name}.png" for name in ("perfect-recall", "recall-1"))
    paths[0].write_bytes(b"another")
    assert write_pictures(measured) == paths and opened(paths[0].read_bytes()).shape[1] == 1200
    assert sorted(paths) == sorted(paths[0].parent.iterdir())
    nothing = evaluation("run-of-nothing", figures=(), settings=SETTINGS)
    assert write_pictures(nothing) == () and not (evaluations_folder() / "run-of-nothing").exists()


def test_groups_have_a_point_for_each_arm_the_better_one_further_right():
    groups = ["all", "one page", "source: Generalized-text (Layout)", "type: Administration/Industry file, and more of it"]
    figures = [figure(arm, "recall@1", value, group) for group in groups for arm, value in (("flow", 0.7), ("top-k", 0.3))]
    pixels = opened(drawn(*figures, benchmark=r"$\frac{$ & " + "a very long title " * 8)["recall-1"])
    assert np.median(where(pixels, BLUE)[1]) > np.median(where(pixels, ORANGE)[1])
    for colour in (BLUE, ORANGE):
        rows = np.unique(where(pixels, colour)[0])
        assert 1 + (np.diff(rows) > 1).sum() == len(groups) + 1, "one more is the legend's"


def test_of_a_thousand_parts_the_forty_of_most_questions_are_drawn_and_the_rest_counted():
    counts = {f"type: {number:04}": 1 + number * 7919 % 1200 for number in range(1200)}
    found = [figure("flow", "recall@1", group=group, questions=count) for group, count in counts.items()]
    largest = sorted(found, key=lambda one: -one.questions)[:40]
    title = "recall@1, reports: the 40 largest parts, 1,160 left out"
    rows = {f"{one.group} ({one.questions:,})": [one] for one in largest}
    assert drawn(*found)["recall-1"] == picture(rows, title=title, arms=["flow"])
