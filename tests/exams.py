"""A small benchmark of the corpus `small`: its documents, and questions with the pages that hold the answers."""

import json

from tests.asking_worlds import TOLD
from tests.program import CHEAP, CORPUS

UNANSWERABLE = "Who won the Nobel prize for basket weaving?"


def small_benchmark(folder, *more):
    """Write the benchmark into a folder and return it; `more` are lines of questions beside the usual ones."""
    (folder / "documents").mkdir(parents=True)
    for name in CHEAP:
        (folder / "documents" / name).write_bytes((CORPUS / name).read_bytes())
    usual = [
        {
            "id": f"q{number}",
            "document": document,
            "document_type": "Report" if document.endswith("x") else "Page",
            "question": question,
            "answer": told,
            "answer_format": "Str",
            "evidence_pages": [page],
            "evidence_sources": ["Text"],
        }
        for number, (question, (document, page, told)) in enumerate(TOLD.items())
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
