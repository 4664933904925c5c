from tasks.settings.models import ModelSettings


def test_the_defaults_stand_and_nothing_is_limited_unasked():
    settings = ModelSettings()
    assert settings.temperature == 0 and settings.limits.in_flight == 64
    assert (settings.budget.calls, settings.budget.tokens, settings.budget.money) == (None, None, None)
    assert settings.deadlines.models_seconds <= 5 and settings.deadlines.stop_seconds < 10


def test_settings_are_hashable_because_runs_share_what_is_opened_for_them():
    assert hash(ModelSettings()) == hash(ModelSettings()) and {ModelSettings(): 1}[ModelSettings()] == 1
