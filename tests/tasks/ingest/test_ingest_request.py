"""A request is surveyed without writing anything."""

import re

import pytest
from pydantic import ValidationError

from storage.records.documents import DocumentRecord, DocumentState, EmbedderIdentity
from tasks.finding.files import DiscoveryError
from tasks.ingest.request import IngestRequest, embedder_for, look, read_passwords, survey
from tasks.models.embedding.embedder import default_identity


def test_passwords_are_by_name_or_for_all(tmp_path):
    path = tmp_path / "passwords"
    path.write_text("a.pdf\tsecret with spaces\n\nfor the rest\n")
    assert read_passwords(str(path)) == {"a.pdf": "secret with spaces", "*": "for the rest"}
    assert read_passwords(None) == {}
    path.write_text("a.pdf secret\nb.pdf\tsecret\nc.pdf secret\n")
    with pytest.raises(DiscoveryError, match="lines 1, 3 have no tab"):
        read_passwords(str(path))
    with pytest.raises(DiscoveryError, match="nothing-here"):
        read_passwords(str(tmp_path / "nothing-here"))


def test_a_corpus_keeps_its_embedder_also_in_another_precision():
    wanted = default_identity()
    remembered = EmbedderIdentity(wanted.name, "another precision", wanted.dimension)
    assert embedder_for(remembered) == remembered
    assert embedder_for(None) == wanted
    assert embedder_for(EmbedderIdentity("another model", "float32", 3)) == wanted


def test_files_and_objects_are_found_in_one_request(tmp_path, home, store):
    (tmp_path / "a.txt").write_text("hello")
    store.put("in/b.txt", b"hello again")
    store.put("in/.hidden.txt", b"x")
    request = IngestRequest(paths=(str(tmp_path), store.address("in/")))
    found = survey(request, look(request), (), default_identity(), "")
    assert sorted(work.paths for work in found.plan.work) == [(str(tmp_path / "a.txt"),), (store.address("in/b.txt"),)]
    assert [item.path for item in found.found.skipped] == [store.address("in/.hidden.txt")]


def published(work):
    return DocumentRecord(
        id=work.document_id, version=work.version, paths=work.paths, size_bytes=1, media_type="", title="",
        state=DocumentState.READY, reason="", pages=1, nodes=1, attempt="",
    )  # fmt: skip


def test_an_object_that_is_gone_has_vanished_and_one_that_is_left_out_has_not(home, store):
    for key in ("in/a.txt", "in/b.txt", "in/c.pdf", "input.txt"):
        store.put(key, key.encode())
    whole = IngestRequest(paths=(store.address(),))
    records = [published(work) for work in survey(whole, look(whole), (), default_identity(), "").plan.work]
    store.delete("in/a.txt")
    store.delete("input.txt")
    request = IngestRequest(paths=(store.address("in"),), exclude=("*.pdf",))
    plan = survey(request, look(request), records, default_identity(), "").plan
    assert [item.path for item in plan.vanished] == [store.address("in/a.txt")], "input.txt is not below the address"
    assert plan.nothing_to_do and "flowreader documents remove" in plan.vanished[0].reason


def test_an_object_that_changed_supersedes_and_one_that_moved_is_renamed(home, store):
    store.put("a.txt", b"one")
    store.put("b.txt", b"two")
    request = IngestRequest(paths=(store.address(),))
    first = survey(request, look(request), (), default_identity(), "").plan
    records = [published(work) for work in first.work]
    store.put("a.txt", b"one, changed")
    store.put("c.txt", b"two")
    store.delete("b.txt")
    plan = survey(request, look(request), records, default_identity(), "").plan
    (work,) = plan.work
    assert work.paths == (store.address("a.txt"),) and plan.superseded == {work.document_id: (first.work[0].document_id,)}
    assert [record.paths for record in plan.renamed] == [(store.address("c.txt"),)] and plan.vanished == ()


def test_credentials_in_an_address_are_refused_by_the_form_and_not_repeated():
    with pytest.raises(ValidationError) as refused:
        IngestRequest(paths=("s3://AKIA:hunter2@data/in",))
    assert "hunter2" not in str(refused.value) and "AWS_ACCESS_KEY_ID" in str(refused.value)
    (pattern,) = [IngestRequest.model_json_schema()["properties"]["paths"]["items"]["pattern"]]
    assert re.search(pattern, "s3://data/who@where") and re.search(pattern, "me@home") and not re.search(pattern, "s3://a:b@data")


def test_what_is_named_from_where_one_stands_means_the_same_elsewhere(tmp_path, monkeypatch, home):
    monkeypatch.chdir(tmp_path)
    request = IngestRequest(paths=("in", "s3://data/in", "/elsewhere"), password_file="words")
    assert request.paths == (str(tmp_path / "in"), "s3://data/in", "/elsewhere")
    assert request.password_file == str(tmp_path / "words")
