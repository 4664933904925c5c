"""A second look at the best pages: by a second embedder's vectors, and by a reranker."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from storage.records.documents import EmbedderIdentity
from tasks.algorithms.page_ranks import standardise
from tasks.asking.candidates import page_ranking
from tasks.asking.second_look import look_again, recorder
from tasks.models.embedding.vectors import EmbeddingError
from tasks.settings.readers import READERS
from tests.asking_worlds import AxisEmbedder, Passage, answer_at, at_context, at_place, candidates_of, published, steps_of, written
from tests.embedding_server import Answer, embedding_server, ranks
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


def looked_again(context, **settings):
    """Return the log of what each of the three pages gained by a second look, and their scores before."""
    question, graph, scores = candidates_of(QUESTION, context)
    found = asyncio.run(look_again(question, graph, scores, at_place(context, **settings)))
    before, after = (np.array([score for _page, score in sorted(page_ranking(graph, each))]) for each in (scores, found))
    assert np.array_equal(found.relevance, scores.relevance), "what a word or a vector says of a node stays"
    return np.log(after / before), before


def test_the_log_of_a_page_grows_by_the_weight_times_its_standardised_best_cosine(context):
    gained, _before = looked_again(context, second={"weight": 0.1})
    assert gained - gained.mean() == pytest.approx(0.1 * standardise(np.array([0, 0.8, 1.0])), abs=1e-6)


def test_only_the_best_pages_are_looked_at_again(context):
    gained, before = looked_again(context, second={"weight": 0.1, "pages": 2})
    *best, other = np.argsort(-before, kind="stable")
    assert sorted(gained[best] - gained[other]) == pytest.approx([-0.1, 0.1], abs=1e-6)


def test_all_opinions_are_of_the_same_pages_and_add_up(context, monkeypatch):
    monkeypatch.setattr(
        "tasks.asking.second_look.open_reranker", lambda *_named, **_until: Scores({"rises": 3.0, "turns": 9.0, "falls": 0.0})
    )
    gained, _before = looked_again(context, rerank="a-model", second={"weight": 0.1, "rerank_weight": 0.2})
    wanted = 0.1 * standardise(np.array([0, 0.8, 1.0])) + 0.2 * standardise(np.array([3.0, 9.0, 0.0]))
    assert gained - gained.mean() == pytest.approx(wanted, abs=1e-6)
    assert not looked_again(context, rerank="a-model", second={"weight": 0.0, "rerank_weight": 0.0})[0].any()


def test_a_reranker_reads_the_best_passage_of_each_page_and_then_the_best_of_all(tmp_path, monkeypatch):
    texts = ("the tide rises", "when the tide rises", "a blade"), ("some tide",)
    passages = [Passage(text, page=page) for page, on_page in enumerate(texts, start=1) for text in on_page]
    reranker = Scores({"": 1.0})
    monkeypatch.setattr("tasks.asking.second_look.RERANKED", 3)
    monkeypatch.setattr("tasks.asking.second_look.open_reranker", lambda *_named, **_until: reranker)
    with at_context(published(tmp_path, written("report", *passages)), rerank="a-model") as context:
        question, graph, scores = candidates_of(QUESTION, context)
        asyncio.run(look_again(question, graph, scores, context))
    first, second, third = reranker.read
    assert sorted((first, third)) == ["the tide rises", "when the tide rises"] and second == "some tide"


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


@pytest.mark.parametrize("reader", [reader for reader in READERS if reader != "direct"])
def test_every_reader_that_ranks_looks_again_by_the_second_embedder_and_by_the_reranker(tmp_path, monkeypatch, reader):
    monkeypatch.setattr("tasks.models.embedding.embedder.open_question_embedder", lambda identity, models: Upward())
    reranker = Scores({"rises": 1.0, "turns": 3.0, "falls": 2.0})
    monkeypatch.setattr("tasks.asking.second_look.open_reranker", lambda *_named, **_until: reranker)
    heavy = {"weight": 0.5, "rerank_weight": 3.0}
    with at_context(published(tmp_path, SEEN, embedder=BOTH), rerank="a-model", second=heavy) as context:
        answer = answer_at(context, QUESTION, reader=reader)
        assert {"second-look", "rerank"} <= set(steps_of(context.snapshot.location))
    assert answer.pages[0].page == 2 and answer.models["reranker"] == "a-model"


def test_the_first_pages_are_taken_without_a_second_look(tmp_path, monkeypatch):
    monkeypatch.setattr("tasks.models.embedding.embedder.open_question_embedder", lambda identity, models: Upward())
    with at_context(published(tmp_path, SEEN, embedder=BOTH), rerank="a-model", second={"weight": 0.5}) as context:
        answer = answer_at(context, QUESTION, reader="direct")
        assert not {"second-look", "rerank"} & set(steps_of(context.snapshot.location))
    assert [page.page for page in answer.pages] == [1, 2, 3] and "reranker" not in answer.models


def test_the_papers_flow_says_that_it_asks_neither(tmp_path, monkeypatch):
    monkeypatch.setattr("tasks.models.embedding.embedder.open_question_embedder", lambda identity, models: Upward())
    with at_context(published(tmp_path, SEEN, embedder=BOTH), rerank="a-model", routing={"network": "paper"}) as context:
        (note,) = [note for note in answer_at(context, QUESTION).notes if "no say" in note]
        assert note == "the reranker and the second embedder had no say: the paper's flow has no second look"
    with at_context(published(tmp_path / "plain", PLAIN), routing={"network": "paper"}) as context:
        assert not any("no say" in note for note in answer_at(context, QUESTION).notes)


class Telling(AxisEmbedder):
    """An embedder whose question has two tokens; what it keeps of a passage's is written by hand."""

    def states_of_query(self, text):
        return np.array([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, -1, -1, -1, -1]], np.float32)


