"""What may be asked of an evaluation, and what is refused."""

import pytest
from pydantic import ValidationError

from tasks.ask_settings import AllSettings
from tasks.evaluation_arms import changed
from tasks.evaluation_request import EvaluationRequest


def test_by_default_both_readers_are_measured_on_each_questions_own_documents_and_rules_judge():
    request = EvaluationRequest()
    assert (request.what, request.readers, request.scope, request.judge) == ("retrieval", ("flow", "top-k"), "document", None)
    assert (request.dataset, request.corpus, request.limit, request.out, request.only) == (None, None, None, None, ())
    assert (request.questions_at_once, request.resamples, request.settings) == (2, 10_000, AllSettings())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("what", "accuracy"),
        ("readers", ()),
        ("readers", ("flow", "bm25")),
        ("scope", "page"),
        ("limit", 0),
        ("questions_at_once", 0),
        ("questions_at_once", 65),
        ("resamples", 99),
        ("resamples", 1_000_001),
        ("settings", {"ask": {"selection": {"mixing": 2.0}}}),
        ("datasets", "reports"),
    ],
)
def test_what_is_out_of_bounds_or_unknown_is_refused_by_its_name(name, value):
    with pytest.raises(ValidationError) as refused:
        EvaluationRequest.model_validate({name: value})
    assert name in str(refused.value.errors()[0]["loc"][0])


@pytest.mark.parametrize(("name", "value"), [("limit", 1), ("questions_at_once", 64), ("resamples", 100), ("resamples", 1_000_000)])
def test_bounds_are_allowed(name, value):
    assert getattr(EvaluationRequest.model_validate({name: value}), name) == value


def test_a_request_cannot_be_changed_and_survives_the_form_of_a_deployment():
    settings = changed(AllSettings(), {"ask.selection.mixing": 0.0, "reading.evolution.rounds": 1})
    request = EvaluationRequest(what="ablations", dataset="reports", readers=("top-k",), only=("OCR",), settings=settings)
    with pytest.raises(ValidationError, match="frozen"):
        request.what = "probe"
    assert EvaluationRequest.model_validate_json(request.model_dump_json()) == request


def test_every_field_of_the_form_says_what_it_means():
    fields = EvaluationRequest.model_json_schema()["properties"]
    assert all(told.get("description") for name, told in fields.items() if name != "settings")
