"""An embeddings server on a real loopback socket: it answers by rule, counts what it is asked, and misbehaves on request.

    with embedding_server() as server:
        ... FLOWREADER_EMBED_BASE_URL=server.base_url ...
    assert server.most_at_once <= 8

`behave` gets the body of a request and returns an Answer or a Fault: `well` answers all texts in order, `altered` does otherwise.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tasks.settings.models import ModelSettings


class Fault(StrEnum):
    """What can happen to a connection."""

    HANG = "no answer"
    RESET = "closed without an answer"
    CUT = "closed in the middle of the vectors"


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, and a value sent as JSON, or bytes as they are."""

    status: int
    value: Any
    headers: dict[str, str] = field(default_factory=dict)


Behave = Callable[[dict[str, Any]], Answer | Fault]


def vector(text: str) -> list[float]:
    """Three numbers by which a text is known again; not of length 1."""
    return [float(len(text)), float(sum(map(ord, text)) % 97 + 1), 2.0]


def well(request: dict[str, Any]) -> Answer:
    data = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(request["input"])]
    return Answer(
        200, {"object": "list", "model": request["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    )


def altered(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], **more: Any) -> Behave:
    """Answer well, but for the data, and what else is named."""

    def behave(request: dict[str, Any]) -> Answer:
        told = well(request).value
        return Answer(200, told | {"data": change(told["data"])} | more)

    return behave


def in_turn(*behaviours: Behave | Answer | Fault) -> Behave:
    """Behave in each of these ways once, and well from then on."""
    left = list(behaviours)

    def behave(request: dict[str, Any]) -> Answer | Fault:
        how = left.pop(0) if left else well
        return how(request) if callable(how) else how

    return behave


@dataclass
class EmbeddingServer:
    """What is served, and what was asked."""

    behave: Behave = well
    models: Answer = field(default_factory=lambda: Answer(200, {"object": "list", "data": [{"id": "m", "max_model_len": 2048}]}))
    api_key: str = ""
    seconds: float = 0.0
    requests: list[dict[str, Any]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    base_url: str = ""
    leaving: threading.Event = field(default_factory=threading.Event)
    counting: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> Answer | Fault:
        if self.api_key and headers.get("Authorization") != f"Bearer {self.api_key}":
            return Answer(401, {"error": {"message": f"no such key: {headers.get('Authorization')}"}})
        if (method, path) == ("GET", "/v1/models"):
            return self.models
        if (method, path) != ("POST", "/v1/embeddings"):
            return Answer(404, {"error": {"message": f"no {path}"}})
        request = json.loads(body)
        with self.counting:
            self.requests.append(request)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            time.sleep(self.seconds)
            return self.behave(request)
        finally:
            with self.counting:
                self.at_once -= 1


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.serve()

        def do_POST(self) -> None:
            self.serve()

        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            how = server.answer(self.command, self.path, self.headers, body)
            if how is Fault.HANG:
                server.leaving.wait()
            if how in (Fault.HANG, Fault.RESET):
                self.close_connection = True
                return
            answer = well(json.loads(body)) if how is Fault.CUT else how
            data = answer.value if isinstance(answer.value, bytes) else json.dumps(answer.value).encode()
            self.send_response(answer.status)
            for name, told in {"Content-Type": "application/json", "Content-Length": str(len(data)), **answer.headers}.items():
                self.send_header(name, told)
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(data[: len(data) // 2] if how is Fault.CUT else data)
            self.close_connection = how is Fault.CUT

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


@contextmanager
def embedding_server(behave: Behave = well, **more: Any) -> Iterator[EmbeddingServer]:
    """Serve on a port of its own until the block ends; `more` are the fields of EmbeddingServer."""
    server = EmbeddingServer(behave, **more)
    with _Server(("127.0.0.1", 0), _handler(server)) as listening:
        server.base_url = f"http://127.0.0.1:{listening.server_port}/v1"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.leaving.set()
            listening.shutdown()
            thread.join()


def impatient(retries=(), **embeddings):
    """Settings with short waits between tries."""
    short = {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.02, "attempts": 4, "busy_seconds": 5.0}
    return ModelSettings(
        deadlines={"models_seconds": 60.0},
        retries=short | dict(retries),
        embeddings={"texts_per_request": 4, "in_flight": 3} | embeddings,
    )
