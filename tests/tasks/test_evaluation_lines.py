"""A line for each question and arm, with the fields that are promised and no other."""

import json
from dataclasses import replace

import pytest

from storage.evaluation_records import BenchmarkQuestion
from tasks.algorithms.answers import MatchKind
from tasks.evaluation_lines import check_out, write_lines
from tasks.evaluation_scoring import Judged
from tasks.exam import ExamError, Findings
from tests.exams import answered, exam_by_hand

ALONE = BenchmarkQuestion("alone", "How deep?", ("a.pdf",), answers=("20 m",), evidence=(("a.pdf", 3), ("a.pdf", 4)))
BOTH = BenchmarkQuestion("both", "How wide?", ("a.pdf", "b.pdf"), answers=("9 m", "nine"), evidence=(("b.pdf", 2),))
NOTHING = BenchmarkQuestion("nothing", "Who won?", ("b.pdf",), answerable=False)
PAGE_FIELDS = ["id", "reader", "question", "ranked_pages", "evidence_pages_returned", "gold_pages", "seconds", "key"]


def of_pages(**asked):
    """An exam of two questions and what came of it."""
    exam = exam_by_hand(ALONE, BOTH, **asked)
    found = {
        arm.name: {"alone": answered(ALONE, [3, 1], [3], reader=arm.name), "both": answered(BOTH, [2], document="b.pdf")}
        for arm in exam.arms
    }
    return exam, Findings(found, {})


def written(folder, exam, found):
    write_lines(str(folder / "out.jsonl"), exam, found)
    return [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]


def test_a_line_has_the_promised_fields_for_every_question_arm_by_arm(tmp_path):
    lines = written(tmp_path, *of_pages())
    assert [list(line) for line in lines] == [PAGE_FIELDS] * 4
    assert [(line["reader"], line["id"]) for line in lines] == [
        ("flow", "alone"),
        ("flow", "both"),
        ("top-k", "alone"),
        ("top-k", "both"),
    ]
    assert {line["seconds"] for line in lines} == {0.25}


def test_pages_are_numbers_where_one_document_is_asked_and_have_its_name_where_there_are_several(tmp_path):
    alone, both = written(tmp_path, *of_pages(readers=("flow",)))
    assert (alone["ranked_pages"], alone["evidence_pages_returned"], alone["gold_pages"]) == ([3, 1], [3], [3, 4])
    assert (both["ranked_pages"], both["evidence_pages_returned"], both["gold_pages"]) == ([["b.pdf", 2]], [], [["b.pdf", 2]])


def test_where_all_documents_are_asked_every_page_has_its_name(tmp_path):
    alone, _ = written(tmp_path, *of_pages(readers=("flow",), scope="corpus"))
    assert alone["ranked_pages"] == [["a.pdf", 3], ["a.pdf", 1]] and alone["evidence_pages_returned"] == [["a.pdf", 3]]
    assert alone["gold_pages"] == [["a.pdf", 3], ["a.pdf", 4]]


def test_a_key_is_of_the_benchmark_and_of_what_was_asked_of_whom(tmp_path):
    exam, found = of_pages(readers=("flow",))
    first, same = written(tmp_path, exam, found), written(tmp_path, exam, found)
    assert first == same and len({line["key"] for line in first}) == 2
    elsewhere = replace(exam, benchmark=replace(exam.benchmark, hash="c" * 64))
    other = written(tmp_path, elsewhere, found)
    assert all(before["key"] != after["key"] for before, after in zip(first, other, strict=True))
    asked_anew = Findings({"flow": {**found.asked["flow"], "alone": answered(ALONE, [3, 1], [3], key="f" * 64)}}, {})
    again = written(tmp_path, exam, asked_anew)
    assert again[0]["key"] != first[0]["key"] and again[1]["key"] == first[1]["key"]


def test_a_judged_answer_is_told_with_its_verdict_and_its_cost(tmp_path):
    exam = exam_by_hand(BOTH, NOTHING, what="answers", readers=("flow",))
    cost = {"calls": 3, "input_tokens": 500, "output_tokens": 40, "cost": 0.5, "seconds": 2.0}
    asked = {
        "both": replace(answered(BOTH, answer="nine metres", **cost), cited=(("b.pdf", 2), ("a.pdf", 1))),
        "nothing": answered(NOTHING, answer="not found in these documents", status="not_found"),
    }
    judged = {
        "both": Judged("both", True, "strict", MatchKind.WRONG, "the same width"),
        "nothing": Judged("nothing", True, "rules", MatchKind.ABSTAINED),
    }
    both, nothing = written(tmp_path, exam, Findings({"flow": asked}, {"flow": judged}))
    assert both == {
        "id": "both",
        "reader": "flow",
        "question": "How wide?",
        "answer": "nine metres",
        "status": "answered",
        "gold": ["9 m", "nine"],
        "answerable": True,
        "correct": True,
        "judged_by": "strict",
        "kind": "wrong",
        "reason": "the same width",
        "cited_pages": [["b.pdf", 2], ["a.pdf", 1]],
        **cost,
    }
    assert list(nothing) == list(both) and (nothing["gold"], nothing["answerable"]) == ([], False)
    assert (nothing["status"], nothing["kind"], nothing["judged_by"], nothing["reason"]) == ("not_found", "abstained", "rules", "")


def test_lines_take_the_place_of_what_was_in_the_file_and_hold_any_sign(tmp_path):
    odd = "Näive\u2028words \ud800 of\nthem"
    question = BenchmarkQuestion("odd", odd, ("ä.pdf",), answers=(odd,))
    exam = exam_by_hand(question, what="answers", readers=("flow",))
    found = Findings(
        {"flow": {"odd": answered(question, answer=odd)}}, {"flow": {"odd": Judged("odd", True, "rules", MatchKind.EXACT)}}
    )
    (tmp_path / "out.jsonl").write_text("what was there\n" * 9)
    write_lines(str(tmp_path / "out.jsonl"), exam, found)
    (line,) = (tmp_path / "out.jsonl").read_bytes().rstrip(b"\n").split(b"\n")
    told = json.loads(line)
    assert told["answer"] == told["question"] == odd and "Näive".encode() in line
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    check_out(None)
    check_out(str(tmp_path / "out.jsonl"))
    with pytest.raises(ExamError, match=r"nowhere' does not exist; make it"):
        check_out(str(tmp_path / "nowhere" / "out.jsonl"))
    with pytest.raises(ExamError, match="is a folder; name a file"):
        check_out(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
