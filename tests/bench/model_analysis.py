"""Analyze of 2,000 nodes, a call each, by a chat server that takes 300 ms and allows 64 at once: how much of its time is used.

The server runs in a process of its own, `python -m tests.bench.model_analysis`, until standard input ends.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from storage.kept_replies import CallCache
from tasks.model_analysis import describe_nodes
from tasks.model_settings import ModelSettings
from tasks.models.chat import open_chat
from tasks.models.endpoints import ChatEndpoint
from tests.bench.measuring import ROOT, Part, at_least
from tests.chat_server import chat_server
from tests.scripted_reader import reads_well
from tests.tasks.describing_worlds import asking_about, passages

NODES, SECONDS, PLACES, ROUNDS = 2000, 0.3, 64, 2


def measure() -> Part:
    """Describe the nodes, each time with an empty cache; other work on the machine only takes away, so the best round counts."""
    shares = []
    command = [sys.executable, "-m", "tests.bench.model_analysis"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        url = server.stdout.readline().strip()
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                shares.append(NODES * SECONDS / PLACES / seconds_of(url, Path(folder)))
        server.stdin.close()
    what = f"Analyze: of the ideal time, {NODES} nodes, a call each, {PLACES} in flight"
    return Part([at_least(what, 100 * max(shares), unit="%", bound=95, goal=97)], {"shares": shares})


def seconds_of(url: str, folder: Path) -> float:
    """Return how long the nodes take, their pictures and texts being at hand; raise RuntimeError where one is lost."""
    asking = asking_about(passages(NODES), folder, model={"nodes_per_call": 1})
    with open_chat(ChatEndpoint(url), ModelSettings(), cache=CallCache(folder / "calls")) as chat:
        began = time.monotonic()
        described = describe_nodes(asking, chat=chat, on_nodes=lambda *_done: None)
        took = time.monotonic() - began
    if described.errors:
        raise RuntimeError(f"{len(described.errors)} of {NODES} nodes have no description: {next(iter(described.errors.values()))}")
    return took


def main() -> None:
    """Serve."""
    with chat_server(reads_well, seconds=SECONDS, places=PLACES, keep_requests=False) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
