"""What users turn and what the method is: few settings with bounds and reasons, presets, every wrong value named at once."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from storage.errors import RequestError
from tasks.asking.deciding import deciding_settings
from tasks.asking.request import AskRequest
from tasks.evaluation.arms import EvaluationRequest
from tasks.ingest.request import EvolveRequest, IngestRequest
from tasks.settings.ask import AllSettings, AskSettings, ScoreSettings, load_settings, method_of
from tasks.settings.base import leaves, list_dotted
from tasks.settings.ingest import IngestSettings, ReadingSettings
from tasks.settings.models import ModelSettings
from tasks.settings.presets import DIFFERENCES
from tasks.settings.readers import PRESETS, READER_OF_PRESET

ROOT = Path(__file__).parents[3]
TABLES = {
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
"""The paper's tables 5 and 6."""


def written(tmp_path, text):
    path = tmp_path / "settings.toml"
    path.write_text(text)
    return path


def method(preset):
    return dict(list_dotted(method_of(preset).model_dump(mode="json")))


def test_the_presets_hold_the_papers_tables_and_differ_in_what_is_listed():
    default = method("default")
    for preset in PRESETS:
        assert {name for name in default if default[name] != method(preset)[name]} == set(DIFFERENCES[preset])
    for group, values in TABLES.items():
        for preset in ("default", "flowreader"):
            found = getattr(method_of(preset).ask, group).model_dump()
            assert {name: found[name] for name in values} == values


def test_a_preset_asks_by_the_reader_of_its_paper_unless_another_is_named():
    for preset, reader in READER_OF_PRESET.items():
        assert AskRequest(questions=("?",), preset=preset).reader == reader
    assert AskRequest(questions=("?",), preset="g2", reader="top-k").reader == "top-k"


def test_the_documentation_has_a_row_for_each_difference_of_the_presets_and_no_other():
    default, papers = method("default"), [method(preset) for preset in PRESETS[2:]]
    table = (
        (ROOT / "deployments" / "docs" / "explanation" / "presets.md")
        .read_text("utf-8")
        .partition("| part of the method |")[2]
        .partition("\n\n")[0]
    )
    rows = [[cell.strip() for cell in row.split("|")[1:-2]] for row in table.splitlines()[2:]]
    differ = [name for name in default if any(paper[name] != default[name] for paper in papers)]
    other = {name: ["" if paper[name] == default[name] else paper[name] for paper in papers] for name in differ}
    assert rows == [[f"`{name}`", default[name], *other[name]] for name in differ]


def test_at_most_seventy_settings_each_with_its_reason_and_every_number_with_bounds():
    settings = {name: field for name, field in leaves(AllSettings) if field.description}
    assert 40 <= len(settings) <= 70
    assert all(field.metadata for field in settings.values() if field.annotation in {int, float})
    assert not settings.keys() & {name for own in DIFFERENCES.values() for name in own}, "what a preset sets no user turns"


def test_a_file_changes_what_it_names_and_nothing_else(tmp_path):
    loaded = load_settings(written(tmp_path, "[limits]\nmemory_megabytes = 500\n[ask.selection]\nread = 3\n"))
    assert loaded.limits.memory_megabytes == 500 and loaded.ask.selection.read == 3
    assert loaded.reading == ReadingSettings() and loaded.ask.gate == AskSettings().gate
    assert type(loaded.for_ingest()) is IngestSettings and loaded.for_ingest().limits.memory_megabytes == 500
    paper = load_settings(tmp_path / "settings.toml", "paper")
    assert paper.ask.selection.read == 3 and paper.ask.routing.network == "paper"


