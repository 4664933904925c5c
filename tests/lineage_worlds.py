"""Runs as they leave their files, for tests of lineage: ingests of small documents, and questions with their steps and calls."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.locations import CorpusLocation
from storage.records.answers import Answer
from storage.records.documents import DocumentGraph, identify
from storage.records.steps import StepRecord
from storage.runs.answer_json import answer_json
from storage.runs.log import ASKING, RunLog
from tasks.parsing.parse import parse_inputs
from tasks.prompts.prompt import load_prompt
from tasks.settings.ask import AskSettings
from tasks.settings.ingest import IngestSettings
from tasks.views.runs import LineageView, view_lineage
from tests.storage import worlds

SETTINGS = IngestSettings()
INGEST = "1f2e3d4c-0000-4000-8000-000000000001"


def small_corpus(folder: Path, *names: str) -> CorpusLocation:
    """A corpus of these documents, `report` and `paper` where none are named, that nobody asked or remembers."""
    place = worlds.corpus_in(folder)
    with open_for_writing(place, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, *map(worlds.graph, names or ("report", "paper")))
        corpus.index()
    return place


def walked(location: CorpusLocation, asked: str) -> LineageView:
    with open_for_reading(location) as snapshot:
        return view_lineage(snapshot, asked)


def step(run_id: str, name: str, subject: str, key: str = "k", **more: Any) -> StepRecord:
    told = {"started": "2026-02-03T04:05:06+00:00", "seconds": 0.5, "attempts": 1, "cache_hit": False, "outputs": {"0": "a" * 64}}
    return StepRecord(run_id=run_id, step=name, version="1", key=key, subject=subject, **(told | more))


def call(subject: str, prompt: str = "worker", **more: Any) -> dict[str, Any]:
    told = {"purpose": prompt, "subject": subject, "item": "node 3 of secret.pdf", "model": "m", "key": "k", "input_tokens": 100}
    told |= {"prompt_hash": load_prompt(prompt).hash, "output_tokens": 20, "cost": 0.5, "seconds": 1.5, "attempts": 1}
    return told | {"outcome": "ok", "error": ""} | more


def ingest_run(
    location: CorpusLocation, *graphs: DocumentGraph, run_id: str = INGEST, ended: bool = True, **parameters: Any
) -> Path:
    """A run that parsed, described and evolved the documents, with the keys that these steps give."""
    log, reading = RunLog(location.runs / f"{run_id}.jsonl"), SETTINGS.reading
    asked = {"paths": ["/files"], "corpus": location.name} | parameters
    log.begin(run_id=run_id, parameters=asked, settings=SETTINGS.model_dump(mode="json"), code_version="0.1.0")
    for graph in graphs:
        name = graph.document_id
        log.step(step(run_id, "parse", name, identify("parse", "1", parse_inputs(name, reading.parse, reading.ocr)), attempts=2))
        log.call(call(name, "analyze_text"))
        log.step(step(run_id, "evolve", name, identify("evolve", "1", graph.version), started="2026-02-03T04:05:09+00:00"))
    if ended:
        log.step(step(run_id, "publish", "corpus"))
        log.end(run_id=run_id, outcome="ended", snapshot=3)
    return log.path


def asking_run(location: CorpusLocation, name: str, answers: Sequence[Answer], ended: bool = True, **parameters: Any) -> Path:
    """A run that gave the answers."""
    run_id = ASKING + name
    log = RunLog(location.runs / f"{run_id}.jsonl")
    asked = {"questions": [answer.question for answer in answers], "documents": [], "reader": "flow"} | parameters
    log.begin(run_id=run_id, parameters=asked, settings=AskSettings().model_dump(mode="json"), code_version="0.1.0")
    for answer in answers:
        log.step(step(run_id, "route", answer.answer_id))
        log.call(call("c" * 64) | {"answer_id": answer.answer_id})
        log.answer(answer_json(answer))
        log.step(step(run_id, "record", answer.answer_id))
    if ended:
        log.end(run_id=run_id, outcome="ended", snapshot=3)
    return log.path
