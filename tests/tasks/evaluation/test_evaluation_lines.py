"""What `--out` writes: a line or a row for every question of every arm."""

import json
from dataclasses import replace

import polars as pl

from storage.records.evaluations import BenchmarkQuestion
from tasks.algorithms.metrics.answers import MatchKind
from tasks.evaluation.lines import write_lines
from tasks.evaluation.plan import Results
from tasks.evaluation.scoring import (
    Judged,
)
from tasks.settings.ask import AllSettings
from tests.evaluation_plans import answered, plan_by_hand

ALONE = BenchmarkQuestion("alone", "How deep?", ("a.pdf",), answers=("20 m",), evidence=(("a.pdf", 3), ("a.pdf", 4)))
BOTH = BenchmarkQuestion("both", "How wide?", ("a.pdf", "b.pdf"), answers=("9 m", "nine"), evidence=(("b.pdf", 2),))
NOTHING = BenchmarkQuestion("nothing", "Who won?", ("b.pdf",), answerable=False)
PAGE_FIELDS = ["id", "reader", "question", "ranked_pages", "evidence_pages_returned", "gold_pages", "seconds", "key"]


def of_pages(**asked):
    """A plan of two questions and what came of it."""
    plan = plan_by_hand(ALONE, BOTH, **asked)
    found = {
        arm.name: {"alone": answered(ALONE, [3, 1], [3], reader=arm.name), "both": answered(BOTH, [2], document="b.pdf")}
        for arm in plan.arms
    }
    return plan, Results(found, {})


def written(folder, plan, found):
    write_lines(str(folder / "out.jsonl"), plan, found)
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
    plan, found = of_pages(readers=("flow",))
    first, same = written(tmp_path, plan, found), written(tmp_path, plan, found)
    assert first == same and len({line["key"] for line in first}) == 2
    elsewhere = replace(plan, benchmark=replace(plan.benchmark, hash="c" * 64))
    other = written(tmp_path, elsewhere, found)
    assert all(before["key"] != after["key"] for before, after in zip(first, other, strict=True))
    asked_anew = Results({"flow": {**found.asked["flow"], "alone": answered(ALONE, [3, 1], [3], key="f" * 64)}}, {})
    again = written(tmp_path, plan, asked_anew)
    assert again[0]["key"] != first[0]["key"] and again[1]["key"] == first[1]["key"]


BY_MODEL = AllSettings.model_validate({"ask": {"reading": {"by": "model"}}})
COST = {"calls": 3, "input_tokens": 500, "output_tokens": 40, "cost": 0.5, "seconds": 2.0}


def judged_answers():
    plan = plan_by_hand(BOTH, NOTHING, what="answers", readers=("flow",))
    asked = {
        "both": replace(
            answered(BOTH, answer="nine \ud800 metres", **COST), cited=(("b.pdf", 2), ("a.pdf", 1)), counts={"rounds": 2.0}
        ),
        "nothing": answered(NOTHING, answer="not found in these documents", status="not_found"),
    }
    judged = {
        "both": Judged("both", True, "strict", MatchKind.WRONG, "the same width"),
        "nothing": Judged("nothing", True, "rules", MatchKind.ABSTAINED),
    }
    return plan, Results({"flow": asked}, {"flow": judged})


def test_a_line_of_a_judged_answer_has_its_verdict_and_its_cost(tmp_path):
    both, nothing = written(tmp_path, *judged_answers())
    assert both == {
        "id": "both",
        "reader": "flow",
        "question": "How wide?",
        "repeat": 1,
        "answer": "nine \ud800 metres",
        "status": "answered",
        "gold": ["9 m", "nine"],
        "answerable": True,
        "correct": True,
        "right_with_proof": True,
        "judged_by": "strict",
        "kind": "wrong",
        "reason": "the same width",
        "cited_pages": [["b.pdf", 2], ["a.pdf", 1]],
        **COST,
        "rounds": 2.0,
    }
    assert list(nothing) == list(both) and (nothing["gold"], nothing["answerable"]) == ([], False)
    assert (nothing["status"], nothing["kind"], nothing["judged_by"], nothing["reason"]) == ("not_found", "abstained", "rules", "")