def test_a_question_has_two_minutes_and_one_that_nobody_waits_for_as_long_as_its_settings_say(tmp_path):
    assert AskSettings().seconds == AskRequest(questions=("?",)).settings.seconds == load_settings(None).ask.seconds == 120
    assert load_settings(None, hurry=False).ask.seconds is EvaluationRequest(what="probe").settings.ask.seconds is None
    named = written(tmp_path, "[ask]\nseconds = 7\n")
    assert load_settings(named).ask.seconds == load_settings(named, hurry=False).ask.seconds == 7
    assert EvaluationRequest.model_validate({"what": "probe", "settings": {"ask": {"seconds": 7}}}).settings.ask.seconds == 7
    unhurried = AskRequest.model_validate({"questions": ["?"], "settings": {"seconds": None}})
    assert unhurried.deadline(10.0) is None and AskRequest(questions=("?",)).deadline(10.0) == 130.0
    assert deciding_settings(unhurried.settings) == deciding_settings(AskSettings())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[reading.evolution]\nround = 1\n", r"no setting reading.evolution.round \(did you mean reading.evolution.rounds\?\)"),
        ("[reading.evolution]\nrounds = 1\n", r"reading.evolution.rounds is part of the method and no setting; take another"),
        (
            "[reading.evolution]\nrounds = 1\n[ask.score]\ndamping = 0.5\n",
            r"reading.evolution.rounds, ask.score.damping are part of the method and no settings; take another",
        ),
        ("[limits]\nmemory_megabytes = 1\n", "limits.memory_megabytes = 1"),
        ("[limits]\nmemory_megabytes = nan\n", "limits.memory_megabytes = nan"),
        ("limits = 1\n", "limits = 1"),
        ("[limits.memory_megabytes]\nx = 1\n", "limits.memory_megabytes = "),
        ('[work]\nrunner = "dask"\nrunner_address = "nowhere"\n', "work.runner_address = 'nowhere'"),
        ('[work]\nrunner_address = "tcp://user:secret@host:1"\n', "work.runner_address"),
        ("not toml", "is not TOML"),
        ('[reading.evolution]\nmode = "model"\n', 'evolution.mode = "model" needs analysis.by = "model" as well'),
    ],
)
def test_a_wrong_file_is_named_with_the_value_at_fault(tmp_path, text, message):
    with pytest.raises(RequestError, match=message):
        load_settings(written(tmp_path, text))


def test_every_wrong_field_is_named_at_once(tmp_path):
    text = '[ask.selection]\nread = 0\n[ask.reading]\nwords = "few"\nsinkz = 3\n[asks]\nx = 1\n'
    with pytest.raises(RequestError) as raised:
        load_settings(written(tmp_path, text))
    message = str(raised.value)
    assert "ask.selection.read = 0" in message and "ask.reading.words = 'few'" in message
    assert "there is no setting ask.reading.sinkz" in message and "there is no setting asks" in message
    assert message.endswith("`flowreader settings` lists names and bounds") and "\n" not in message


def test_a_file_of_weights_lies_where_the_settings_do(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    loaded = load_settings(written(tmp_path, '[ask]\nweights = "mine.json"\n'))
    assert loaded.ask.weights == str(tmp_path / "mine.json") and AskSettings().weights == ""


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RequestError, match=r"absent\.toml' cannot be read"):
        load_settings(tmp_path / "absent.toml")


REQUESTS = {
    AskRequest: ({"questions": ["why?"]}, {"selection": {"read": 3}}, {"score": {"damping": 0.5}}),
    IngestRequest: ({"paths": ["/in"]}, {"limits": {"memory_megabytes": 500}}, {"reading": {"evolution": {"rounds": 1}}}),
    EvolveRequest: ({}, {"limits": {"memory_megabytes": 500}}, {"reading": {"evolution": {"rounds": 1}}}),
    EvaluationRequest: ({}, {"ask": {"selection": {"read": 3}}}, {"ask": {"score": {"damping": 0.5}}}),
}


