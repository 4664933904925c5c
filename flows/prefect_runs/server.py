"""Prefect on a laptop: no account, no telemetry, and a temporary server that dies with us.

Prefect's own temporary server outlives a killed parent; this one asks the kernel to end it. It starts while the
flow is being imported.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

from storage.errors import ExpectedError
from storage.locations import prefect_folder
from storage.system import check_writable, end_with_parent, require_room

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90.0
"""A cold start takes up to 18 s on a busy machine; after five times that it will not come."""

POLL_SECONDS = 0.1
CONFIGURED_SECONDS = 5.0
"""A server that the user named is up, or it is not."""

DRAIN_SECONDS = 5.0

SERVER_BYTES = 20_000_000
"""Its database with a write-ahead log, and its log."""

PAGE_EVENTS = tuple(f"prefect.artifact-collection.{what}" for what in ("created", "updated", "deleted"))
QUIET = {
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_CLI_COLORS": "false",
    # A run without its process is noticed after five of them (deployments/automations.yaml); Prefect's own are three minutes apart.
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    # Finished runs go after 90 days with their logs and pages, or its database would grow for ever; our own ledger keeps them.
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    # An event of a page holds the page: deleted words must not stay there for a week. The server looks every hour.
    "PREFECT_SERVER_SERVICES_DB_VACUUM_EVENT_RETENTION_OVERRIDES": json.dumps(dict.fromkeys(PAGE_EVENTS, 60)),
    # A task costs the server 30 ms one by one, 9 ms in batches.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "50",
    # LanceDB's index builder warns of what it copes with: clusters that stay empty where texts are alike.
    "LANCEDB_LOG": "warn,lance_index::vector::kmeans=error,lance::index::vector::builder=error",
}
WRITERS = 8
"""Transactions of a server of ours that write or wait to, at most."""

QUEUES = ("EventsWorker", "APILogWorker")
"""Threads of Prefect that send events and logs: at the end of a run they warn about unsent ones, and send them."""


def prepare_environment() -> None:
    """Set what Prefect and LanceDB read at import: Prefect's folder inside ours, and quiet logs."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("PREFECT_HOME", str(prefect_folder()))
    for name in QUEUES:
        # Not below "prefect": its level leaves them as they are.
        logging.getLogger(name).setLevel(logging.ERROR)


def server_is_configured() -> bool:
    """Say whether the user named a Prefect server, by environment or by profile."""
    profiles = prefect_folder() / "profiles.toml"
    return "PREFECT_API_URL" in os.environ or (profiles.exists() and "PREFECT_API_URL" in profiles.read_text("utf-8"))


@contextlib.contextmanager
def prefect_server() -> Iterator[Callable[[], None]]:
    """Have a Prefect server: the configured one, else a temporary one for the time of the block.

    The temporary one starts at once, and PREFECT_API_URL names it; call what is yielded before running a flow: it waits
    until the server answers and raises ExpectedError where it never does.
    """
    prepare_environment()
    if server_is_configured():
        yield require_configured_server
        return
    check_writable(prefect_folder())
    require_room(prefect_folder(), SERVER_BYTES)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    log_path = prefect_folder() / "temporary-server.log"
    with log_path.open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "flows.prefect_runs.server", str(port), str(os.getpid())],
            # `-m` looks for modules in its own folder first: that must never be one of documents
            cwd="/",
            env={**os.environ, "PYTHONPATH": str(ROOT), "PREFECT_HOME": str(prefect_folder())},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            # Ctrl-C in a terminal is for us: the run that ends in order still reports to its server
            start_new_session=True,
        )
    os.environ["PREFECT_API_URL"] = f"http://127.0.0.1:{port}/api"
    # It has no UI: no link may lead there.
    os.environ["PREFECT_UI_URL"] = ""
    try:
        yield lambda: _wait_until_ready(server, port, log_path)
    finally:
        del os.environ["PREFECT_API_URL"], os.environ["PREFECT_UI_URL"]
        server.terminate()
        try:
            server.wait(timeout=5)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def send_last_events() -> None:
    """Have Prefect send its last events: its own thread would wait for ever for a server that is gone."""
    from prefect.events.worker import EventsWorker

    EventsWorker.drain_all(timeout=DRAIN_SECONDS)


def require_configured_server(patience_seconds: float = 0.0) -> None:
    """Raise ExpectedError where no server is named, or the named one does not answer in time."""
    from prefect.settings import get_current_settings

    address = get_current_settings().api.url
    if address is None:
        raise ExpectedError("no Prefect server is named", remedy="set PREFECT_API_URL to its address")
    deadline = time.monotonic() + patience_seconds
    while not answers(address, seconds=CONFIGURED_SECONDS):
        if time.monotonic() >= deadline:
            raise ExpectedError(
                f"the Prefect server at {address} does not answer",
                remedy="start it, or unset PREFECT_API_URL to have a temporary one",
            )
        time.sleep(POLL_SECONDS)


def answers(address: str, *, seconds: float) -> bool:
    """Say whether a Prefect server is at an API's address; it may well refuse the request."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/health", timeout=seconds):
            return True
    except urllib.error.HTTPError:
        # It answers, if only to ask for a login; Prefect's own client has that.
        return True
    except (urllib.error.URLError, OSError):
        return False


def _wait_until_ready(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        if answers(f"http://127.0.0.1:{port}/api", seconds=5.0):
            return
        time.sleep(POLL_SECONDS)
    last_lines = log.read_text("utf-8", "replace").strip().splitlines()[-3:]
    state = "ended" if server.poll() is not None else f"did not answer in {START_SECONDS:.0f} s"
    raise ExpectedError(
        f"the temporary Prefect server {state} ({' / '.join(last_lines) or 'it said nothing'})",
        remedy=f"its log is {log}, or start one with `prefect server start` and set PREFECT_API_URL",
    )


def let_writers_wait() -> None:
    """Make write transactions of our server wait for each other, in no order, if it uses SQLite.

    Prefect begins most transactions as readers; SQLite refuses one that writes after another has written in between, and the
    server answers 503. WRITERS may hold one of its fifteen connections: a writer may need a second one, to read.
    """
    from prefect.server.database.configurations import SQLITE_BEGIN_MODE, AioSqliteConfiguration
    from sqlalchemy.ext.asyncio import AsyncSession, AsyncSessionTransaction

    rooms: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}

    @contextlib.asynccontextmanager
    async def begin_transaction(
        _self: AioSqliteConfiguration, session: AsyncSession, with_for_update: bool = False
    ) -> AsyncIterator[AsyncSessionTransaction]:
        room = rooms.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(WRITERS))
        async with room, session.begin() as transaction:
            token = SQLITE_BEGIN_MODE.set("IMMEDIATE")
            try:
                # This takes the lock. Sessions that only read meanwhile must not wait for it.
                await session.connection()
            finally:
                SQLITE_BEGIN_MODE.reset(token)
            yield transaction

    AioSqliteConfiguration.begin_transaction = begin_transaction  # type: ignore[assignment,method-assign]


def _serve(port: int, parent: int) -> None:
    """Serve Prefect's API until the parent ends, however it ends."""
    end_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update({"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"})
    import uvicorn
    from prefect.server.api.server import create_app

    let_writers_wait()
    uvicorn.run(create_app(ephemeral=True, final=True), host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]))
