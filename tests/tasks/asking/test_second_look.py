"""A second look at the best pages: by a second embedder's vectors, and by a reranker."""

from dataclasses import replace

import numpy as np
import pytest

from storage.records.documents import EmbedderIdentity
from tasks.asking.candidates import page_ranking
from tasks.asking.second_look import rerank, second_look
from tasks.settings.ask import AskSettings
from tests.asking_worlds import Passage, answer_at, at_context, at_place, candidates_of, published, steps_of, written
from tests.storage import worlds
from tests.storage.worlds import document_id

SECOND = EmbedderIdentity("other", "fp32", 2, named="other")
BOTH = replace(worlds.EMBEDDER, second=SECOND)
PLAIN = written("report", *[Passage(f"the tide {word}", page=1 + place) for place, word in enumerate(("rises", "turns", "falls"))])
SEEN = replace(PLAIN, second_vectors=np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32))
QUESTION = "When does the tide rise?"
LAST = (document_id("report"), 3)


class Upward:
    """A second embedder to which every question means the last page."""

    identity = SECOND

    def embed_query(self, text):
        assert text == QUESTION
        return np.array([[0, 1]], np.float32)


@pytest.fixture
def context(tmp_path, monkeypatch):
    monkeypatch.setattr("tasks.models.embedding.embedder.open_question_embedder", lambda identity, models: Upward())
    with at_context(published(tmp_path, SEEN, embedder=BOTH)) as context:
        yield context


def test_the_log_of_a_page_grows_by_the_weight_times_its_standardised_best_cosine(context):
    question, graph, scores = candidates_of(QUESTION, context)
    found = second_look(question, graph, scores, at_place(context, second={"weight": 0.1}))
    cosines = np.array([0, 0.8, 1.0])
    before, after = (np.array([score for _page, score in sorted(page_ranking(graph, each))]) for each in (scores, found))
    gained = np.log(after / before)
    assert gained - gained.mean() == pytest.approx(0.1 * (cosines - cosines.mean()) / cosines.std(), abs=1e-6)
    assert np.array_equal(found.relevance, scores.relevance), "what a word or a vector says of a node stays"


def test_only_the_best_pages_are_looked_at_again(context):
    question, graph, scores = candidates_of(QUESTION, context)
    found = second_look(question, graph, scores, at_place(context, second={"weight": 0.1, "pages": 2}))
    before, after = (np.array([score for _page, score in sorted(page_ranking(graph, each))]) for each in (scores, found))
    *best, other = np.argsort(-before, kind="stable")
    gained = np.log(after / before)
    assert sorted(gained[best] - gained[other]) == pytest.approx([-0.1, 0.1], abs=1e-6)


def test_an_answer_ranks_its_pages_after_the_second_look_and_records_the_step(tmp_path, monkeypatch):
    monkeypatch.setattr("tasks.models.embedding.embedder.open_question_embedder", lambda identity, models: Upward())
    with at_context(published(tmp_path / "plain", PLAIN)) as context:
        first = answer_at(context, QUESTION)
        assert "second-look" not in steps_of(context.snapshot.location)
    with at_context(published(tmp_path / "both", SEEN, embedder=BOTH), second={"weight": 2.0}) as context:
        answer = answer_at(context, QUESTION)
        assert "second-look" in steps_of(context.snapshot.location)
    assert first.pages[0].page == 1 and answer.pages[0].page == 3
    with at_context(published(tmp_path / "none", SEEN, embedder=BOTH), second={"weight": 0.0}) as context:
        assert [page.score for page in answer_at(context, QUESTION).pages] == [page.score for page in first.pages]


def test_the_baseline_looks_again_as_well(tmp_path, monkeypatch):
    monkeypatch.setattr("tasks.models.embedding.embedder.open_question_embedder", lambda identity, models: Upward())
    monkeypatch.setattr("tasks.asking.second_look.open_reranker", lambda _named: Backwards())
    with at_context(published(tmp_path / "both", SEEN, embedder=BOTH), second={"weight": 2.0}) as context:
        assert answer_at(context, QUESTION, reader="top-k").pages[0].page == 3
        assert "second-look" in steps_of(context.snapshot.location)
    with at_context(published(tmp_path / "plain", PLAIN)) as context:
        plain = answer_at(context, QUESTION, reader="top-k")
        turned = answer_at(at_place(context, rerank="a-model"), QUESTION, reader="top-k")
        assert steps_of(context.snapshot.location).count("rerank") == 1
    assert plain.pages[0].page == 1 and turned.pages[0].page != 1


def test_a_reranker_moves_only_the_best(context, monkeypatch):
    monkeypatch.setattr("tasks.asking.second_look.RERANKED", 2)
    monkeypatch.setattr("tasks.asking.second_look.open_reranker", lambda _named: Backwards())
    question, graph, scores = candidates_of(QUESTION, context)
    best = np.argsort(-scores.combined, kind="stable")
    found = rerank(question, graph, scores, context)
    assert found.combined[best].tolist() == [scores.combined[best[place]] for place in (1, 0, 2)]
    assert AskSettings().rerank == ""


class Backwards:
    def order(self, _question, passages):
        return np.arange(len(passages))[::-1]
