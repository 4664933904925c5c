"""What the tests of the chat client share: a form, calls, impatient settings, and time that does not pass."""

import asyncio
from contextlib import asynccontextmanager, suppress

from pydantic import BaseModel, ConfigDict

from storage.records.documents import identify
from storage.runs.replies import CallCache
from tasks.models.chat.call import ChatCall
from tasks.models.chat.model import open_chat
from tasks.models.chat.request import first_messages, request_of
from tasks.models.endpoints import Endpoint
from tasks.settings.models import ModelSettings

DOCUMENT = identify("document")
PROMPT_HASH = identify("prompt")


class Summary(BaseModel):
    model_config = ConfigDict(extra="forbid")

    summary: str
    node_id: str


def summarise(request):
    """The rule of a server: the summary says the prompt backwards."""
    return {"summary": request.prompt[::-1], "node_id": "n1"}


def known(value):
    return "" if value.node_id == "n1" else f"node id {value.node_id} was not shown"


def call(text="say it", **more):
    named = {
        "purpose": "analyze",
        "subject": DOCUMENT,
        "item": f"item {text!r}",
        "prompt": text,
        "prompt_hash": PROMPT_HASH,
        "form": Summary,
        "max_output_tokens": 100,
        "check": known,
    }
    return ChatCall(**(named | more))


def calls(count, **more):
    return [call(f"text {number}", **more) for number in range(count)]


def settings(**groups):
    """Settings with short waits between tries; each argument is a group, its values laid over."""
    impatient = {
        "deadlines": {"models_seconds": 60.0},
        "retries": {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.05, "down_seconds": 0.0, "attempts": 4},
        "limits": {"reply_megabytes": 1.0},
    }
    return ModelSettings.model_validate({name: impatient.get(name, {}) | groups.get(name, {}) for name in {*impatient, *groups}})


def request_for(asked, model="scripted"):
    return request_of(asked, first_messages(asked, pixels=5000), model=model, settings=settings())


def open_on(server, folder, listener=lambda _call: None, key="", **groups):
    """The model that the server has, with a cache in the folder."""
    return open_chat(Endpoint(server.base_url, api_key=key), settings(**groups), cache=CallCache(folder), listener=listener)


@asynccontextmanager
async def listening(serve, **more):
    """Serve each connection by the function on a port of its own; gives the address. It ends when all clients have let go."""
    serving = set()

    async def accept(reader, writer):
        serving.add(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await serve(reader, writer)
        with suppress(OSError):
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, **more)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    server.close()
    await asyncio.sleep(0.01)  # a connection that was just made is not served yet
    if serving:
        await asyncio.wait(serving)


def in_virtual_time(work):
    """Run the coroutine on a loop whose clock jumps to whatever comes next; return its result and the seconds that passed."""
    loop = asyncio.SelectorEventLoop()
    now, select = [0.0], loop._selector.select

    def jump(timeout):
        ready = select(0)
        assert ready or timeout is not None, "all wait for ever"
        now[0] += 0 if ready else timeout
        return ready

    loop.time, loop._selector.select = lambda: now[0], jump
    try:
        return loop.run_until_complete(work), now[0]
    finally:
        loop.close()
