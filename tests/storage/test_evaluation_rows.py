"""Rows: a record goes in and comes out as it was; what is no number does not go in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.evaluation_file import held_open
from storage.evaluation_records import Figure, Scored
from storage.evaluation_rows import read_heads, read_scored, require_numbers, write_evaluation
from tests.storage.evaluation_worlds import evaluation, scored

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
SCORED = st.builds(Scored, arm=WORDS, question_id=WORDS, document=WORDS, values=st.dictionaries(WORDS, NUMBERS, max_size=3))
COUNTS = st.integers(0, 10_000)
FIGURES = st.builds(
    Figure,
    arm=WORDS,
    group=WORDS,
    metric=WORDS,
    value=NUMBERS,
    low=NUMBERS,
    high=NUMBERS,
    questions=COUNTS,
    documents=COUNTS,
)


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    with held_open(tmp_path_factory.mktemp("rows") / "evaluations.duckdb") as opened:
        yield opened


@given(questions=st.lists(SCORED, max_size=4), figures=st.lists(FIGURES, max_size=4))
def test_whatever_was_measured_is_read_as_it_was_written_and_in_its_order(connection, questions, figures):
    write_evaluation(connection, evaluation("eval-1", figures=tuple(figures)), "{}")
    write_evaluation(connection, evaluation("eval-1", *questions, figures=tuple(figures)), "{}")
    assert read_scored(connection, "eval-1") == tuple(questions)
    assert [head.figures for head in read_heads(connection) if head.run_id == "eval-1"] == [tuple(figures)]


@given(models=st.dictionaries(WORDS, WORDS, max_size=4), settings=st.dictionaries(WORDS, WORDS, max_size=2))
def test_the_models_are_read_as_they_were_written_and_are_not_taken_for_settings(connection, models, settings):
    write_evaluation(connection, evaluation("eval-models", models=models), json.dumps(settings))
    (head,) = (head for head in read_heads(connection) if head.run_id == "eval-models")
    assert (head.models, head.settings) == (models, settings)


def test_a_model_whose_name_no_bytes_can_hold_costs_no_evaluation(connection):
    write_evaluation(connection, evaluation("eval-odd", models={"chat": "\udcff"}), "{}")
    assert [head.models for head in read_heads(connection) if head.run_id == "eval-odd"] == [{"chat": "\\udcff"}]


def test_of_several_evaluations_each_keeps_its_own(connection):
    for name in ("eval-a", "eval-b"):
        write_evaluation(
            connection,
            evaluation(name, scored(name, "q", "d", recall=1.0), figures=(Figure(name, "all", "recall", 1, 1, 1, 1, 1),)),
            "{}",
        )
    heads = {head.run_id: head for head in read_heads(connection)}
    assert [heads[name].figures[0].arm for name in ("eval-a", "eval-b")] == ["eval-a", "eval-b"]
    assert [read_scored(connection, name)[0].arm for name in ("eval-a", "eval-b")] == ["eval-a", "eval-b"]
    assert read_scored(connection, "eval-c") == ()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("part", ["value", "low", "high"])
def test_a_figure_that_is_no_number_is_refused(part, number):
    numbers = {"value": 0.5, "low": 0.0, "high": 1.0} | {part: number}
    with pytest.raises(ValueError, match=f"'recall' of group 'all' under arm 'flow' is {number}; leave out"):
        require_numbers(evaluation("eval-1", figures=(Figure("flow", "all", "recall", questions=1, documents=1, **numbers),)))
    require_numbers(evaluation("eval-1", scored("flow", "q", "a.pdf", recall=0.5)))
