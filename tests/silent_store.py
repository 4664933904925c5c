"""An object store that hangs: a socket that takes every connection and never says a word."""

import asyncio
import socket
from contextlib import contextmanager

from storage.object_store import client

KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}


class SilentStore:
    """`asked` waits until somebody asks; `end` hangs up, and refuses from then on."""

    def __init__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.connections = []
        self.address = f"http://127.0.0.1:{self.listening.getsockname()[1]}"

    async def asked(self):
        self.connections.append((await asyncio.to_thread(self.listening.accept))[0])

    def end(self):
        for each in (self.listening, *self.connections):
            each.close()


@contextmanager
def silent_store(monkeypatch):
    """Be where FLOWREADER_STORE lies while the block runs."""
    store = SilentStore()
    client.cache_clear()
    for name, value in (
        KEYS | {"AWS_ENDPOINT_URL": store.address, "FLOWREADER_STORE": "s3://far", "NO_PROXY": "127.0.0.1"}
    ).items():
        monkeypatch.setenv(name, value)
    try:
        yield store
    finally:
        store.end()
        client.cache_clear()
