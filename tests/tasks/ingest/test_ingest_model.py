"""The model of an ingest: none where rules read; what decides its words decides the document's version."""

import pytest

from storage.records.documents import EmbedderIdentity
from tasks.finding.plan import document_version
from tasks.ingest.model import reader_identity, reading_model
from tasks.models.chat.errors import ChatEndedError
from tasks.models.endpoints import EndpointError
from tasks.prompts.prompt import Prompt, load_prompt
from tasks.settings.ingest import IngestSettings
from tests.chat_server import chat_server

EMBEDDER = EmbedderIdentity("tiny", "fp32", 4)
BY_RULES = IngestSettings()


def by_model(**more):
    return IngestSettings.model_validate({"reading": {"analysis": {"by": "model"}, **more.pop("reading", {})}, **more})


def test_where_rules_read_there_is_no_model_and_no_identity(monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    assert reader_identity(BY_RULES) == ""
    with reading_model(BY_RULES, lambda _call: None) as model:
        assert model is None


def test_without_a_server_the_error_names_the_setting_and_the_variable():
    with pytest.raises(EndpointError, match=r'by = "model"\), but FLOWREADER_CHAT_BASE_URL is not set'):
        reader_identity(by_model())
    with pytest.raises(EndpointError), reading_model(by_model(), lambda _call: None):
        pass


def test_a_named_model_needs_no_server_to_know_what_is_unchanged(monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("FLOWREADER_CHAT_MODEL", "scripted")
    assert reader_identity(by_model()) == reader_identity(by_model(), "scripted")
    with pytest.raises(ChatEndedError), reading_model(by_model(), lambda _call: None):
        pass


def test_an_unnamed_model_is_the_one_that_the_server_names(monkeypatch, home):
    with chat_server(lambda _request: {}) as server:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", server.base_url)
        assert reader_identity(by_model()) == reader_identity(by_model(), "scripted")
        with reading_model(by_model(), lambda _call: None) as model:
            assert model.name == "scripted"
    assert [kept.name for kept in home.iterdir()] == ["abilities"]


def test_the_model_its_prompts_and_how_it_is_asked_decide(monkeypatch):
    usual = reader_identity(by_model(), "one")
    evolving = by_model(reading={"evolution": {"mode": "model"}})
    assert reader_identity(by_model(), "two") != usual
    assert reader_identity(by_model(models={"temperature": 0.5}), "one") != usual
    assert reader_identity(by_model(models={"pictures": {"pixels": 4000}}), "one") != usual
    assert reader_identity(by_model(models={"limits": {"in_flight": 3}, "budget": {"calls": 1}}), "one") == usual
    assert reader_identity(evolving, "one") != usual
    before = reader_identity(evolving, "one")
    monkeypatch.setattr("tasks.ingest.model.load_prompt", lambda name: changed(name, "evolve"))
    assert reader_identity(evolving, "one") != before and reader_identity(by_model(), "one") == usual
    monkeypatch.setattr("tasks.ingest.model.load_prompt", lambda name: changed(name, "evolve_enriched"))
    enriched = by_model(reading={"evolution": {"mode": "model", "model": {"summary": "enriched"}}})
    assert reader_identity(evolving, "one") == before != reader_identity(enriched, "one")


def test_prompts_of_the_map_decide_only_where_a_model_writes_it(monkeypatch):
    mapped = IngestSettings.model_validate({"reading": {"analysis": {"map": "model"}}})
    with pytest.raises(EndpointError, match=r'map = "model"\), but FLOWREADER_CHAT_BASE_URL is not set'):
        reader_identity(mapped)
    usual, before = reader_identity(by_model(), "one"), reader_identity(mapped, "one")
    monkeypatch.setattr("tasks.ingest.model.load_prompt", lambda name: changed(name, "section_notes"))
    assert reader_identity(mapped, "one") not in {before, usual} and reader_identity(by_model(), "one") == usual
    monkeypatch.setattr("tasks.ingest.model.load_prompt", lambda name: changed(name, "analyze_text"))
    assert reader_identity(mapped, "one") == before, "no node is described by it"
    paged = IngestSettings.model_validate({"reading": {"analysis": {"pages": "model"}}})
    before = reader_identity(paged, "one")
    monkeypatch.setattr("tasks.ingest.model.load_prompt", lambda name: changed(name, "read_page"))
    assert reader_identity(paged, "one") != before and reader_identity(mapped, "one") != before


def changed(name, which):
    prompt = load_prompt(name)
    return Prompt(name, prompt.text, "0" * 64) if name == which else prompt


def test_the_version_follows_the_model_only_where_one_reads():
    def version(settings, reader):
        return document_version("d" * 64, settings, EMBEDDER, reader)

    assert version(by_model(), "one") != version(by_model(), "two")
    asked_otherwise = {"analysis": {"model": {"keywords": 3}}, "evolution": {"model": {"keywords": 3}}}
    assert version(IngestSettings.model_validate({"reading": asked_otherwise}), "") == version(BY_RULES, "")
    assert version(by_model(reading={"evolution": {"model": {"keywords": 3}}}), "one") == version(by_model(), "one")
    described = {"analysis": {"by": "model", "model": {"keywords": 3}}}
    assert version(IngestSettings.model_validate({"reading": described}), "one") != version(by_model(), "one")
