"""Small benchmarks in each published form, with questions that nobody publishes."""

import csv
import json
from pathlib import Path

MMLONGBENCH = {
    "doc_id": "lighthouse.pdf",
    "doc_type": "Guidebook",
    "question": "How tall is the lighthouse?",
    "answer": "31 m",
    "evidence_pages": "[4, 2]",
    "evidence_sources": "['Table', 'Chart']",
    "answer_format": "Str",
}
LONGDOCURL = {
    "question_id": "count_7000001_1_9_2",
    "doc_no": "7000001",
    "total_pages": 9,
    "start_end_idx": [1, 9],
    "question": "How many boats are for hire?",
    "answer": 5,
    "evidence_pages": [8],
    "evidence_sources": ["Table"],
    "answer_format": "Integer",
    "task_tag": "Reasoning",
}
PAPER_TAB = {"doc_name": "2601.00010", "q_uid": "aa11", "question": "Which kites flew?", "answer_1": "red, blue", "answer_2": " "}
FETA = {
    "doc_name": "Tern (bird)",
    "q_uid": "7",
    "question": "Where do terns nest?",
    "answer": "On the pier.",
    "doc_url": "http://x",
}
SPIQA = {
    "q_id": "spiqa_4",
    "doc_id": "2601.00001v1",
    "question": " \n\nWhat rises?",
    "answer": " \n\nThe tide.",
    "doc_path": "2601.00001v1.pdf",
    "documents": "['2601.00001v1.pdf', '2601.00002v1.pdf']",
}
SLIDEVQA = {**SPIQA, "q_id": "12", "evidence_pages": "[0, 6]"}


def documents(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"%PDF " + name.encode())
    return folder


def table(file: Path, *rows: dict, delimiter: str = ",") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return file


def lines(file: Path, *records: dict) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return file


def array(file: Path, *records: dict) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(records, indent=1), "utf-8")
    return file


def without(record: dict, column: str) -> dict:
    return {name: value for name, value in record.items() if name != column}
