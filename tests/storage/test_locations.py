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
        locations.evaluations_file,
        locations.evaluations_folder,
        locations.metrics_folder,
        locations.prefect_folder,
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


def test_without_a_store_a_corpus_is_of_this_machine_alone(monkeypatch):
    monkeypatch.delenv("FLOWREADER_STORE", raising=False)
    assert (locations.shared_store(), corpus_location("a").store, corpus_location("a").lance_store) == (None, None, None)


@pytest.mark.parametrize(
    ("named", "prefix"), [("s3://my-bucket", ""), ("s3://my-bucket/", ""), ("s3://my-bucket/a/b.c/", "a/b.c/")]
)
def test_a_corpus_has_its_place_in_the_store(monkeypatch, named, prefix):
    monkeypatch.setenv("FLOWREADER_STORE", named)
    place = corpus_location("my-corpus.2")
    assert place.store.uri == f"s3://my-bucket/{prefix}corpora/my-corpus.2"
    assert place.lance_store.uri == f"{place.store.uri}/lance"
    assert locations.shared_store().uri == named.rstrip("/")
    notes = (place.store_note, place.catalog_note, place.fetch_lock)
    assert {note.parent for note in notes} == {place.folder}


@pytest.mark.parametrize(
    "named", ["bucket", "gs://bucket", "s3://", "s3://B", "s3://bucket/../x", "s3://bucket//x", "s3://bucket//"]
)
def test_an_odd_store_is_refused(monkeypatch, named):
    monkeypatch.setenv("FLOWREADER_STORE", named)
    with pytest.raises(LocationError, match="write it as s3://BUCKET"):
        corpus_location("a")


@pytest.mark.parametrize(
    "named",
    ["s3://key:hunter2@bucket/", "s3://key:hunt/hunter2@bucket/x", "s3://bucket/hunter2@x", "S3://key:hunter2@bucket",
     "https://key:hunter2@host/bucket", "key:hunter2@bucket", "s3://key:\nhunter2@bucket"],
)  # fmt: skip
def test_credentials_in_a_store_are_refused_and_not_repeated(monkeypatch, named):
    monkeypatch.setenv("FLOWREADER_STORE", named)
    with pytest.raises(LocationError, match=r"FLOWREADER_STORE holds a user or a password; .*AWS_ACCESS_KEY_ID") as refused:
        corpus_location("a")
    assert "hunter2" not in str(refused.value)
