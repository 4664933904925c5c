"""Whatever is asked has an answer in words, and what cannot be asked is refused with a way out."""

from dataclasses import replace

import pytest

from storage.locations import corpus_location
from storage.records.answers import AnswerStatus
from tasks.asking.request import QuestionError
from tasks.models.embedding.vectors import EmbeddingError
from tests.asking_worlds import COAST, Passage, answer_to, published, run_of, written
from tests.storage import worlds

pytestmark = pytest.mark.usefixtures("in_asked_home")


@pytest.mark.parametrize(
    "question", ["収益はいくらですか", "Какова выручка?", "كم الإيرادات؟", "½", "\U0001d7d9", "Ⅷ", "1.1." * 300, "x" * 10_000]
)
@pytest.mark.parametrize("candidates", [{}, {"whole_limit": 1}], ids=["whole", "large"])
def test_whatever_is_asked_has_an_answer_in_words(question, candidates):
    answer = answer_to(question, settings={"candidates": candidates})
    assert answer.answer and answer.why and answer.pages
    assert (answer.status is AnswerStatus.NOT_FOUND) == (not answer.citations)


def test_a_corpus_of_another_embedder_is_not_asked(tmp_path):
    strange = replace(worlds.EMBEDDER, name="strange")
    published(corpus_location("strange").folder.parents[1], written("report", Passage("the tide")), embedder=strange)
    with pytest.raises(EmbeddingError, match=r"embedder strange/fp32/8 is unknown here; only"):
        answer_to(COAST, corpus="default")


def test_an_error_within_a_run_stands_in_it():
    with pytest.raises(QuestionError):
        answer_to(COAST, documents=("budget.xlsx",), modality="figure")
    run = run_of(corpus_location("small"))
    assert run.entries[-1]["outcome"] == "ended by an error"
    (failed,) = [step for step in run.steps() if step.error]
    assert failed.step == "candidates" and failed.error.startswith("QuestionError: there is no 'figure'")
