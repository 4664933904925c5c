"""A small service on a real socket: it says what it is told to say, and remembers what it was asked."""

import json
import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tasks.address import address_of


class Service:
    """`reply(asked)` returns a status and the bytes; `heard` holds the method, path, headers and JSON of each request."""

    def __init__(self, reply, host):
        self.heard = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.do_POST()

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked = json.loads(body) if body else None
                service.heard.append((self.command, self.path, dict(self.headers), asked))
                status, said = reply(asked)
                self.send_response(status)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_words):
                pass

        class Server(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        self.server = Server((host, 0), Handler)
        self.address = address_of(host, self.server.server_port)


@contextmanager
def listening(reply, host="127.0.0.1"):
    """Run a service until the block ends."""
    running = Service(reply, host)
    thread = threading.Thread(target=running.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        running.server.shutdown()
        running.server.server_close()
        thread.join()


@contextmanager
def service(reply, monkeypatch, host="127.0.0.1"):
    """Run a service where FLOWREADER_ASK_ADDRESS says."""
    with listening(reply, host) as running:
        monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", running.address)
        yield running


def slowly_in_reverse(answers):
    """Return a reply that takes the longer the earlier a question stands."""

    def reply(asked):
        question = asked["questions"][0]
        time.sleep(0.05 * (len(answers) - list(answers).index(question)))
        return 200, json.dumps({"answers": [answers[question]]}).encode()

    return reply
