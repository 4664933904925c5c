import asyncio
import json

import pytest

from tasks.models.chat_faults import FaultError, FaultKind
from tasks.models.chat_request import Request
from tasks.models.endpoints import Endpoint
from tasks.models.served_embedder import EmbeddingTransport
from tests.embedding_server import Answer, Fault, embedding_server
from tests.tasks.models.embedding_worlds import impatient

REQUEST = Request(json.dumps({"model": "m", "input": ["text"]}).encode(), 0, 0)


def embed(server, **embeddings):
    async def once():
        transport = EmbeddingTransport(Endpoint(server.base_url), impatient(**embeddings))
        try:
            return await transport.embed(REQUEST)
        finally:
            transport.close()

    return asyncio.run(once())


def test_an_answer_comes_with_its_status_whatever_that_is():
    with embedding_server(lambda _request: Answer(418, {"tea": True})) as server:
        answered = embed(server)
    assert (answered.status, json.loads(answered.body)) == (418, {"tea": True})


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        (Fault.HANG, FaultKind.SILENT, "gave no vectors in 0.2 s"),
        (Fault.RESET, FaultKind.UNWELL, "connection"),
        (Fault.CUT, FaultKind.UNWELL, "broke the connection"),
    ],
)
def test_a_lost_connection_is_a_fault_that_names_the_server(fault, kind, says):
    with embedding_server(lambda _request: fault) as server, pytest.raises(FaultError, match=says) as lost:
        embed(server, reply_seconds=0.2)
    assert lost.value.kind == kind and server.base_url in str(lost.value)


def test_no_more_is_read_than_a_reply_may_have():
    with (
        embedding_server(lambda _request: Answer(200, b"1" * 2_000_000)) as server,
        pytest.raises(FaultError, match="more than 1 MB"),
    ):
        embed(server, reply_megabytes=1.0)


def test_nobody_there_is_a_server_that_is_down():
    with embedding_server() as server:
        pass
    with pytest.raises(FaultError, match="takes no connection") as lost:
        embed(server)
    assert lost.value.kind == FaultKind.DOWN
