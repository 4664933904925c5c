"""A request is surveyed without writing anything; what an earlier run finished is found by the names in the catalog alone."""

import json
import re
from dataclasses import replace

import pytest
from pydantic import ValidationError

from storage.artifacts import hash_bytes
from storage.catalog.current import snapshot_path
from storage.corpus.snapshot import open_for_reading
from storage.errors import RequestError
from storage.locations import corpus_location
from storage.records.documents import DocumentRecord, DocumentState, EmbedderIdentity
from storage.runs.log import RunLog
from tasks.ingest.remembered import is_remembered, recall_graph, recall_outcomes, work_of
from tasks.ingest.request import IngestRequest, embedder_for, look, read_passwords, survey, survey_for
from tasks.lineage.writing import working_at, workplace_of
from tasks.models.embedding.embedder import default_identity, second_identity
from tasks.settings.ask import AllSettings
from tasks.settings.base import change_settings
from tasks.settings.ingest import EmbeddingSettings
from tests.program import CHEAP
from tests.tasks.models.embedding.tiny_bert import write_tiny_bert


def test_passwords_are_by_name_or_for_all(tmp_path):
    path = tmp_path / "passwords"
    path.write_text("a.pdf\tsecret with spaces\n\nfor the rest\n")
    assert read_passwords(str(path)) == {"a.pdf": "secret with spaces", "*": "for the rest"}
    assert read_passwords(None) == {}
    path.write_text("a.pdf secret\nb.pdf\tsecret\nc.pdf secret\n")
    with pytest.raises(RequestError, match="lines 1, 3 have no tab"):
        read_passwords(str(path))
    with pytest.raises(RequestError, match="nothing-here"):
        read_passwords(str(tmp_path / "nothing-here"))


PLAIN = EmbeddingSettings()


def test_a_corpus_keeps_its_embedder_also_in_another_precision():
    wanted = default_identity()
    remembered = EmbedderIdentity(wanted.name, "another precision", wanted.dimension)
    assert embedder_for(remembered, PLAIN) == remembered
    assert embedder_for(None, PLAIN) == wanted
    assert embedder_for(remembered, EmbeddingSettings(text="paper")) == replace(remembered, texts="paper") != remembered
    assert embedder_for(EmbedderIdentity("another model", "float32", 3), PLAIN) == wanted


@pytest.mark.torture
def test_a_corpus_keeps_its_second_embedder_unless_another_is_named(tmp_path):
    folder = str(write_tiny_bert(tmp_path / "tiny-bert", seed=1))
    both = embedder_for(None, EmbeddingSettings(second=folder))
    assert both == replace(default_identity(), second=second_identity(folder))
    assert embedder_for(both, PLAIN) == both
    elsewhere = str(write_tiny_bert(tmp_path / "elsewhere" / "tiny-bert", seed=1))
    remembered = replace(both, second=replace(both.second, precision="another"))
    assert embedder_for(remembered, EmbeddingSettings(second=elsewhere)) == remembered
    assert embedder_for(remembered, EmbeddingSettings(second=elsewhere)).second.named == elsewhere
    other = str(write_tiny_bert(tmp_path / "other" / "tiny-bert", seed=2))
    assert embedder_for(both, EmbeddingSettings(second=other)).second == second_identity(other) != both.second


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


def request_for(folder, **settings):
    named = {name.replace("__", "."): value for name, value in settings.items()}
    return IngestRequest(paths=(str(folder),), corpus="small", settings=change_settings(AllSettings(), named).for_ingest())


def files_below(folder):
    return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*")) if path.is_file()}


def names(found):
    return sorted(work.name for work in found.plan.work)


def test_of_a_corpus_that_is_not_there_everything_is_to_be_read_and_none_is_made(home, cheap_documents):
    found = survey_for(request_for(cheap_documents))
    assert names(found) == sorted(CHEAP) and len(found.found.files) == len(CHEAP)
    assert not home.exists()


def test_what_is_read_in_is_nothing_to_do_and_what_is_new_is(in_library, cheap_documents, tmp_path):
    before = files_below(in_library / "corpora")
    assert survey_for(request_for(cheap_documents)).plan.nothing_to_do
    (tmp_path / "new.html").write_text("<p>The tide turns twice a day.</p>")
    found = survey_for(IngestRequest(paths=(str(cheap_documents), str(tmp_path / "new.html")), corpus="small"))
    assert names(found) == ["new.html"] and len(found.plan.unchanged) == len(CHEAP)
    assert files_below(in_library / "corpora").keys() == before.keys()


def test_other_settings_of_reading_make_all_of_it_work_and_settings_of_asking_nothing(in_library, cheap_documents):
    assert names(survey_for(request_for(cheap_documents, reading__evolution__rounds=0))) == sorted(CHEAP)
    assert survey_for(request_for(cheap_documents, ask__selection__mixing=0.0)).plan.nothing_to_do


@pytest.mark.parametrize("part", ["current", "snapshot", "catalog"])
def test_of_a_damaged_corpus_everything_is_to_be_read_and_the_damage_stays_for_the_run_to_mend(own_home, cheap_documents, part):
    location = corpus_location("small")
    current = json.loads(location.current.read_bytes())
    damaged = location.current if part == "current" else snapshot_path(location, current["snapshot"])
    damaged.write_bytes(b"no such thing")
    if part == "catalog":
        # What was written is what was meant, and yet no catalog.
        location.current.write_text(json.dumps(current | {"sha256": hash_bytes(b"no such thing")}))
    assert names(survey_for(request_for(cheap_documents))) == sorted(CHEAP)
    assert damaged.read_bytes() == b"no such thing"


@pytest.fixture
def place(in_library, tmp_path):
    return workplace_of("run", RunLog(tmp_path / "run.jsonl"))


@pytest.fixture
def records(in_library):
    with open_for_reading(corpus_location("small")) as snapshot:
        return snapshot.documents()


def test_every_published_document_is_remembered_under_its_version_alone(records, place):
    work = work_of(records[0])
    assert is_remembered(work, place.memo) and not is_remembered(replace(work, version="0" * 64), place.memo)
    with working_at(place):
        graph = recall_graph(work)
        assert graph is not None and (graph.document_id, graph.version) == (records[0].id, records[0].version)
        assert recall_graph(replace(work, version="0" * 64)) is None


def test_documents_come_a_few_at_a_time_and_what_is_forgotten_is_left_out(records, place):
    forgotten = [replace(records[0], version="0" * 64), *records[1:]]
    with working_at(place):
        batches = list(recall_outcomes(forgotten, at_once=2))
    assert [len(batch) for batch in batches] == [1, 2]
    assert {outcome.record.id for batch in batches for outcome in batch} == {record.id for record in records[1:]}
    assert len(records) == len(CHEAP)
