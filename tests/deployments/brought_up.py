"""Everything up, in processes of its own as `make up` starts it, for the tests that ask, kill and look."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from uuid import uuid4

from tests.kept_worlds import give_prefect_data
from tests.listening import free_port
from tests.program import CORPUS
from tests.waiting import wait_until

BUSY_SECONDS = 120.0
READY_SECONDS, RUN_SECONDS = 150.0, 180.0


def environment_for(home, **more):
    hidden = {"PREFECT_API_URL", "PREFECT_HOME", "PREFECT_SERVER_API_PORT"}
    given = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**given, "FLOWREADER_HOME": str(home), **more}


def requested(api, path, body=None, method=None):
    """Return what Prefect's server replies."""
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(api + path, data, {"Content-Type": "application/json"}, method=method)
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            with urllib.request.urlopen(asked, timeout=30) as reply:
                return json.loads(reply.read() or "null")
        except urllib.error.HTTPError as error:
            # SQLite under a server that is not ours refuses one of two writers at once; Prefect's own clients ask again, too.
            if error.code != 503 or time.monotonic() > deadline:
                raise
        except TimeoutError:
            # It does not answer while it writes what many questions at once left it to write.
            if time.monotonic() > deadline:
                raise
        time.sleep(0.5)


class Up:
    """A running `up`: its process, its address and its environment."""

    def __init__(self, process, environment, log):
        self.process, self.environment, self.log = process, environment, log
        self.api = f"http://127.0.0.1:{environment['PREFECT_SERVER_API_PORT']}/api"

    def said(self):
        return self.log.read_text("utf-8")

    def request(self, path, body=None, method=None):
        return requested(self.api, path, body, method)

    def deployment(self, name):
        return self.request(f"/deployments/name/{name}")

    def begin(self, name, request):
        body = {"parameters": {"request": request}, "idempotency_key": str(uuid4())}
        return self.request(f"/deployments/{self.deployment(name)['id']}/create_flow_run", body)

    def begin_reading(self, corpus):
        """Begin to read the documents of the tests in; return the run's id when it is in the middle of them."""
        run = self.begin("ingest/ingest", {"paths": [str(CORPUS)], "corpus": corpus})["id"]
        wanted = {"artifacts": {"flow_run_id": {"any_": [run]}}}
        wait_until(lambda: self.request("/artifacts/filter", wanted), RUN_SECONDS, self.said)
        assert any("prefect.engine" in words for words in self.group().values())
        return run

    def group(self):
        listed = subprocess.run(["ps", "-eo", "pid=,pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
        rows = [line.split(None, 3) for line in listed.splitlines()]
        return {int(pid): words for pid, group, state, words in rows if int(group) == self.process.pid and state[0] != "Z"}

    def ends_within(self, seconds):
        began = time.monotonic()
        code = self.process.wait(timeout=seconds)
        return code, time.monotonic() - began


@contextmanager
def brought_up(home, log, **more):
    own = {"PREFECT_SERVER_API_PORT": str(free_port()), "FLOWREADER_ASK_ADDRESS": f"127.0.0.1:{free_port()}"}
    environment = environment_for(give_prefect_data(home), **own | more)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "deployments.up"], env=environment, stdout=output, stderr=output, start_new_session=True
        )
    up = Up(process, environment, log)
    try:
        # The last line of the start's message: the UI of a server of its own, the API of another's.
        wait_until(lambda: "\nPrefect's " in up.said() or process.poll() is not None, READY_SECONDS, up.said)
        assert process.poll() is None, up.said()
        yield up
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
