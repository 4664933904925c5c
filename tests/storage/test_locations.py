from pathlib import Path

import pytest

from storage import locations
from storage.locations import LocationError, corpus_location


def test_the_home_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    assert locations.home() == tmp_path
    folders = (
        locations.artifacts_folder,
        locations.steps_folder,
        locations.mirrors_folder,
        locations.pictures_folder,
        locations.abilities_folder,
        locations.evaluations_file,
        locations.evaluations_folder,
        locations.prefect_folder,
        locations.reports_folder,
    )
    assert {folder().parent for folder in folders} == {tmp_path}


def test_without_the_environment_the_home_is_the_users(monkeypatch):
    monkeypatch.delenv("FLOWREADER_HOME", raising=False)
    assert locations.home() == Path.home() / ".local" / "share" / "flowreader"


def test_prefect_keeps_its_own_folder_where_it_has_one(monkeypatch, tmp_path):
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "own"))
    assert locations.prefect_folder() == tmp_path / "own"


def test_everything_of_a_corpus_lies_in_its_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path))
    place = corpus_location("my-corpus.2")
    assert place.folder == tmp_path / "corpora" / "my-corpus.2"
    parts = (place.lance, place.catalog, place.snapshots, place.current, place.lock, place.runs, place.evaluations)
    assert {part.parent for part in parts} == {place.folder} and place.home == locations.home()


@pytest.mark.parametrize("name", ["", "..", "a/b", "/etc", ".hidden", "a\n", "ä", "x" * 65])
def test_a_name_that_could_leave_the_folder_is_refused(name):
    with pytest.raises(LocationError, match="not usable"):
        corpus_location(name)
