import pytest

from tasks.model_checkup import check_models
from tasks.models.endpoints import EndpointError
from tests.chat_server import chat_server
from tests.embedding_server import embedding_server


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for kind in ("CHAT", "EMBED"):
        for name in ("BASE_URL", "MODEL", "API_KEY"):
            monkeypatch.delenv(f"FLOWREADER_{kind}_{name}", raising=False)


def test_the_servers_that_are_set_are_looked_at_and_no_others(monkeypatch):
    with chat_server(lambda _request: {}) as chat, embedding_server() as embeddings:
        monkeypatch.setenv("FLOWREADER_EMBED_BASE_URL", embeddings.base_url)
        assert [checkup.address for checkup in check_models()] == [embeddings.base_url]
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", chat.base_url)
        assert [checkup.address for checkup in check_models()] == [chat.base_url, embeddings.base_url]
        monkeypatch.delenv("FLOWREADER_EMBED_BASE_URL")
        assert [checkup.server for checkup in check_models()] == ["chat"]


def test_where_no_server_is_set_the_variable_is_named():
    with pytest.raises(EndpointError, match=r"FLOWREADER_CHAT_BASE_URL.*; set the first"):
        check_models()
