"""Ingest by a model as the tests run it: its settings, a run without publishing, the command, what is kept of replies."""

import asyncio

from flows.ingest import read_document
from storage.artifacts import ArtifactStore
from storage.locations import artifacts_folder, calls_folder, corpus_location
from storage.runs.replies import CallCache
from tasks.ingest.keys import IngestTools
from tasks.ingest.model import reader_identity, reading_model
from tasks.ingest.request import IngestRequest, look, survey
from tasks.lineage.writing import lineage_of_run, working_at, writing_calls
from tasks.models.embedding.embedder import default_identity, open_embedder
from tasks.settings.ask import AllSettings, load_settings
from tasks.settings.base import change_settings
from tests.program import flowreader

SETTINGS = """
[reading.analysis]
by = "model"
[reading.evolution]
mode = "model"
[models.retries]
attempts = 2
down_seconds = 0
"""
METHOD = {
    "reading.analysis.model.nodes_per_call": 4,
    "reading.evolution.rounds": 2,
    "reading.evolution.model.nodes_per_call": 4,
    "models.retries.first_wait_seconds": 0.01,
    "models.retries.longest_wait_seconds": 0.02,
    "models.retries.failures_until_pause": 2,
}
"""A method of many small calls that are soon repeated."""
MANUAL = "maintenance_manual.docx"
MAPPED = 'map = "model"\n[models.retries]\nattempts = 2\ndown_seconds = 0\n'


def by_method(monkeypatch, method):
    monkeypatch.setattr("tasks.settings.ask.method_of", lambda _preset: change_settings(AllSettings(), method))


def read(folder, published=(), asked=IngestRequest):
    """Read every document of the folder as the flow does, one after the other, without publishing; return how each ended."""
    settings, location = load_settings(folder.parent / "model.toml").for_ingest(), corpus_location("default")
    told = {"parameters": {}, "settings": {}, "run_id": "", "snapshot": lambda: 0}
    with lineage_of_run(location, **told) as place, working_at(place), reading_model(settings, writing_calls(place)) as chat:
        embedder = open_embedder(default_identity())
        tools = IngestTools(settings, ArtifactStore(artifacts_folder()), embedder, chat)
        request = asked(paths=(str(folder),), settings=settings)
        found = survey(request, look(request), published, embedder.identity, reader_identity(settings, chat.name))
        return [asyncio.run(read_document(work, tools=tools)) for work in found.plan.work]


def kept():
    cache = CallCache(calls_folder())
    return {subject: len(cache.recall(subject)) for subject in cache.subjects()}


def command(folder, *arguments, home, check, **more):
    settings = folder.parent / "model.toml"
    return flowreader("ingest", folder, "--settings", settings, *arguments, home=home, check=check, **more)


def documents(home):
    return flowreader("documents", "export", home=home, check=0).stdout