@pytest.mark.parametrize("form", REQUESTS)
def test_a_form_turns_settings_over_its_preset_and_never_the_method(form):
    asked, settings, method = REQUESTS[form]
    request = form.model_validate({**asked, "preset": "paper", "settings": settings})
    plain = form.model_validate({**asked, "preset": "paper"})
    assert request.settings != plain.settings != form.model_validate(asked).settings
    assert form.model_validate_json(request.model_dump_json()) == request, "what Prefect keeps of it is read back"
    with pytest.raises(ValidationError, match="is part of the method"):
        form.model_validate({**asked, "settings": method})
    shown = str(form.model_json_schema())
    assert "memory_megabytes" in shown or "'words'" in shown
    assert "damping" not in shown and "merge_words" not in shown, "a form shows what users turn"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_the_weights_of_the_score_sum_to_one_or_are_refused(relevance, propagation, diffusion):
    weights = {"relevance": relevance, "propagation": propagation, "diffusion": diffusion}
    if abs(sum(weights.values()) - 1) <= 1e-12:
        assert ScoreSettings(**weights).model_dump(include=set(weights)) == weights
    elif abs(sum(weights.values()) - 1) > 1e-6:
        with pytest.raises(ValidationError, match="instead of 1"):
            ScoreSettings(**weights)


@pytest.mark.parametrize(
    ("change", "digest"),
    [
        ({}, "10b551833034f152898df7ae639089d8d81b3dfedd743f8af8bdf126e89b9bb7"),
        ({"ocr": {"enabled": False}}, "414fe919716688e50699782e817b63f213eee4efadae5b7b19428a6a91b96c47"),
        (
            {"parse": {"tier": "basic"}, "ocr": {"page_dpi": 144}},
            "77e3816ded7d61fc6192687c867cfd21a5b290ebac95ed3761bfc8c479c56841",
        ),
        ({"analysis": {"by": "model"}}, "f391d5273e6cdb9dace12329ed7ecf2265b5107834d0e0d1d0e103451a47b2d0"),
        (
            {"analysis": {"by": "model"}, "evolution": {"mode": "model"}},
            "dab9e0ff86ceac6e7d303469b5ee4dea5fe1d913c5992d523f62595f0f399bec",
        ),
        ({"embedding": {"text": "paper"}}, "2e28963de73bd85891b88c5f4044f3dd003676fc733a03f4535ca37f01203efc"),
    ],
)
def test_what_decides_a_documents_version_is_written_as_ever(change, digest):
    """Every node's id hangs on it: another order or another name would read all documents of all corpora again."""
    assert hashlib.sha256(ReadingSettings.model_validate(change).deciding().encode()).hexdigest() == digest


def test_how_a_model_would_be_asked_decides_nothing_where_rules_read():
    def deciding(**analysis):
        return ReadingSettings.model_validate({"analysis": analysis}).deciding()

    assert deciding(model={"keywords": 3}, map_model={"entries_per_call": 4}) == deciding()
    assert deciding(by="model", map_model={"entries_per_call": 4}) == deciding(by="model")
    mapped = [deciding(map="model"), deciding(map="model", map_model={"entries_per_call": 4}), deciding(map="model", by="model")]
    assert len({*mapped, deciding(), deciding(by="model")}) == 5
    assert deciding(pages_model={"dpi": 72}) == deciding()
    paged = [deciding(pages="model"), deciding(pages="model", pages_model={"dpi": 72}), deciding(pages="model", map="model")]
    assert len({*paged, *mapped, deciding()}) == 7


def test_who_computes_decides_nothing_of_a_document_and_a_cluster_is_never_short_of_one():
    cluster = IngestSettings.model_validate({"work": {"runner": "dask", "runner_processes": 8}})
    assert cluster.reading.deciding() == IngestSettings().reading.deciding()
    assert (IngestSettings().work.documents_in_work, cluster.work.documents_in_work) == (3, 9)


def test_the_defaults_stand_and_nothing_is_limited_unasked():
    settings = ModelSettings()
    assert settings.temperature == 0 and settings.limits.in_flight == 64
    assert (settings.budget.calls, settings.budget.tokens, settings.budget.money) == (None, None, None)
    assert settings.deadlines.models_seconds <= 5 and settings.deadlines.stop_seconds < 10


def test_settings_are_hashable_because_runs_share_what_is_opened_for_them():
    assert hash(ModelSettings()) == hash(ModelSettings()) and {ModelSettings(): 1}[ModelSettings()] == 1
