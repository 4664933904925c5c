"""The world of the golden files: documents, answers, runs and evaluations that are written by hand, the same each time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from storage.cleaning.removing import Receipt, remove_document
from storage.evaluations import keep_evaluation
from storage.locations import CorpusLocation
from storage.records.answers import (
    Answer,
    AnswerPart,
    AnswerStatus,
    GateReport,
    GraphEdit,
    PagePlace,
    Refusal,
    Support,
    TraceKind,
    TraceStep,
    Usage,
)
from storage.records.documents import DocumentGraph, DocumentRecord, NodeKind, Section, identify
from storage.records.evaluations import Figure
from storage.runs.at_work import at_work, sign_of
from storage.runs.log import RunLog
from tests.asking_worlds import Passage, written
from tests.hostile import HOSTILE, HOSTILE_WORDS
from tests.lineage_worlds import asking_run, ingest_run, step
from tests.storage import worlds
from tests.storage.evaluation_worlds import SETTINGS, TWO_FIGURES, evaluation, scored
from tests.tasks.report.report_worlds import a_graph, a_node, a_path, a_record, an_answer, cite, named

BEGAN = 1_767_323_045.0
"""2026-01-02 03:04:05 UTC, as seconds since 1970."""
BOX = (0.12, 0.13, 0.85, 0.16)
MEASURED, MEASURED_AGAIN, MEASURED_BADLY = "0a63db1e" * 4, "5f9ed5fc" * 4, "badbadba" * 4

REPORT = written(
    "report",
    Passage("The tide turns twice a day, and the gearbox is sampled every six months.", section="Tides"),
    Passage("Part: Every\nGearbox: 6 months\nSeal: 48 months", page=2, kind=NodeKind.TABLE, label="Table 1", section="Intervals"),
    Passage("storms by month", page=2, kind=NodeKind.FIGURE, label="Figure 1", section="Intervals", summary="Storms by month"),
    printed=("i", "ii"),
)
TRAP = written(
    "trap",
    Passage(f"Text {HOSTILE}", section=f"Section {HOSTILE}", label=f"Label {HOSTILE}", summary=f"Summary {HOSTILE}"),
    Passage(f"Head: {HOSTILE}\nCell: {HOSTILE}", kind=NodeKind.TABLE, section=f"Section {HOSTILE}"),
    printed=(f"Printed {HOSTILE}",),
)
GONE = worlds.graph("gone")
FAILED = worlds.failed(worlds.graph("torn"))
TRAPPED = replace(
    worlds.record(TRAP, f"/files/Name {HOSTILE.replace('/', '-')}.pdf"), title=f"Title {HOSTILE}", notes=(f"Note {HOSTILE}",)
)


class Golden(NamedTuple):
    """The home, the answers as they were given, by case, and the receipt of the document that was removed since."""

    home: Path
    answers: dict[str, Answer]
    receipt: Receipt


@contextmanager
def golden_world(home: Path) -> Iterator[Golden]:
    """Make the world in its home; of its two unfinished ingests one is at work inside the block."""
    home.mkdir()
    location, paper, graph = worlds.corpus_in(home), *_paper()
    answers = answers_by_case(paper, graph)
    with worlds.writing(location) as corpus:
        records = [paper, TRAPPED, *map(worlds.record, (REPORT, GONE))]
        corpus.publish(graphs=[graph, TRAP, REPORT, GONE], records=[*records, FAILED])
    ingest_run(location, graph, REPORT, TRAP)
    asking_run(location, "4" * 32, list(answers.values()))
    receipt = remove_document(location, "gone.pdf", now=True)
    damaged = worlds.corpus_in(home, "damaged")
    damaged.folder.mkdir()
    damaged.current.write_text("{")
    _measure(home / "evaluations.duckdb")
    with _begun(location, "2" * 32, "s3://files/reports"):
        pass
    with _begun(location, "3" * 32, "/files/reports"):
        yield Golden(home, answers, receipt)


def _paper() -> tuple[DocumentRecord, DocumentGraph]:
    """Return a document of two pages that have pictures."""
    record = a_record(worlds.document_id("paper"), "paper.pdf")
    nodes = (
        a_node(record.id, 0, "Chapter 1", kind=NodeKind.TITLE, section_path=("Chapter 1",), box=(0.12, 0.07, 0.4, 0.11)),
        a_node(record.id, 1, "The harbour handled 1000 tonnes of grain.", section_path=("Chapter 1",), box=BOX),
        a_node(record.id, 2, "The harbour handled 2000 tonnes of grain.", page=2, section_path=("Chapter 2",), box=BOX),
    )
    plain = a_graph(record.id, nodes, sizes=((595.0, 842.0), (595.0, 842.0)), label="1")
    chapters = (
        Section(identify(plain.version, "section", page), record.id, plain.version, page, f"Chapter {page}", 1, None, page, page)
        for page in (1, 2)
    )
    return replace(record, nodes=len(nodes)), replace(plain, sections=tuple(chapters))


@contextmanager
def _begun(location: CorpusLocation, run_id: str, read: str) -> Iterator[None]:
    """Begin an ingest that does not end inside the block, nor after it."""
    path = location.runs / f"{run_id}.jsonl"
    with at_work(path):
        os.utime(sign_of(path), (BEGAN, BEGAN))
        log = RunLog(path)
        log.begin(run_id=run_id, parameters={"paths": [read], "corpus": location.name}, settings={}, code_version="0.1.0")
        log.plan(documents=3)
        log.step(step(run_id, "evolve", REPORT.document_id))
        yield


def _measure(path: Path) -> None:
    """Keep two evaluations that can be compared, and one whose names are hostile."""
    scores = [[scored("flow", f"q{n}", f"{n % 6}.pdf", **{"recall@5": value}) for n in range(12)] for value in (0.5, 0.75)]
    bad = Figure(HOSTILE, HOSTILE, "recall@5", 0.5, 0.0, 1.0, 4, 4)
    for kept in (
        evaluation(MEASURED, *scores[0], notes=("one question was left out",)),
        evaluation(MEASURED_AGAIN, *scores[1], settings=SETTINGS | {"gate": False}, started="2026-02-01T00:00:00+00:00"),
        evaluation(MEASURED_BADLY, figures=(*TWO_FIGURES, bad), benchmark=HOSTILE, notes=(HOSTILE,), models={"chat": HOSTILE}),
    ):
        keep_evaluation(path, kept)


def answers_by_case(paper: DocumentRecord, graph: DocumentGraph) -> dict[str, Answer]:
    """Return the answers, the id of each made of its number."""
    report, gone = worlds.record(REPORT), worlds.record(GONE)
    names = {record.id: record.name for record in (paper, report, gone)}
    tide, table, _storms = REPORT.nodes
    _heading, first, second = graph.nodes
    proof = (cite(tide, report, "the gearbox is sampled every six months"), cite(first, paper))
    row = cite(table, report, "Part: Gearbox; Every: 6 months", box=(0.1, 0.2, 0.9, 1 / 3), probability=0.618)
    paths = (a_path(0.7, tide, table, names=names), a_path(0.3, first, answer="", names=names))
    none = Usage(0, 0, 0, 0.0, {"route": 0.25})
    read = Usage(12, 4100, 350, 0.0123, {"route": 0.25, "read": 1.5}, cached=3, most_calls=48)
    by_rules = {"answer": "", "answer_by": None, "usage": none, "status": AnswerStatus.EVIDENCE}
    places = (PagePlace(named(report), 1), PagePlace(named(report), 2))
    trace = (
        TraceStep(1, TraceKind.SUB_QUESTION, "Which parts are sampled?", "the gearbox and the seal"),
        TraceStep(2, TraceKind.SEARCH, "gearbox interval", "2 passages", (1,), (tide.id, table.id), places),
        TraceStep(3, TraceKind.CHECK, "Is that enough?", "yes", (1, 2)),
    )
    gate = GateReport(0.5, 0.625, "saturation", (GraphEdit("bridge", tide.id, first.id, 0.0, 0.125),))
    bad = cite(TRAP.nodes[0], TRAPPED, f"Quote {HOSTILE}", section=(f"Section {HOSTILE}",))
    found = (PagePlace(named(TRAPPED), 1),)
    quoted = AnswerPart("Every six months", Support.QUOTED, (0,))
    computed = AnswerPart("42 months earlier than the seal", Support.COMPUTED, (1, 2), "48 - 6 = 42")
    rows = (proof[0], row, cite(table, report, "Part: Seal; Every: 48 months"))
    unproven = {
        "answer": "Every 99 years.",
        "parts": (AnswerPart("Every 99 years.", Support.UNSUPPORTED),),
        "status": AnswerStatus.UNVERIFIED,
        "why": "no passage says what the model answers",
        "usage": read,
    }
    bad_parts = tuple(AnswerPart(f"Part {HOSTILE}", support, (0, 1), f"Working {HOSTILE}") for support in Support)
    badly = TraceStep(1, TraceKind.SEARCH, f"Asked {HOSTILE}", f"Found {HOSTILE}", (), (TRAP.nodes[0].id,), found)
    cases = {
        "answered": {
            "citations": proof,
            "parts": (quoted,),
            "paths": paths,
            "usage": read,
            "gate": gate,
            "notes": ("one path could not be read",),
        },
        "partial": {"citations": proof[:1], "status": AnswerStatus.PARTIAL, "why": "nothing is said of the seal", "usage": read},
        "evidence": by_rules | {"citations": (row, cite(second, paper)), "refusal": Refusal({"best": 0.5}, 0.125, 0.75)},
        "unverified": unproven | {"citations": (row,)},
        "not found": by_rules | {"status": AnswerStatus.NOT_FOUND, "why": "no passage holds what is asked", "gate": None},
        "traced": {"citations": proof, "reader": "plan", "trace": trace, "gate": None, "usage": read},
        "kept": {"citations": proof, "cached": True, "usage": none},
        "withheld": {"citations": (cite(GONE.nodes[1], gone), proof[0]), "paths": (a_path(0.7, GONE.nodes[1], names=names),)},
        "hostile": {
            "question": " ".join(HOSTILE_WORDS),
            "answer": f"Answer {HOSTILE} [1]",
            "parts": bad_parts,
            "why": f"Why {HOSTILE}",
            "citations": (bad, cite(TRAP.nodes[1], TRAPPED, f"Cell | {HOSTILE}")),
            "paths": (a_path(0.7, *TRAP.nodes, answer=f"Path {HOSTILE}", names={TRAPPED.id: TRAPPED.name}),),
            "trace": (badly,),
            "reader": "agent",
            "notes": (f"Note {HOSTILE}",),
            "models": {"chat": HOSTILE},
            "scope": {"documents": [HOSTILE], "pages": None},
        },
        "in parts": {
            "answer": "Every six months, 42 months earlier than the seal, and the crew likes it.",
            "parts": (quoted, computed, AnswerPart("the crew likes it", Support.UNSUPPORTED)),
            "status": AnswerStatus.PARTIAL,
            "why": "a part of the answer is not proven",
            "citations": rows,
            "usage": read,
        },
        "computed": {"answer": computed.text, "parts": (computed,), "citations": rows, "usage": read},
        "unverified, with no evidence": unproven | {"citations": ()},
        "unverified, and withheld": unproven | {"citations": (cite(GONE.nodes[1], gone),)},
    }
    return {
        case: an_answer(**{"answer_id": f"{number:x}" * 64, "asked": f"2026-01-02T03:{number:02}:05+00:00", "snapshot": 3} | parts)
        for number, (case, parts) in enumerate(cases.items(), 1)
    }
