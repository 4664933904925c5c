"""The query service as its tests ask it: in this process or on a real socket, without a Prefect server, with or without a model."""

import asyncio
import socket
import threading
import time
from contextlib import contextmanager
from uuid import uuid4

import httpx
import uvicorn
from prefect.client.orchestration import PrefectClient
from starlette.testclient import TestClient

from flows.service.app import web_app
from flows.service.intake import Intake
from flows.service.runs_here import RunsHere
from tests.asking_worlds import WEIGHT
from tests.chat_server import chat_server
from tests.scripted_answers import Reader, path_answer, whole_answer

ASK, FACT = "/api/v1/ask", "163"
ASKED = {"questions": [WEIGHT], "corpus": "small"}


def intake(room=4, api="http://127.0.0.1:1/api"):
    """The service where Prefect's server is gone, or at another address."""
    # Prefect's own transport would try for a second and a half to reach a server that is gone.
    prefect = PrefectClient(api, httpx_settings={"transport": httpx.AsyncHTTPTransport()})
    return Intake(RunsHere(prefect, "here"), uuid4(), room)


def client(*, room=4, token="", host="127.0.0.1:4280"):
    return TestClient(web_app(intake(room), token=token), base_url=f"http://{host}")


def error(reply, status):
    assert reply.status_code == status, reply.text
    return reply.json()["error"]


@contextmanager
def served(room=8, token="", **more):
    """The service on a real socket; its address."""
    loop, listening = asyncio.new_event_loop(), socket.create_server(("127.0.0.1", 0))

    async def serve():
        service = intake(room)
        web = uvicorn.Server(
            uvicorn.Config(web_app(service, token=token), log_level="warning", timeout_graceful_shutdown=1, **more)
        )
        running.append((web, service))
        await web.serve(sockets=[listening])
        await service.runs.end()

    running = []
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    while not running or not running[0][0].started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", running[0][1]
    finally:
        running[0][0].should_exit = True
        thread.join(20)
        loop.close()


def in_part(request):
    """Say that a path answers a part, so that the model is to put an answer together."""
    found = Reader({FACT: FACT}).found(request)
    return path_answer(FACT, [found[0][1]], whole=False) if found else path_answer("", status="not_reported")


def weighed(request):
    found = Reader({FACT: FACT}).found(request)
    return whole_answer("It weighs 163 t without its base.", [found[0][1]])


def unproven(_request):
    return whole_answer("It weighs 99 tonnes.", [{"passage": "n1", "quote": "99 tonnes"}])


@contextmanager
def model_reads(monkeypatch, whole, **server):
    """Have a scripted model read; give the request."""
    reader = Reader({FACT: FACT}, instead={"PathAnswer": in_part, "WholeAnswer": whole})
    with chat_server(reader, piece_length=6, **server) as served:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", served.base_url)
        yield {**ASKED, "settings": {"reading": {"by": "model"}}}
