"""What a question was worth, checked by hand."""

import pytest

from storage.evaluation_records import Asked, BenchmarkQuestion
from tasks.evaluation_scoring import (
    BASELINE,
    OWN,
    PERFECT,
    SAME_MEAN,
    SAME_MEAN_OF_KIND,
    SAME_NUMBER,
    document_of,
    found_by,
    gain_over,
    scored_retrieval,
)


def question(name, *pages, document="a.pdf"):
    return BenchmarkQuestion(id=name, text=f"{name}?", documents=(document,), evidence=tuple((document, page) for page in pages))


def asked(name, ranked, evidence, reader="flow", document="a.pdf"):
    pages = tuple((document, page) for page in ranked), tuple((document, page) for page in evidence)
    return Asked(f"key {name} {reader}", name, reader, *pages, seconds=0.1, answer="", status="answered")


def worth(questions, **arms):
    asked_by = {arm.replace("_", "-"): {one.question_id: one for one in told} for arm, told in arms.items()}
    return {(one.arm, one.question_id): one.values for one in scored_retrieval(questions, asked_by)}


def test_a_ranking_and_a_set_are_measured_as_worked_out_by_hand():
    values = worth([question("q", 2, 5)], flow=[asked("q", [5, 1, 2, 3], [5, 2, 7])])["flow", "q"]
    assert (values["recall@1"], values["recall@3"], values["mrr@1"], values["precision@3"]) == (0.5, 1.0, 1.0, pytest.approx(2 / 3))
    assert (values[PERFECT], values["irrelevant pages"], values["pages returned"]) == (1.0, pytest.approx(1 / 3), 3.0)
    # The first three of its own ranking hold both gold pages too: routing has gained nothing.
    assert (values[found_by(OWN, SAME_NUMBER)], values[gain_over(OWN, SAME_NUMBER)]) == (1.0, 0.0)


def test_the_rival_is_cut_to_the_number_of_pages_that_the_set_has_for_this_question():
    questions = [question("q", 2, 5)]
    found = worth(questions, flow=[asked("q", [5, 1, 2], [5, 2])], top_k=[asked("q", [2, 5, 1], [2], reader="top-k")])
    values = found["flow", "q"]
    assert (values[found_by(OWN, SAME_NUMBER)], values[gain_over(OWN, SAME_NUMBER)]) == (0.0, 1.0)
    assert (values[found_by(BASELINE, SAME_NUMBER)], values[gain_over(BASELINE, SAME_NUMBER)]) == (1.0, 0.0)
    assert gain_over(BASELINE, SAME_NUMBER) not in found["top-k", "q"]


def test_at_the_same_mean_every_ranking_is_cut_at_one_number():
    # Three pages for one question and none for the other: one and a half each.
    questions = [question("q", 1, 2), question("r", 9)]
    values = worth(questions, flow=[asked("q", [1, 2, 3], [1, 2, 3]), asked("r", [8, 9, 7], [])])
    assert values["flow", "q"][found_by(OWN, SAME_MEAN)] == 0.5
    assert values["flow", "r"][found_by(OWN, SAME_MEAN)] == 0.5
    assert values["flow", "q"][gain_over(OWN, SAME_MEAN)] == 0.5
    assert values["flow", "r"][gain_over(OWN, SAME_MEAN)] == -0.5


def test_where_kinds_of_questions_want_more_pages_each_kind_is_cut_at_a_number_of_its_own():
    # Sets that are the ranking's own beginning: two pages where one is needed, four where several are.
    questions = [question("one", 2), question("many", 1, 4)]
    values = worth(questions, flow=[asked("one", [1, 2, 3, 4, 5], [1, 2]), asked("many", [1, 2, 3, 4, 5], [1, 2, 3, 4])])
    assert values["flow", "many"][gain_over(OWN, SAME_MEAN)] == 1.0
    assert {values["flow", name][gain_over(OWN, SAME_MEAN_OF_KIND)] for name in ("one", "many")} == {0.0}


def test_questions_stand_or_fall_with_the_document_of_their_evidence():
    pages = {"documents": ("other.pdf", "a.pdf", "more.pdf"), "evidence": (("a.pdf", 1),)}
    assert document_of(BenchmarkQuestion("q", "?", **pages)) == "a.pdf"
    assert document_of(BenchmarkQuestion("q", "?", ("other.pdf", "a.pdf"))) == "a.pdf"


def test_a_document_that_could_not_be_read_counts_as_nothing_found():
    values = worth([question("q", 1)], flow=[asked("q", [], [])])["flow", "q"]
    assert (values["recall@10"], values[PERFECT], values["irrelevant pages"]) == (0.0, 0.0, 1.0)


def test_questions_without_evidence_are_not_measured():
    assert scored_retrieval([question("q")], {"flow": {"q": asked("q", [1], [1])}}) == ()
