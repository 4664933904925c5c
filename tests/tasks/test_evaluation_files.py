"""Which figures are drawn, and where the pictures lie."""

import pytest

from storage.evaluation_records import Figure
from storage.locations import evaluations_folder
from tasks.answer_scoring import CORRECT
from tasks.ask_settings import AllSettings
from tasks.evaluation_arms import FULL, ROUNDS_ARM
from tasks.evaluation_figures import ALL, difference_of
from tasks.evaluation_files import pictures_of, write_pictures
from tasks.evaluation_pictures import Curve, curve_picture
from tasks.evaluation_scoring import PERFECT
from tests.storage.evaluation_worlds import evaluation

PNG = b"\x89PNG\r\n\x1a\n"
SETTINGS = AllSettings().model_dump(mode="json")


def figure(arm, metric, value=0.5, group=ALL):
    return Figure(arm, group, metric, value, value - 0.125, value + 0.125, 20, 8)


def in_parts(*metrics):
    return tuple(figure(arm, metric, group=group) for metric in metrics for arm in ("flow", "top-k") for group in (ALL, "one page"))


def names(*figures, **more):
    return [name for name, _ in pictures_of(evaluation("r" * 12, figures=figures, settings=SETTINGS, **more))]


def ablated(*arms, metrics=("recall@1", PERFECT)):
    """The whole method and other arms, each with its difference to it."""
    own = [figure(arm, metric, 0.25 + place / 8) for metric in metrics for place, arm in enumerate((FULL, *arms))]
    return (*own, *(figure(arm, difference_of(metric), -0.125) for metric in metrics for arm in arms))


def test_retrieval_has_a_picture_of_the_rankings_and_of_the_returned_sets():
    drawn = names(*in_parts("recall@1", "recall@3", "recall@5", PERFECT, "seconds"))
    assert drawn == ["perfect-recall", "recall-1", "recall-5"]


def test_answers_have_a_picture_of_those_that_are_right():
    assert names(*in_parts(CORRECT, "calls"), what="answers") == [CORRECT]


def test_what_has_no_parts_or_was_not_measured_is_not_drawn(home):
    alone = evaluation("r" * 12, figures=(figure("flow", "recall@1"), figure("top-k", "recall@1")), settings=SETTINGS)
    assert list(pictures_of(alone)) == [] and write_pictures(alone) == ()
    assert not evaluations_folder().exists()


def test_ablations_have_a_picture_of_what_each_changes():
    assert names(*ablated("mixing 0", "greedy paths"), what="ablations") == ["recall-1", "perfect-recall"]
    assert names(*ablated("mixing 0", metrics=("recall@1",)), what="ablations") == ["recall-1"]
    assert names(figure(FULL, "recall@1"), what="ablations") == []


def test_rounds_of_evolution_make_a_curve_on_which_the_whole_method_has_its_own_number():
    figures = ablated("mixing 0", ROUNDS_ARM.format(0), ROUNDS_ARM.format(5), metrics=("recall@1",))
    measured = evaluation("r" * 12, what="ablations", figures=figures, settings=SETTINGS)
    drawn = dict(pictures_of(measured))
    assert list(drawn) == ["recall-1", "recall-1-by-rounds"]
    own = float(AllSettings().reading.evolution.rounds)
    points = ((own, figures[0]), (0.0, figures[2]), (5.0, figures[3]))
    title = "Recall@1 by rounds of evolution, reports"
    assert drawn["recall-1-by-rounds"] == curve_picture([Curve("recall@1", points)], title=title, number="rounds of evolution")


@pytest.mark.parametrize("arms", [("mixing 0",), ()])
def test_one_number_of_rounds_makes_no_curve(arms):
    assert not [name for name in names(*ablated(*arms), what="ablations") if "rounds" in name]


def test_pictures_lie_in_the_folder_of_their_run_and_are_replaced_there(home):
    measured = evaluation("run-of-today", figures=in_parts("recall@1", PERFECT), settings=SETTINGS)
    paths = write_pictures(measured)
    assert paths == tuple(home / "evaluations" / "run-of-today" / f"{name}.png" for name in ("perfect-recall", "recall-1"))
    assert all(path.read_bytes().startswith(PNG) for path in paths)
    paths[0].write_bytes(b"another")
    assert write_pictures(measured) == paths and paths[0].read_bytes().startswith(PNG)
    assert sorted(paths) == sorted(paths[0].parent.iterdir())
