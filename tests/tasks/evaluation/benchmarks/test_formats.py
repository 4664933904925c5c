"""The rows of each published form become questions; a missing column is named and does not hide what benchmark it is."""

from pathlib import Path

import pytest

from tasks.evaluation.benchmarks.formats import FORMATS
from tasks.evaluation.benchmarks.rows import BenchmarkError, Row

OWN = {"id": "q2", "question": "Why?", "document": "a.pdf"}
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
LONGDOCURL_COPY = {**MMLONGBENCH, "id": "q1", "doc_id": "7000002.pdf", "task_type": "Locating"}
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
VISDOM_PAPER_TAB = "[{'answer': \"Kite's\", 'type': 'extractive'}, {'answer': 'A\\nkite', 'type': 'abstractive'}, {'answer': ' '}]"
DUDE = {
    "questionId": "ab12_cd34",
    "question": "How high is the pier?",
    "answers": ["9 m"],
    "answers_page_bounding_boxes": [[{"left": 9, "top": 4, "width": 18, "height": 22, "page": 0}, {"page": 3}]],
    "answers_variants": ["nine metres"],
    "answer_type": "extractive",
    "docId": "ab12",
    "data_split": "val",
}
MP_DOCVQA = {
    "questionId": 49153,
    "question": "What is the number of the pier?",
    "doc_id": "pybv0228",
    "page_ids": ["pybv0228_p80", "pybv0228_p81"],
    "answers": ["9", "nine"],
    "answer_page_idx": 1,
    "data_split": "val",
}
DECK = {
    "deck_name": "piers-2015",
    "deck_url": "http://x",
    "image_urls": ["http://x/1.jpg"],
    "qa_id": 7,
    "question": "How many piers are there?",
    "answer": "3",
    "arithmetic_expression": "1+2",
    "evidence_pages": [4, 20],
    "reasoning_type": "Multi-Hop, Numerical",
    "answer_type": "Non-span",
}
"""In the forms of DUDE's evaluator, of programs that read MP-DocVQA, and of SlideVQA's README; with values of ours."""
FILES = {
    "folder": "questions.jsonl",
    "mmlongbench-doc": "samples.json",
    "longdocurl": "LongDocURL.jsonl",
    "uda-paper-tab": "paper_tab_qa.csv",
    "uda-feta-tab": "feta_qa.csv",
    "visdombench-spiqa": "spiqa.csv",
    "visdombench-paper-tab": "paper_tab.csv",
    "visdombench-slidevqa": "slidevqa.csv",
    "dude": "DUDE_gt.json",
    "mp-docvqa": "val.json",
    "slidevqa": "dev.jsonl",
}


def kind_of(file, columns):
    return next((kind for form in FORMATS if (kind := form.kind_of(Path(file), frozenset(columns)))), "")


def asked(kind, cells):
    form = next(form for form in FORMATS if form.kind_of(Path(FILES[kind]), frozenset(cells)) == kind)
    return form.question(Row("record 3", 3, cells), kind)


def without(record, column):
    return {name: value for name, value in record.items() if name != column}


