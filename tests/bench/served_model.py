"""The scripted chat server in a process of its own: `python -m tests.bench.served_model SECONDS PLACES`, until standard input ends.

It prints its address, and at the end how many calls it had and how many at once.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.bench.measuring import ROOT
from tests.chat_server import Misbehaviour, chat_server, sometimes

REPLY = {
    "summary": "What the text says, in a sentence of some length that a model would write.",
    "keywords": ["one", "two", "three"],
}


@dataclass
class Served:
    """Where the server is; `calls` and `most_at_once` are known once it has ended."""

    base_url: str
    told: dict[str, int] = field(default_factory=dict)


@contextmanager
def served_model(*, seconds: float, places: int, errors: float = 0.0) -> Iterator[Served]:
    """Serve while the block runs; a share of `errors` of the calls gets 429, as many 500."""
    command = [sys.executable, "-m", "tests.bench.served_model", str(seconds), str(places), str(errors)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        served = Served(process.stdout.readline().strip())
        try:
            yield served
        finally:
            process.stdin.close()
            served.told = json.loads(process.stdout.readline())


def main() -> None:
    seconds, places, errors = map(float, sys.argv[1:])
    misbehave = sometimes({Misbehaviour.BUSY: errors, Misbehaviour.ERROR: errors}, seed=1)
    with chat_server(lambda _: REPLY, seconds=seconds, places=int(places), misbehave=misbehave, keep_requests=False) as server:
        sys.stdout.write(server.base_url + "\n")
        sys.stdout.flush()
        sys.stdin.read()
        sys.stdout.write(json.dumps({"calls": server.calls, "most_at_once": server.most_at_once}) + "\n")


if __name__ == "__main__":
    main()
