import pytest

from storage.errors import ExpectedError
from storage.records.documents import identify
from storage.records.evaluations import Asked
from storage.runs.asked_questions import AskedQuestions, count_variants
from storage.system import DiskFullError

ARM, OTHER = identify("flow"), identify("top-k")


@pytest.fixture
def questions(tmp_path):
    return AskedQuestions(tmp_path / "evaluations")


def asked(name, answer="42 \u2028 of\nthem"):
    pages = (("a.pdf", 3), ("b.pdf", 1))
    return Asked(identify(name), name, "flow", pages, pages[:1], 0.1, answer, "answered", pages[1:], 2, 100, 20, 0.001)


def test_what_was_asked_is_recalled_under_its_arm(questions):
    assert questions.recall(ARM) == {}
    questions.keep(ARM, [asked("q1"), asked("q2")])
    questions.keep(ARM, [])
    questions.keep(ARM, [asked("q3")])
    questions.keep(OTHER, [asked("q1", "another")])
    assert questions.recall(ARM) == {identify(name): asked(name) for name in ("q1", "q2", "q3")}
    assert questions.recall(OTHER) == {identify("q1"): asked("q1", "another")}


def test_a_forgotten_question_is_in_no_file_and_all_arms_begin_anew(questions):
    questions.forget()
    questions.keep(ARM, [asked("q1")])
    questions.keep(OTHER, [asked("q1")])
    questions.forget()
    assert list(questions.folder.iterdir()) == [] and questions.recall(ARM) == questions.recall(OTHER) == {}
    questions.keep(ARM, [asked("q2")])
    assert questions.recall(ARM) == {identify("q2"): asked("q2")}


def test_a_corpus_that_was_removed_meanwhile_does_not_come_back(tmp_path):
    questions = AskedQuestions(tmp_path / "gone" / "evaluations")
    with pytest.raises(ExpectedError, match="corpus was removed meanwhile; ingest the documents and evaluate again"):
        questions.keep(ARM, [asked("q1")])
    assert not (tmp_path / "gone").exists()


def test_a_full_disk_is_said(questions):
    questions.folder.mkdir()
    questions.path(ARM).symlink_to("/dev/full")
    with pytest.raises(DiskFullError, match="disk full at"):
        questions.keep(ARM, [asked("q1")])


@pytest.mark.parametrize("arm", ["", "../" + ARM, ARM.upper(), ARM[:12]])
def test_an_arm_cannot_leave_the_folder(questions, arm):
    with pytest.raises(ValueError, match="no place for the questions of arm"):
        questions.recall(arm)


def test_variants_of_a_benchmark_are_counted_by_settings_and_code(tmp_path):
    log = tmp_path / "evaluations" / "variants.jsonl"

    def tried(*variants, benchmark="b1", code="c1"):
        return count_variants(log, benchmark=benchmark, code=code, variants=variants, what="retrieval")

    assert [tried("s1"), tried("s1"), tried("s2", "s3"), tried("s1", code="c2")] == [1, 1, 3, 4]
    assert tried("s1", benchmark="b2") == 1, "another benchmark has a count of its own"
    # Killed in mid-write: the line that was cut counts nothing and costs no other.
    log.write_bytes(log.read_bytes()[:-9])
    assert tried("s1", benchmark="b2") == 1 and tried("s4") == 5