BITS = (b"\x00", b"\xf0\x0f", b"\xff\xf0")
"""Of the pages of PLAIN: no sign of a question's token, those of the second alone, and of both."""


def test_the_log_of_a_page_grows_by_how_much_of_the_question_its_best_passage_speaks_of(tmp_path):
    told = replace(PLAIN, tokens=BITS)
    with at_context(published(tmp_path, told), second={"tokens_weight": 0.2}) as context:
        gained, _before = looked_again(replace(context, embedder=Telling()), second={"tokens_weight": 0.2})
        assert gained - gained.mean() == pytest.approx(0.2 * standardise(np.array([-1.0, 1.0, 2.0])), abs=1e-6)
        assert not looked_again(replace(context, embedder=Telling()), second={"tokens_weight": 0.0})[0].any()
        assert not looked_again(context)[0].any(), "an embedder that tells no tokens"


def test_pages_are_compared_all_or_none_and_one_without_a_telling_word_is_worth_the_worst(tmp_path):
    older = written("older", Passage("some tide"))
    with at_context(published(tmp_path / "old", replace(PLAIN, tokens=BITS), older)) as context:
        question, graph, scores = candidates_of(QUESTION, replace(context, embedder=Telling()))
        assert asyncio.run(look_again(question, graph, scores, replace(context, embedder=Telling()))) is scores
        plain = answer_at(replace(context, embedder=Telling()), QUESTION)
    with at_context(published(tmp_path / "bare", replace(PLAIN, tokens=(b"", *BITS[1:])))) as context:
        gained, _before = looked_again(replace(context, embedder=Telling()), second={"tokens_weight": 0.2})
    assert gained - gained.mean() == pytest.approx(0.2 * standardise(np.array([1.0, 1.0, 2.0])), abs=1e-6)
    assert not any("tokens" in note for note in plain.notes)


def test_a_look_that_a_fit_weighs_nothing_is_taken_for_evaluations_alone(tmp_path):
    with at_context(published(tmp_path, replace(PLAIN, tokens=BITS))) as context:
        place = replace(context, embedder=Telling(), weights=context.weights.model_copy(update={"looks": {"tokens_weight": 0.0}}))
        question, graph, scores = candidates_of(QUESTION, place)
        assert asyncio.run(look_again(question, graph, scores, place)) is scores
        with recorder.watch() as seen:
            asyncio.run(look_again(question, graph, scores, place))
            asyncio.run(look_again(question, graph, scores, at_place(place, second={"tokens_weight": 0.0})))
    (looks,) = seen
    assert [(name, weight) for name, weight, _opinion in looks.opinions] == [("tokens_weight", 0.0)]


def test_tokens_of_another_width_and_pages_of_no_score_leave_the_ranking_as_it_was(tmp_path):
    wide = np.ones((1, 16), np.float32)
    embedder = Telling()
    embedder.__dict__["states_of_query"] = lambda _text: wide
    with at_context(published(tmp_path, replace(PLAIN, tokens=BITS))) as context:
        place = replace(context, embedder=embedder)
        question, graph, scores = candidates_of(QUESTION, place)
        assert asyncio.run(look_again(question, graph, scores, place)) is scores
        (note,) = [note for note in answer_at(place, QUESTION).notes if "tokens" in note]
        assert note.endswith("those of the corpus are damaged; read its files into a new corpus")
        nothing = replace(scores, combined=np.zeros(len(scores.combined)))
        assert asyncio.run(look_again(question, graph, nothing, context)) is nothing


def test_a_server_that_is_named_reranks_and_without_its_scores_the_ranking_stands_and_says_so(tmp_path, monkeypatch, caplog):
    world = published(tmp_path, written("report", Passage("the tide rises"), Passage("no tide", page=2)))
    with embedding_server(ranks) as server, at_context(world) as context:
        plain = answer_at(context, QUESTION)
        monkeypatch.setenv("FLOWREADER_RERANK_BASE_URL", server.base_url)
        monkeypatch.setenv("FLOWREADER_RERANK_MODEL", "bge")
        first = answer_at(context, QUESTION)
        server.behave = lambda _request: Answer(503, {"error": "no engine"})
        second = answer_at(context, QUESTION)
        with pytest.raises(EmbeddingError, match=r"answered 503: no engine; ask again when it is up"):
            answer_at(context, QUESTION, require_model=True)
        question, graph, scores = candidates_of(QUESTION, context)
        assert asyncio.run(look_again(question, graph, scores, context)) is scores, "a search has no notes"
    assert [each.models.get("reranker") for each in (plain, first, second)] == [None, "bge", None]
    assert [page.score for page in second.pages] == [page.score for page in plain.pages] != [page.score for page in first.pages]
    lost = next(note for note in second.notes if note not in plain.notes)
    assert lost.startswith("the pages are ranked without the reranker: ") and lost in caplog.text and first.notes == plain.notes


class Scores:
    """A reranker that scores a passage by the word that it holds."""

    def __init__(self, by_word):
        self.by_word, self.read = by_word, []

    def scores(self, _question, passages):
        self.read += passages
        return np.array([next(score for word, score in self.by_word.items() if word in passage) for passage in passages])
