"""Settings know their names and bounds, and say so."""

import pytest

from tasks.ask_settings import SettingsError, load_settings
from tasks.settings import IngestSettings, ReadingSettings


def written(tmp_path, text):
    path = tmp_path / "settings.toml"
    path.write_text(text)
    return path


def test_a_file_changes_what_it_names_and_nothing_else(tmp_path):
    loaded = load_settings(written(tmp_path, "[reading.evolution]\nrounds = 1\n[limits]\nmemory_megabytes = 500\n")).for_ingest()
    assert loaded.reading.evolution.rounds == 1 and loaded.limits.memory_megabytes == 500
    assert loaded.reading.structure == IngestSettings().reading.structure


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[reading.evolution]\nround = 1\n",
            r"no setting reading.evolution.round \(did you mean reading.evolution.rounds\?\)",
        ),
        ("[limits]\nmemory_megabytes = 1\n", "limits.memory_megabytes = 1"),
        ('[work]\nrunner = "dask"\nrunner_address = "nowhere"\n', "work.runner_address = 'nowhere'"),
        ('[work]\nrunner_address = "tcp://user:secret@host:1"\n', "work.runner_address"),
        ("not toml", "is not TOML"),
        ('[reading.evolution]\nmode = "model"\n', 'evolution.mode = "model" needs analysis.by = "model" as well'),
    ],
)
def test_a_wrong_file_is_named_with_the_value_at_fault(tmp_path, text, said):
    with pytest.raises(SettingsError, match=said):
        load_settings(written(tmp_path, text)).for_ingest()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"absent\.toml' cannot be read"):
        load_settings(tmp_path / "absent.toml").for_ingest()


def test_every_setting_has_its_reason_and_its_bounds():
    def check(model):
        for name, field in model.model_fields.items():
            if hasattr(field.annotation, "model_fields"):
                check(field.annotation)
            else:
                assert field.description, name
                assert field.metadata or field.annotation is not float, name

    check(IngestSettings)


def test_how_a_model_would_be_asked_decides_nothing_where_rules_read():
    plain, otherwise = ReadingSettings(), ReadingSettings.model_validate({"analysis": {"model": {"keywords": 3}}})
    assert otherwise.deciding() == plain.deciding() and "model" not in plain.deciding()
    described = ReadingSettings.model_validate({"analysis": {"by": "model"}})
    judged = ReadingSettings.model_validate({"analysis": {"by": "model"}, "evolution": {"mode": "model"}})
    assert len({reading.deciding() for reading in (plain, described, judged)}) == 3
    assert '"nodes_per_call"' in judged.deciding()


def test_who_computes_decides_nothing_of_a_document_and_a_cluster_is_never_short_of_one():
    cluster = IngestSettings.model_validate({"work": {"runner": "dask", "runner_processes": 8}})
    assert cluster.reading.deciding() == IngestSettings().reading.deciding()
    assert (IngestSettings().work.documents_in_work, cluster.work.documents_in_work) == (3, 9)
