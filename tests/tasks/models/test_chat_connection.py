import asyncio
import socket
import ssl
from contextlib import asynccontextmanager

import pytest

from tasks.models.chat_transport import Connection, ConnectionBrokenError, ConnectionFailedError
from tests.tasks.models.certificates import self_signed
from tests.tasks.models.chat_worlds import listening


@asynccontextmanager
async def answering(*answers):
    """A server that answers each request with the next bytes, and closes at None; gives its address and what it was sent."""
    heard, left = [], list(answers)

    async def serve(reader, writer):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            heard.append(head + await reader.readexactly(length))
            if left[0] is not None:
                writer.write(left.pop(0))
            if left[:1] == [None]:
                break

    async with listening(serve) as url:
        yield url, heard


async def exchange(connection, url, body=b"{}"):
    head = await connection.send("POST", f"{url}/chat", {"Authorization": "Bearer x"}, body)
    return head.status, head.headers, b"".join([piece async for piece in connection.body()])


WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 3\r\n\r\nyes"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nye\r\n1\r\ns\r\n0\r\n\r\n"


def test_a_connection_serves_one_request_after_the_other():
    async def work():
        async with answering(
            WHOLE, b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED, b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
        ) as (url, heard):
            connection = await Connection.open(url, seconds=5)
            found = [await exchange(connection, url, b"x" * size) for size in (0, 5, 10**6)]
            assert connection.reusable
            connection.close()
            return found, heard

    found, heard = asyncio.run(work())
    assert [(status, body) for status, _, body in found] == [(200, b"yes"), (200, b"yes"), (404, b"")]
    assert found[0][1]["content-type"] == "a/b"
    assert heard[0].startswith(b"POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1:") and b"Authorization: Bearer x\r\n" in heard[0]
    assert [len(sent.partition(b"\r\n\r\n")[2]) for sent in heard] == [0, 5, 10**6]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "closed the connection without an answer|broke the connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nyes", "broke the connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "broke the connection"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "broke the connection"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"x" * 200_000, "broke the connection"),
    ],
)
def test_what_is_cut_or_no_http_is_said(answer, says):
    async def work():
        async with answering(answer, None) as (url, _):
            connection = await Connection.open(url, seconds=5)
            with pytest.raises(ConnectionBrokenError, match=says):
                await exchange(connection, url)
                await exchange(connection, url)
            assert not connection.reusable
            connection.close()

    asyncio.run(work())


def test_a_connection_that_the_server_gives_up_is_not_used_again():
    async def work():
        async with answering(WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), WHOLE, None) as (url, _):
            for _ in range(2):
                connection = await Connection.open(url, seconds=5)
                assert (await exchange(connection, url))[2] == b"yes"
                if connection.reusable:
                    with pytest.raises(ConnectionBrokenError):
                        await exchange(connection, url)
                assert not connection.reusable
                connection.close()

    asyncio.run(work())


def test_an_answer_that_is_half_read_spoils_the_connection():
    async def work():
        async with answering(CHUNKED) as (url, _):
            connection = await Connection.open(url, seconds=5)
            await connection.send("POST", f"{url}/chat", {}, b"")
            assert not connection.reusable
            connection.close()

    asyncio.run(work())


def test_nobody_there_and_nobody_answering_are_told_apart_from_the_rest():
    async def refused():
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            with pytest.raises(ConnectionFailedError, match=r"takes no connection \(.*[Rr]efused|Connect call failed"):
                await Connection.open(f"http://127.0.0.1:{closed.getsockname()[1]}/v1", seconds=5)

    async def unanswered():
        async with answering() as (url, _):
            # The server never answers the greeting of TLS.
            with pytest.raises(ConnectionFailedError, match=r"takes no connection in 0\.2 s"):
                await Connection.open(url.replace("http:", "https:"), seconds=0.2)

    asyncio.run(refused())
    asyncio.run(unanswered())


def test_the_certificate_of_the_server_is_checked(tmp_path):
    certificate, key = self_signed(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    async def silent(_reader, _writer):
        pass

    async def work():
        async with listening(silent, ssl=context) as url:
            with pytest.raises(ConnectionFailedError, match="certificate"):
                await Connection.open(url.replace("http:", "https:"), seconds=5)

    asyncio.run(work())


def test_a_host_name_that_no_host_can_have_is_said():
    for name in ("a..b", "a" * 64):
        with pytest.raises(ConnectionFailedError, match="host name that cannot be looked up"):
            asyncio.run(Connection.open(f"http://{name}/v1", seconds=5))