@pytest.mark.parametrize(
    ("kind", "cells", "known"),
    [
        (
            "mmlongbench-doc",
            MMLONGBENCH,
            {
                "id": "mmlongbench-doc-0003",
                "text": "How tall is the lighthouse?",
                "document_type": "Guidebook",
                "documents": ("lighthouse.pdf",),
                "answers": ("31 m",),
                "answer_format": "Str",
                "answerable": True,
                "evidence": (("lighthouse.pdf", 4), ("lighthouse.pdf", 2)),
                "evidence_sources": ("Table", "Chart"),
            },
        ),
        (
            "longdocurl",
            LONGDOCURL,
            {
                "id": "count_7000001_1_9_2",
                "documents": ("7000001.pdf",),
                "answers": ("5",),
                "answer_format": "Int",
                "evidence": (("7000001.pdf", 8),),
                "task": "Reasoning",
            },
        ),
        ("longdocurl", {**LONGDOCURL, "doc_no": 7000001}, {"documents": ("7000001.pdf",)}),
        ("longdocurl", LONGDOCURL_COPY, {"id": "q1", "documents": ("7000002.pdf",), "answers": ("31 m",), "task": "Locating"}),
        (
            "dude",
            DUDE,
            {
                "id": "ab12_cd34",
                "text": "How high is the pier?",
                "documents": ("ab12",),
                "answers": ("9 m", "nine metres"),
                "answer_format": "Str",
                "evidence": (("ab12", 1), ("ab12", 4)),
                "task": "extractive",
            },
        ),
        (
            "dude",
            {**DUDE, "answers": ["oak", "ash"], "answer_type": "list/abstractive", "answers_page_bounding_boxes": []},
            {"answers": ('["oak", "ash"]',), "answer_format": "List", "evidence": (), "task": "list/abstractive"},
        ),
        (
            "dude",
            {**DUDE, "answers": [], "answer_type": "not-answerable"},
            {"answerable": False, "answers": (), "task": "not answerable"},
        ),
        ("dude", {**DUDE, "answers": [""], "answer_type": "not answerable"}, {"answerable": False, "answer_format": "None"}),
        (
            "mp-docvqa",
            MP_DOCVQA,
            {
                "id": "49153",
                "documents": ("pybv0228_p80-pybv0228_p81",),
                "answers": ("9", "nine"),
                "evidence": (("pybv0228_p80-pybv0228_p81", 2),),
            },
        ),
        ("mp-docvqa", without(without(MP_DOCVQA, "answers"), "answer_page_idx"), {"answers": (), "evidence": ()}),
        (
            "slidevqa",
            DECK,
            {
                "id": "7",
                "documents": ("piers-2015",),
                "answers": ("3",),
                "evidence": (("piers-2015", 4), ("piers-2015", 20)),
                "task": "Multi-Hop, Numerical",
            },
        ),
        (
            "uda-paper-tab",
            {**PAPER_TAB, "answer_3": "the red kite ", "answer_4": "NaN"},
            {"id": "aa11", "documents": ("2601.00010",), "answers": ("red, blue", "the red kite"), "evidence": ()},
        ),
        ("uda-paper-tab", {**PAPER_TAB, "answer_1": "Unanswerable"}, {"answerable": False, "answers": ()}),
        ("uda-feta-tab", FETA, {"documents": ("Tern (bird)",), "answers": ("On the pier.",)}),
        (
            "visdombench-spiqa",
            SPIQA,
            {
                "id": "spiqa_4",
                "text": "What rises?",
                "answers": ("The tide.",),
                "documents": ("2601.00001v1.pdf", "2601.00002v1.pdf"),
                "evidence": (),
            },
        ),
        ("visdombench-spiqa", {**SPIQA, "answer": "[1, 2]"}, {"answers": ("[1, 2]",)}),
        (
            "visdombench-slidevqa",
            {**SLIDEVQA, "doc_path": "docs/2601.00009v1.pdf"},
            {
                "documents": ("2601.00001v1.pdf", "2601.00002v1.pdf", "2601.00009v1.pdf"),
                "evidence": (("2601.00009v1.pdf", 1), ("2601.00009v1.pdf", 7)),
            },
        ),
        ("visdombench-paper-tab", {**SPIQA, "answer": VISDOM_PAPER_TAB}, {"answers": ("Kite's", "A\nkite")}),
        ("visdombench-paper-tab", {**SPIQA, "answer": "a kite"}, {"answers": ("a kite",)}),
        ("visdombench-paper-tab", {**SPIQA, "answer": "[{'answer': 'Unanswerable'}]"}, {"answerable": False, "answers": ()}),
        ("folder", OWN, {"id": "q2", "answerable": True, "answers": (), "evidence": (), "document_type": ""}),
        ("folder", {**OWN, "id": 7, "evidence_pages": [2, 900]}, {"id": "7", "evidence": (("a.pdf", 2), ("a.pdf", 900))}),
        (
            "folder",
            {**OWN, "documents": ["b.pdf", "a.pdf", "b.pdf"], "evidence_pages": [1]},
            {"documents": ("b.pdf", "a.pdf"), "evidence": (("a.pdf", 1),)},
        ),
        (
            "folder",
            {**without(OWN, "document"), "documents": ["b.pdf"], "evidence_pages": [1]},
            {"documents": ("b.pdf",), "evidence": (("b.pdf", 1),)},
        ),
    ],
)
def test_a_row_is_a_question(kind, cells, known):
    question = asked(kind, cells)
    assert {name: getattr(question, name) for name in known} == known


