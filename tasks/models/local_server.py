"""The process of the local model: `python -m tasks.models.local_server FILE NAME HOST PORT TOKENS`."""

import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from xllamacpp import CommonParams, Server

from storage.errors import ExpectedError
from tasks.models.process import speak

STANDARD_ERROR = 2
WHY = re.compile(r"error loading model: (.+)")
NO_PORT = "couldn't bind HTTP server socket"
LOG_BYTES = 1_000_000
LAST_WORDS, LAST_WORDS_SECONDS = "exiting due to", 5.0
"""The end of the log, written by a thread of llama.cpp after the error is raised."""
NO_WEB = "http://127.0.0.1"
"""The only origin that browsers let read replies: no page has it. The key keeps pages from asking for any."""


def load() -> Callable[[str], bytes]:
    """Load the model; return a function that gives its address and its key."""
    path, name, host, port, tokens = sys.argv[1:]
    key = secrets.token_urlsafe()
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), STANDARD_ERROR)
        try:
            server = Server(parameters(path, name, key, host, int(port), int(tokens)))
        except RuntimeError as error:
            logged = whole(log.fileno())
            if NO_PORT in logged:
                raise ExpectedError(f"port '{port}' of {host} cannot be used", port, "name another one by --port") from error
            why = WHY.search(logged)
            words = why[1] if why else error
            raise ExpectedError(
                f"llama.cpp cannot run {path!r}: {words}", path, "fetch it anew, or name another GGUF file"
            ) from error
    with Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), STANDARD_ERROR)
    return lambda _request: f"{server.listening_address} {key}".encode()


def whole(log: int) -> str:
    """Return what llama.cpp logged to a file, once it has written it all, or after seconds."""
    deadline = time.monotonic() + LAST_WORDS_SECONDS
    while True:
        logged = os.pread(log, LOG_BYTES, 0).decode("utf-8", "replace")  # not by seek: the writer is at the same place
        if LAST_WORDS in logged or time.monotonic() > deadline:
            return logged
        time.sleep(0.01)


def parameters(path: str, name: str, key: str, host: str, port: int, tokens: int) -> CommonParams:
    """Return how llama.cpp serves: one call at a time, because calls that are computed together do not repeat to the bit."""
    params = CommonParams()
    params.model.path = path
    params.model_alias, params.api_keys = {name}, [key]
    params.hostnames, params.port = [host], port
    params.n_ctx, params.n_parallel = tokens, 1
    params.cache_prompt = False  # what was read before would change the last bits, and with them words
    params.ui = params.endpoint_slots = False
    params.cors_origins, params.cors_origins_explicit, params.cors_credentials = NO_WEB, True, False
    return params


if __name__ == "__main__":
    speak(load)
