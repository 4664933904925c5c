"""A small benchmark of the corpus `small`: its documents, and questions with the pages that hold the answers; plans by hand."""

import json

from storage.records.documents import identify
from storage.records.evaluations import Asked, Benchmark
from tasks.evaluation.arms import EvaluationRequest, arms_of
from tasks.evaluation.plan import EvaluationPlan
from tests.asking_worlds import TOLD
from tests.program import CHEAP, CORPUS

UNANSWERABLE = "Who won the Nobel prize for basket weaving?"


def small_benchmark(folder, *more):
    """Write the benchmark into a folder and return it; `more` are lines of more questions."""
    (folder / "documents").mkdir(parents=True)
    for name in CHEAP:
        (folder / "documents" / name).write_bytes((CORPUS / name).read_bytes())
    usual = [
        {
            "id": f"q{number}",
            "document": document,
            "document_type": "Report" if document.endswith("x") else "Page",
            "question": question,
            "answer": expected,
            "answer_format": "Str",
            "evidence_pages": [page],
            "evidence_sources": ["Text"],
        }
        for number, (question, (document, page, expected)) in enumerate(TOLD.items())
    ]
    nothing = {
        "id": "q-none",
        "document": CHEAP[0],
        "question": UNANSWERABLE,
        "answer": "Not answerable",
        "answer_format": "None",
        "evidence_pages": [],
    }
    lines = "".join(json.dumps(line) + "\n" for line in (*usual, nothing, *more))
    (folder / "questions.jsonl").write_text(lines)
    return folder


def plan_by_hand(*questions, **asked):
    """Return a plan of these questions, to be summed up in the corpus `default`; nothing is opened."""
    request = EvaluationRequest(dataset="reports", corpus="default", resamples=100, **asked)
    documents = {name: f"/files/{name}" for question in questions for name in question.documents}
    return EvaluationPlan(request, Benchmark("reports", documents, questions, "b" * 64), questions, arms_of(request))


def answered(question, ranked=(), evidence=(), *, document="", key="", **more):
    """Return what came of a question: pages of its own document, or of the one named."""
    named = document or question.documents[0]
    pages = tuple((named, page) for page in ranked), tuple((named, page) for page in evidence)
    rest = {"reader": "flow", "seconds": 0.25, "answer": "", "status": "answered"} | more
    rest = {"scores": tuple(1 / (2 + rank) for rank in range(len(ranked)))} | rest
    return Asked(key or identify(question.id), question.id, ranked=pages[0], evidence=pages[1], **rest)