def test_what_a_model_left_unanswered_is_wrong_and_what_no_model_read_is_neither(tmp_path):
    plan, found = judged_answers()
    unread = {one.id: Judged(one.id, False, "rules", MatchKind.UNREAD) for one in (BOTH, NOTHING)}
    asked = found.asked["flow"] | {"both": replace(found.asked["flow"]["both"], unanswered=True)}
    lines = written(tmp_path, plan, Results({"flow": asked}, {"flow": unread}))
    assert [line["correct"] for line in lines] == [line["right_with_proof"] for line in lines] == [False, None]


def test_each_repeat_has_its_lines_and_what_nothing_proves_is_right_without_proof(tmp_path):
    plan = plan_by_hand(BOTH, what="answers", readers=("flow",), repeats=2, settings=BY_MODEL)
    asked = {
        arm.name: {"both": answered(BOTH, answer="9 m", status=status)}
        for arm, status in zip(plan.arms, ("answered", "unverified"), strict=True)
    }
    right = {"both": Judged("both", True, "rules", MatchKind.EXACT)}
    lines = written(tmp_path, plan, Results(asked, dict.fromkeys(asked, right)))
    shown = [(line["reader"], line["repeat"], line["correct"], line["right_with_proof"]) for line in lines]
    assert shown == [("flow", 1, True, True), ("flow", 2, True, False)]


def test_lines_take_the_place_of_what_was_in_the_file_and_hold_any_sign(tmp_path):
    odd = "Näive\u2028words \ud800 of\nthem"
    question = BenchmarkQuestion("odd", odd, ("ä.pdf",), answers=(odd,))
    plan = plan_by_hand(question, what="answers", readers=("flow",))
    found = Results(
        {"flow": {"odd": answered(question, answer=odd)}}, {"flow": {"odd": Judged("odd", True, "rules", MatchKind.EXACT)}}
    )
    (tmp_path / "out.jsonl").write_text("what was there\n" * 9)
    write_lines(str(tmp_path / "out.jsonl"), plan, found)
    (line,) = (tmp_path / "out.jsonl").read_bytes().rstrip(b"\n").split(b"\n")
    shown = json.loads(line)
    assert shown["answer"] == shown["question"] == odd and "Näive".encode() in line
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_pages_in_a_table_are_documents_and_numbers_and_cells_of_csv_hold_them_as_json(tmp_path):
    plan, found = of_pages(readers=("flow",))
    for name in ("out.parquet", "out.csv"):
        write_lines(str(tmp_path / name), plan, found)
    table, cells = pl.read_parquet(tmp_path / "out.parquet"), pl.read_csv(tmp_path / "out.csv")
    assert table.columns == cells.columns == PAGE_FIELDS
    assert table["ranked_pages"].to_list() == [
        [{"document": "a.pdf", "page": 3}, {"document": "a.pdf", "page": 1}],
        [{"document": "b.pdf", "page": 2}],
    ]
    assert table["evidence_pages_returned"][1].to_list() == [] and table["seconds"].to_list() == [0.25, 0.25]
    assert [json.loads(cell) for cell in cells["ranked_pages"]] == table["ranked_pages"].to_list()


def test_answers_become_a_table_whatever_signs_they_hold(tmp_path):
    plan, found = judged_answers()
    write_lines(str(tmp_path / "out.PARQUET"), plan, found)
    table = pl.read_parquet(tmp_path / "out.PARQUET")
    assert table.columns == list(written(tmp_path, plan, found)[0])
    assert table["gold"].to_list() == [["9 m", "nine"], []] and table["correct"].to_list() == [True, True]
    assert table["answer"][0] == "nine \\ud800 metres" and table["cost"].to_list() == [0.5, 0.0]
