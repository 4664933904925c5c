"""The settings of a question: the paper's tables, bounds and reasons for all, every wrong value named at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks.ask_settings import AllSettings, AskSettings, ScoreSettings
from tasks.settings import IngestSettings, SettingsError, load_settings

PAPER = {
    "routing": {
        "sources": 8,
        "sinks": 8,
        "minimum_similarity": 0.22,
        "diversity": 0.7,
        "visual_bonus": 0.05,
        "demand": 6.0,
        "paths": 60,
    },
    "relevance": {"lexical_share": 0.5},
    "score": {"relevance": 0.5, "propagation": 0.3, "diffusion": 0.2, "damping": 0.85, "diffusion_tolerance": 1e-6},
    "selection": {
        "mixing": 0.2,
        "tolerance": 1e-4,
        "steps": 20,
        "extinction": 5e-4,
        "flow_exponent": 0.2,
        "peak_exponent": 0.5,
        "mean_exponent": 0.3,
        "read": 11,
    },
    "gate": {"consistency": 0.65, "saturation": 0.6, "bridge_above": 0.1, "depth": 2, "damping": 0.6, "bound": 0.3},
}
"""Tables 5 and 6."""


def written(tmp_path, text):
    path = tmp_path / "settings.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("part", list(PAPER))
def test_the_defaults_are_the_papers_tables(part):
    told = getattr(AskSettings(), part).model_dump()
    assert {name: told[name] for name in PAPER[part]} == PAPER[part]


def test_every_setting_has_its_reason_and_every_number_its_bounds():
    for part, stage in AskSettings.model_fields.items():
        for name, field in stage.annotation.model_fields.items():
            assert field.description, f"{part}.{name}"
            if field.annotation in {int, float}:
                bounds = {type(bound).__name__ for bound in field.metadata}
                assert bounds & {"Ge", "Gt"} and bounds & {"Le", "Lt"}, f"{part}.{name}"


def test_a_file_changes_what_it_names_and_nothing_else(tmp_path):
    loaded = load_settings(written(tmp_path, '[ask.routing]\nsources = 3\n[ask.relevance]\ntext = "paper"\n'), AllSettings)
    assert loaded.ask.routing.sources == 3 and loaded.ask.relevance.text == "paper"
    assert loaded.ask.gate == AskSettings().gate and loaded.for_ingest() == IngestSettings()


def test_an_ingest_takes_its_part_of_the_file_and_no_settings_of_questions(tmp_path):
    loaded = load_settings(written(tmp_path, "[limits]\nmemory_megabytes = 500\n[ask.gate]\npairs = 1\n"), AllSettings)
    assert type(loaded.for_ingest()) is IngestSettings and loaded.for_ingest().limits.memory_megabytes == 500


def test_every_wrong_field_is_named_at_once(tmp_path):
    path = written(
        tmp_path,
        '[ask.routing]\nsources = 0\ndemand = -1\nsinkz = 3\n[ask.gate]\ndepth = "deep"\n[ask.score]\nrelevance = 0.9\n'
        '[ask.relevance]\ntext = "all"\n[asks]\nx = 1\n',
    )
    with pytest.raises(SettingsError) as raised:
        load_settings(path, AllSettings)
    said = str(raised.value)
    for name in ("ask.routing.sources = 0", "ask.routing.demand = -1", "ask.gate.depth = 'deep'", "ask.relevance.text = 'all'"):
        assert name in said
    assert "there is no setting ask.routing.sinkz" in said and "there is no setting asks" in said
    assert "ask.score: relevance, propagation and diffusion sum to 1.4 instead of 1" in said
    assert said.endswith("`flowreader settings` lists names and bounds") and "\n" not in said


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_what_is_no_number_is_out_of_bounds(tmp_path, number):
    with pytest.raises(SettingsError, match=r"ask\.routing\.demand"):
        load_settings(written(tmp_path, f"[ask.routing]\ndemand = {number}\n"), AllSettings)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_the_weights_of_the_score_sum_to_one_or_are_refused(relevance, propagation, diffusion):
    weights = {"relevance": relevance, "propagation": propagation, "diffusion": diffusion}
    if abs(sum(weights.values()) - 1) <= 1e-12:
        assert ScoreSettings(**weights).model_dump(include=set(weights)) == weights
    elif abs(sum(weights.values()) - 1) > 1e-6:
        with pytest.raises(ValidationError, match="instead of 1"):
            ScoreSettings(**weights)


def test_settings_are_frozen_and_take_no_other_name():
    with pytest.raises(ValidationError):
        AskSettings().gate.pairs = 3
    with pytest.raises(ValidationError):
        AskSettings.model_validate({"gates": {}})
