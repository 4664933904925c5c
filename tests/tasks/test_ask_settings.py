"""The settings of a question: the paper's tables, bounds and reasons for all, every wrong value named at once."""

import annotated_types
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks.algorithms.scores import personalized_pagerank, propagate
from tasks.ask_settings import AllSettings, AskSettings, RoutingSettings, ScoreSettings
from tasks.model_settings import ModelSettings
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
    groups = {part: stage.annotation for part, stage in AskSettings.model_fields.items() if stage.annotation is not ModelSettings}
    groups["reading.model"] = groups["reading"].model_fields["model"].annotation
    for part, group in groups.items():
        for name, field in group.model_fields.items():
            assert field.description or f"{part}.{name}" in groups, f"{part}.{name}"
            if field.annotation in {int, float}:
                bounds = {type(bound).__name__ for bound in field.metadata}
                assert bounds & {"Ge", "Gt"} and bounds & {"Le", "Lt"}, f"{part}.{name}"


def test_rules_read_unless_a_model_is_asked_for_and_its_calls_are_the_papers():
    reading = AskSettings().reading
    assert reading.by == "rules" and (reading.model.compared_pairs, reading.model.rating_calls) == (10, 4)
    assert AskSettings().models.temperature == 0.0


def test_one_call_cannot_rate_both_bridges_and_steps(tmp_path):
    with pytest.raises(SettingsError, match=r"ask\.reading\.model\.rating_calls = 1"):
        load_settings(written(tmp_path, "[ask.reading.model]\nrating_calls = 1\n"), AllSettings)


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


def within(name):
    """Draw what the bounds of a setting of the score allow."""
    field = ScoreSettings.model_fields[name]
    low = next(bound for bound in field.metadata if isinstance(bound, annotated_types.Ge | annotated_types.Gt))
    (high,) = (bound.le for bound in field.metadata if isinstance(bound, annotated_types.Le))
    if isinstance(low, annotated_types.Gt):
        return st.floats(low.gt, high, exclude_min=True)
    return st.integers(low.ge, high) if field.annotation is int else st.floats(low.ge, high)


ITERATED = ("anchor", "propagation_tolerance", "damping", "diffusion_tolerance", "steps")
SLOWEST = {"anchor": 0.95, "propagation_tolerance": 1e-9, "damping": 0.95, "diffusion_tolerance": 1e-9, "steps": 500}


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 6))
    place = st.integers(0, count - 1)
    arcs = np.array(draw(st.lists(st.tuples(place, place), max_size=12)), dtype=np.int64).reshape(-1, 2)
    number = st.sampled_from([0.0, 1e-6, 0.5, 1.0])
    weights, relevance = (draw(st.lists(number, min_size=n, max_size=n)) for n in (len(arcs), count))
    return np.array(relevance, dtype=float), arcs, np.array(weights, dtype=float)


LOOP = np.array([1.0, 0.0, 0.0]), np.array([[0, 1], [1, 0], [0, 2], [2, 0]]), np.ones(4)


@given(st.fixed_dictionaries({name: within(name) for name in ITERATED}), graphs(), st.booleans())
@example(SLOWEST, LOOP, False)
def test_no_settings_within_their_bounds_leave_the_score_unsettled(values, graph, keep_unreached):
    settings, (relevance, arcs, weights) = ScoreSettings(**values), graph
    drawn = {"tails": arcs[:, 0], "heads": arcs[:, 1], "weights": weights, "max_steps": settings.steps}
    phi = propagate(
        **drawn,
        relevance=relevance,
        anchor=settings.anchor,
        tolerance=settings.propagation_tolerance,
        keep_unreached=keep_unreached,
    )
    psi = personalized_pagerank(
        **drawn,
        nodes=len(relevance),
        seeds=np.flatnonzero(relevance),
        seed_weights=relevance[relevance > 0],
        damping=settings.damping,
        tolerance=settings.diffusion_tolerance,
    )
    assert np.isfinite(phi).all() and np.isfinite(psi).all()


@pytest.mark.parametrize("name", ["propagation_tolerance", "diffusion_tolerance", "steps"])
def test_too_few_steps_and_too_small_tolerances_are_refused_when_the_file_is_read(tmp_path, name):
    with pytest.raises(SettingsError, match=rf"ask\.score\.{name} = 1"):
        load_settings(written(tmp_path, f"[ask.score]\n{name} = {1 if name == 'steps' else 1e-12}\n"), AllSettings)


@pytest.mark.parametrize("name", ["minimum_similarity", "visual_bonus", "dense_percentile", "sinks", "demand"])
def test_a_setting_that_prizes_need_for_the_saturation_alone_says_so(name):
    assert "prizes: only" in RoutingSettings.model_fields[name].description
