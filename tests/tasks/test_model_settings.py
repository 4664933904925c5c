import pytest
from pydantic import ValidationError

from tasks.model_settings import ModelSettings


def test_the_defaults_stand_and_nothing_is_limited_unasked():
    settings = ModelSettings()
    assert settings.temperature == 0 and settings.limits.in_flight == 64
    assert (settings.budget.calls, settings.budget.tokens, settings.budget.money) == (None, None, None)
    assert settings.deadlines.models_seconds <= 5 and settings.deadlines.stop_seconds < 10


def test_settings_are_hashable_because_runs_share_what_is_opened_for_them():
    assert hash(ModelSettings()) == hash(ModelSettings()) and {ModelSettings(): 1}[ModelSettings()] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -1},
        {"limits": {"in_flight": 0}},
        {"limits": {"requests_per_minute": 0}},
        {"budget": {"tokens": -1}},
        {"budget": {"coins": 1}},
        {"prices": {"input_per_million": -0.1}},
        {"pictures": {"pixels": 10}},
        {"deadlines": {"total_seconds": 0}},
        {"retries": {"attempts": 0}},
    ],
)
def test_a_value_out_of_its_bounds_is_refused(wrong):
    with pytest.raises(ValidationError):
        ModelSettings.model_validate(wrong)
