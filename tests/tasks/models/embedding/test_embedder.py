from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from storage.records.documents import EmbedderIdentity
from tasks.models.embedding.embedder import (
    default_identity,
    open_embedder,
    open_question_embedder,
    open_second,
    second_identity,
    unopened_embedders,
)
from tasks.models.embedding.local import this_precision
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.endpoints import EndpointError
from tasks.settings.models import ModelSettings
from tests.embedding_server import embedding_server
from tests.tasks.models.embedding.tiny_bert import WIDTH, write_tiny_bert


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


FIRST = EmbedderIdentity("all-MiniLM-L6-v2", "fp32", 384)


def with_second(name, precision="served", named="", dimension=3):
    return replace(FIRST, second=EmbedderIdentity(name, precision, dimension, named=named or name))


def test_a_second_model_on_this_machine_is_found_by_its_folder(tmp_path):
    folder = str(write_tiny_bert(tmp_path / "tiny-bert", seed=31))
    second = second_identity(folder)
    assert second.name.startswith("tiny-bert@") and (second.dimension, second.named) == (WIDTH, folder)
    both = replace(FIRST, second=second)
    asked = open_second(both, ModelSettings())
    assert asked.embed_query("wind").shape == (1, WIDTH)
    one, other = unopened_embedders(both, ModelSettings())
    assert one.identity == FIRST and other.embed_documents(["wind"]).vectors.shape == (1, WIDTH)
    assert open_embedder(both) is open_embedder(FIRST), "one process for the first, with a second or without"
    assert unopened_embedders(FIRST, ModelSettings())[1] is None and open_second(FIRST, ModelSettings()) is None
    asked._process.close()


def test_a_second_model_behind_a_server_has_variables_of_its_own(monkeypatch):
    with embedding_server() as server:
        monkeypatch.setenv("FLOWREADER_SECOND_BASE_URL", server.base_url)
        monkeypatch.setenv("FLOWREADER_SECOND_API_KEY", "key")
        assert second_identity("m") == EmbedderIdentity("m", "served", 3)
        assert open_second(with_second("m"), ModelSettings()).embed_query("why?").shape == (1, 3)
        assert default_identity().precision != "served"
    monkeypatch.delenv("FLOWREADER_SECOND_BASE_URL")
    with pytest.raises(EndpointError, match="set FLOWREADER_SECOND_BASE_URL as well"):
        second_identity("m")
    monkeypatch.delenv("FLOWREADER_SECOND_API_KEY")
    with pytest.raises(EmbeddingError, match=r"by m behind an endpoint; set FLOWREADER_SECOND_BASE_URL to where it is served$"):
        open_second(with_second("m"), ModelSettings())


def test_a_second_model_that_is_gone_or_another_is_refused_by_its_setting(tmp_path):
    with pytest.raises(EmbeddingError, match=r"'/no/folder' is not on this machine; set reading\.embedding\.second to a folder"):
        second_identity("/no/folder")
    folder = str(write_tiny_bert(tmp_path / "tiny-bert", seed=1))
    other = with_second("tiny-bert@0123", "fp32", named=folder)
    with pytest.raises(EmbeddingError, match=r"a second time by tiny-bert@0123, .* is tiny-bert@.* now; put that"):
        open_second(other, ModelSettings())
    with pytest.raises(EmbeddingError, match="put that model back there"):
        unopened_embedders(other, ModelSettings())[1].embed_documents(["wind"])
