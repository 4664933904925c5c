"""A server that takes OpenLineage events as a real one does: it refuses what lacks a field that the standard requires."""

import json
import threading
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit
from uuid import UUID

TYPES = {"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"}


def check(event):
    """Raise where the event is not one of the standard's RunEvents (version 2-0-2)."""
    assert event["eventType"] in TYPES, event["eventType"]
    assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
    assert str(UUID(event["run"]["runId"])) == event["run"]["runId"]
    for thing in (event["job"], *event["inputs"], *event["outputs"]):
        assert thing["namespace"] and thing["name"] and set(thing) <= {"namespace", "name", "facets"}
    for address in (event["producer"], event["schemaURL"]):
        assert urlsplit(address).scheme == "https"
    assert event["schemaURL"].endswith("OpenLineage.json#/$defs/RunEvent")


class Taker(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            assert self.path == "/api/v1/lineage" and self.headers["Content-Type"] == "application/json"
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            check(event)
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            self.server.refused.append(repr(error))
            self.send_response(422)
        else:
            self.server.events.append(event)
            self.server.keys.append(self.headers.get("Authorization"))
            self.send_response(201)
        self.end_headers()

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def lineage_server():
    """Give a server on a socket, with its `address`, the `events` it took, the `keys` that came with them and why it `refused`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Taker) as server:
        server.events, server.keys, server.refused = [], [], []
        server.address = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
    assert server.refused == []