@pytest.mark.parametrize(
    ("cells", "answers", "answer_format", "answerable"),
    [
        ({"answer": "['oak', \"ash's\"]", "answer_format": "List"}, ('["oak", "ash\'s"]',), "List", True),
        ({"answer": ["Öl", 3]}, ('["Öl", "3"]',), "List", True),
        ({"answer": "['oak', 'ash", "answer_format": "List"}, ("['oak', 'ash",), "List", True),
        ({"answer": "[1]", "answer_format": "Str"}, ("[1]",), "Str", True),
        ({"answer": 2.5, "answer_format": "Float"}, ("2.5",), "Float", True),
        ({"answer": False, "answer_format": "String"}, ("No",), "Str", True),
        ({"answer": "not answerable.", "answer_format": "None", "evidence_pages": "[3]"}, (), "None", False),
        ({"answer": "", "answer_format": "None", "evidence_pages": []}, (), "None", False),
        ({"answer": "x", "answer_format": "None", "evidence_pages": [2]}, ("x",), "None", True),
        ({"evidence_pages": []}, (), "", True),
    ],
)
def test_an_annotated_answer_is_one_text_of_a_named_format_or_a_refusal(cells, answers, answer_format, answerable):
    question = asked("folder", OWN | cells)
    assert (question.answers, question.answer_format, question.answerable) == (answers, answer_format, answerable)


@pytest.mark.parametrize(
    ("kind", "cells", "columns"),
    [
        ("mmlongbench-doc", MMLONGBENCH, ("doc_id", "question", "answer", "answer_format", "evidence_pages")),
        ("longdocurl", LONGDOCURL, ("doc_no", "question_id", "answer", "answer_format", "evidence_pages")),
        ("uda-paper-tab", PAPER_TAB, ("doc_name", "q_uid", "question")),
        ("uda-feta-tab", FETA, ("answer",)),
        ("visdombench-slidevqa", SLIDEVQA, ("q_id", "question", "answer", "doc_path", "documents", "evidence_pages")),
        ("folder", OWN, ("id", "question", "document")),
        ("dude", DUDE, ("question", "answers", "answer_type")),
        ("mp-docvqa", MP_DOCVQA, ("question",)),
        ("slidevqa", DECK, ("answer", "evidence_pages")),
    ],
)
def test_a_missing_column_is_named_and_does_not_hide_the_benchmark(kind, cells, columns):
    for column in columns:
        with pytest.raises(BenchmarkError, match=rf"record 3: column '{column}' is missing"):
            asked(kind, without(cells, column))


@pytest.mark.parametrize(
    ("kind", "cells", "named"),
    [
        (
            "folder",
            {**without(OWN, "document"), "documents": ["a.pdf", "b.pdf"], "evidence_pages": [1]},
            "column 'evidence_pages' .*which document the pages",
        ),
        ("visdombench-paper-tab", {**SPIQA, "answer": "[{'answer': 'a'"}, "column 'answer' holds .* not a list of"),
        ("visdombench-paper-tab", {**SPIQA, "answer": "[{'type': 'a'}]"}, "column 'answer' holds .* not a list of"),
    ],
)
def test_a_cell_that_cannot_be_read_is_named(kind, cells, named):
    with pytest.raises(BenchmarkError, match=f"record 3: {named}"):
        asked(kind, cells)


@pytest.mark.parametrize(
    ("file", "columns", "kind"),
    [
        ("samples.json", LONGDOCURL_COPY, "longdocurl"),
        ("package.json", ("name", "question"), ""),
        ("x.csv", MMLONGBENCH, ""),
        ("x.csv", LONGDOCURL, ""),
        ("x.json", ("task_type",), ""),
        ("dev.jsonl", ("document",), ""),
        ("q.json", ("document", "question"), ""),
        ("nq_qa.csv", PAPER_TAB, ""),
        ("feta_qa.csv", ("q_id",), ""),
        ("feta_qa.json", PAPER_TAB, ""),
        ("feta_tab.csv", without(SPIQA, "documents"), "visdombench-feta-tab"),
        ("scigraphvqa/scigraphqa.csv", SPIQA, "visdombench-scigraphqa"),
        ("retrieval.csv", SPIQA, ""),
        ("spiqa.csv", ("q_id", "question", "chunk"), ""),
    ],
)
def test_a_benchmark_is_known_by_its_columns_and_subsets_by_their_names(file, columns, kind):
    assert kind_of(file, columns) == kind
