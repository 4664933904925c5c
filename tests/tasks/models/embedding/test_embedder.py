from concurrent.futures import ThreadPoolExecutor

import pytest

from storage.records.documents import EmbedderIdentity
from tasks.models.embedding.embedder import default_identity, open_embedder, open_question_embedder
from tasks.models.embedding.local import this_precision
from tasks.models.embedding.vectors import EmbeddingError


@pytest.fixture(autouse=True)
def no_endpoint(monkeypatch):
    monkeypatch.delenv("FLOWREADER_EMBED_BASE_URL", raising=False)
    monkeypatch.delenv("FLOWREADER_EMBED_MODEL", raising=False)
    monkeypatch.delenv("FLOWREADER_EMBED_API_KEY", raising=False)


def test_the_default_runs_on_this_machine_and_is_opened_once():
    assert default_identity() == EmbedderIdentity("all-MiniLM-L6-v2", this_precision(), 384)
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(open_embedder, [default_identity()] * 8))
    assert len({id(embedder) for embedder in opened}) == 1
    assert opened[0].identity == default_identity()


@pytest.mark.parametrize("opens", [open_embedder, open_question_embedder])
@pytest.mark.parametrize(
    ("identity", "says"),
    [
        (EmbedderIdentity("all-MiniLM-L6-v2", "int8", 384), "no precision 'int8', only bf16, fp32"),
        (EmbedderIdentity("all-MiniLM-L6-v2", "fp32", 128), "embedded by all-MiniLM-L6-v2/fp32/128, all-MiniLM-L6-v2 gives 384"),
        (
            EmbedderIdentity("word2vec", "fp32", 300),
            "by word2vec, FLOWREADER_EMBED_MODEL is not set; set it to the folder",
        ),
        (EmbedderIdentity("nomic", "served", 768), "set FLOWREADER_EMBED_BASE_URL .* FLOWREADER_EMBED_MODEL=nomic"),
    ],
)
def test_an_embedder_that_cannot_be_had_is_refused_with_the_reason(identity, says, opens):
    with pytest.raises(EmbeddingError, match=says):
        opens(identity)


def test_a_model_that_is_not_here_is_refused_for_a_corpus_of_the_default_too(monkeypatch):
    monkeypatch.setenv("FLOWREADER_EMBED_MODEL", "/no/such/folder")
    for opens in (open_embedder, open_question_embedder):
        with pytest.raises(EmbeddingError, match="'/no/such/folder' is not on this machine; set FLOWREADER_EMBED_MODEL"):
            opens(EmbedderIdentity("all-MiniLM-L6-v2", this_precision(), 384))


def test_a_corpus_of_a_served_model_opens_where_the_endpoint_serves_it(monkeypatch):
    monkeypatch.setenv("FLOWREADER_EMBED_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("FLOWREADER_EMBED_MODEL", "nomic")
    identity = EmbedderIdentity("nomic", "served", 768)
    assert open_embedder(identity).identity == identity
    with pytest.raises(EmbeddingError, match="FLOWREADER_EMBED_MODEL=other"):
        open_embedder(EmbedderIdentity("other", "served", 768))
    monkeypatch.delenv("FLOWREADER_EMBED_MODEL")
    assert open_embedder(EmbedderIdentity("other", "served", 768)).identity.name == "other", "its server is asked"


def test_questions_have_an_embedder_of_their_own_opened_once():
    assert open_question_embedder(default_identity()) is open_question_embedder(default_identity())
