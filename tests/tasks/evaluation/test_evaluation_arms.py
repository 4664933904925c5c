"""Ablations change what their names say, and nothing else."""

import pytest
from pydantic import ValidationError

from tasks.evaluation.arms import FULL, EvaluationRequest, UnknownArmError, ablation_arms, ablations, reader_arms
from tasks.settings.ask import AllSettings
from tasks.settings.base import changed, dotted


def test_each_ablation_differs_from_the_default_in_the_settings_it_names_and_in_no_other():
    plain = dict(dotted(AllSettings().model_dump()))
    for name, change in ablations(AllSettings()).items():
        other = dict(dotted(changed(AllSettings(), change).model_dump()))
        assert {key for key in plain if plain[key] != other[key]} <= set(change), name
        assert other != plain, name


def test_all_that_the_issue_lists_is_there():
    names = set(ablations(AllSettings()))
    wanted = {"relevance only", "propagation", "diffusion", "BM25", "greedy", "mixing 0", "start by", "diagonal q"}
    wanted |= {"extinction after", "summary and keywords", "demand", "rounds 0", "rounds 5", "places named", "OCR"}
    assert all(any(part in name for name in names) for part in wanted)


def test_weights_still_sum_to_one_when_a_signal_is_taken_away():
    for name in ("without propagation", "without diffusion", "relevance only"):
        score = changed(AllSettings(), ablations(AllSettings())[name]).ask.score
        assert score.relevance + score.propagation + score.diffusion == pytest.approx(1.0)


def test_what_is_set_already_is_no_ablation():
    assert "mixing 0" not in ablations(changed(AllSettings(), {"ask.selection.mixing": 0.0}))
    assert f"evolution rounds {AllSettings().reading.evolution.rounds}" not in ablations(AllSettings())


def test_the_whole_method_comes_first_and_only_what_is_named_follows():
    assert [arm.name for arm in ablation_arms(AllSettings(), "flow", ["mixing 0", "OCR"])] == [FULL, "mixing 0", "without OCR"]
    with pytest.raises(UnknownArmError, match=r"'mixng'.*mixing 0"):
        ablation_arms(AllSettings(), "flow", ["mixng"])


def test_arms_that_read_documents_alike_share_a_corpus():
    arms = {arm.name: arm for arm in ablation_arms(AllSettings(), "flow")}
    assert arms["mixing 0"].read_alike == arms[FULL].read_alike
    apart = (FULL, "without OCR", "evolution rounds 0", "vectors of summary and keywords")
    assert len({arms[name].read_alike for name in apart}) == len(apart)


def test_a_reader_named_twice_is_one_arm():
    assert [arm.reader for arm in reader_arms(["flow", "top-k", "flow"], AllSettings())] == ["flow", "top-k"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("what", "accuracy"),
        ("readers", ()),
        ("readers", ("flow", "bm25")),
        ("scope", "page"),
        ("limit", 0),
        ("questions_at_once", 65),
        ("resamples", 99),
        ("settings", {"ask": {"selection": {"mixing": 2.0}}}),
        ("datasets", "reports"),
    ],
)
def test_what_may_not_be_asked_of_an_evaluation_is_refused_by_its_name(name, value):
    with pytest.raises(ValidationError) as refused:
        EvaluationRequest.model_validate({name: value})
    assert name in str(refused.value.errors()[0]["loc"][0])


def test_a_request_survives_the_form_of_a_deployment_whose_fields_say_what_they_mean():
    settings = changed(AllSettings(), {"ask.selection.read": 3, "reading.ocr.enabled": False})
    request = EvaluationRequest(what="ablations", dataset="reports", readers=("top-k",), only=("OCR",), settings=settings)
    assert EvaluationRequest.model_validate_json(request.model_dump_json()) == request
    fields = EvaluationRequest.model_json_schema()["properties"]
    assert all(field.get("description") for name, field in fields.items() if name != "settings")
