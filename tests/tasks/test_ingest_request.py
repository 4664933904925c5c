"""A request is surveyed without writing anything."""

import pytest

from storage.records import EmbedderIdentity
from tasks.discovery import DiscoveryError
from tasks.ingest_request import IngestRequest, embedder_for, read_passwords, survey
from tasks.models.embedder import default_identity


def test_a_survey_finds_and_plans(tmp_path, home):
    (tmp_path / "a.txt").write_text("hello")
    found = survey(IngestRequest(paths=(str(tmp_path),)), (), default_identity(), "")
    assert [work.name for work in found.plan.work] == ["a.txt"]
    assert not home.exists()


def test_passwords_are_by_name_or_for_all(tmp_path):
    path = tmp_path / "passwords"
    path.write_text("a.pdf\tsecret with spaces\n\nfor the rest\n")
    assert read_passwords(str(path)) == {"a.pdf": "secret with spaces", "*": "for the rest"}
    assert read_passwords(None) == {}


def test_a_password_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(DiscoveryError, match="nothing-here"):
        read_passwords(str(tmp_path / "nothing-here"))


def test_a_corpus_keeps_its_embedder_also_in_another_precision():
    wanted = default_identity()
    remembered = EmbedderIdentity(wanted.name, "another precision", wanted.dimension)
    assert embedder_for(remembered) == remembered
    assert embedder_for(None) == wanted
    assert embedder_for(EmbedderIdentity("another model", "float32", 3)) == wanted


def test_lines_of_the_password_file_that_forgot_the_tab_are_named(tmp_path):
    path = tmp_path / "passwords"
    path.write_text("a.pdf secret\nb.pdf\tsecret\nc.pdf secret\n")
    with pytest.raises(DiscoveryError, match="lines 1, 3 have no tab"):
        read_passwords(str(path))
