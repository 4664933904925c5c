"""Small answers for tests: what they cite has words that are found nowhere else."""

import hashlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from storage.locations import CorpusLocation
from storage.records.answers import (
    Answer,
    AnswerStatus,
    Citation,
    EvidencePath,
    GateReport,
    GraphEdit,
    NamedDocument,
    PagePlace,
    RankedPage,
    Usage,
)
from storage.records.documents import Modality, identify
from storage.records.steps import StepRecord
from storage.runs.answer_json import answer_json
from storage.runs.log import ASKING, RunLog
from tasks.views.answers import AnswerView, view_answer
from tests.storage.worlds import document_id


def named(name: str) -> NamedDocument:
    return NamedDocument(document_id(name), f"{name}.pdf")


def words_of(name: str) -> str:
    return f"words of {name}"


def citation(name: str) -> Citation:
    box = (0.1, 0.2, 0.9, 1 / 3)
    return Citation(named(name), 2, box, identify(name, "node"), words_of(name), (f"heading of {name}",), Modality.TABLE)


def path(name: str) -> EvidencePath:
    return EvidencePath((identify(name, "node"),), (PagePlace(named(name), 2),), 0.5, 0.25, 1.0, f"path of {name}")


def answer(*names: str, asked: str = "2026-01-01T00:00:00+00:00", question: str = "How many?") -> Answer:
    """An answer made of a quote of each document; its id follows from everything given."""
    answer_id = hashlib.sha256(repr((names, asked, question)).encode("utf-8", "replace")).hexdigest()
    return Answer(
        answer_id=answer_id,
        asked_as=question,
        follows=None,
        thread=answer_id,
        asked=asked,
        question=question,
        answer=" ".join(words_of(name) for name in names),
        answer_by="model",
        status=AnswerStatus.ANSWERED,
        reader="flow",
        why="why: " + " and ".join(words_of(name) for name in names),
        citations=tuple(citation(name) for name in names),
        paths=tuple(path(name) for name in names),
        pages=tuple(RankedPage(named(name), 2, 0.5) for name in names),
        evidence_pages=tuple(PagePlace(named(name), 2) for name in names),
        gate=GateReport(0.5, 0.625, "saturation", (GraphEdit("bridge", "a", "b", 0.0, 0.125),)),
        usage=Usage(3, 100, 20, 0.0, {"route": 0.5}),
        corpus="default",
        snapshot=3,
        scope={"documents": [], "pages": None},
        settings={"routing": {"demand": 6.0}},
        models={"embedder": "small"},
        notes=("extractive",),
    )


def view_of(given: Answer) -> AnswerView:
    """The answer as a corpus shows it that holds none of its documents any more."""
    return view_answer(given, SimpleNamespace(documents=list, location=SimpleNamespace(name="small")))  # type: ignore[arg-type]


def numbered(count: int, *names: str) -> list[Answer]:
    ids = [identify("answer", number) for number in range(count)]
    return [replace(answer(*names), answer_id=own, thread=own) for own in ids]


def asking_log(location: CorpusLocation, name: str) -> RunLog:
    """The log of a run that asks."""
    return RunLog(location.runs / f"{ASKING}{name}.jsonl")


def keep(location: CorpusLocation, *answers: Answer, run: str = "r1") -> Path:
    """Leave the answers as a run that asks does, which took a step; return its file."""
    log = asking_log(location, run)
    log.begin(run_id=run, parameters={"questions": ["How many?"]}, settings={}, code_version="1")
    log.step(StepRecord(run, "route", "1", "k", "question", "2026-01-01T00:00:00Z", 0.5, 1, False, {}))
    for each in answers:
        log.answer(answer_json(each))
    log.end(run_id=run, outcome="ended", snapshot=3)
    return log.path
