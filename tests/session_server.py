"""One Prefect server for all workers of a session: the first run that needs it starts it, and it ends with the session.

Prefect learns its server's address when it is imported, so the address is chosen, and Prefect imported, before any test is.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from flows.prefect_runs.server import QUIET, answers
from tests.kept_worlds import ROOT, give_prefect_data, locked
from tests.listening import free_port
from tests.waiting import wait_until

FOLDER, PORT, SESSION = "TESTS_PREFECT_FOLDER", "TESTS_PREFECT_PORT", "TESTS_SESSION_PID"
START_SECONDS = 90
SERVE = """
import os, sys, threading, time

def end_with_the_session():
    while os.path.exists(f"/proc/{sys.argv[2]}"):
        time.sleep(0.5)
    os._exit(0)

threading.Thread(target=end_with_the_session, daemon=True).start()
os.environ |= {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}
import uvicorn
from prefect.server.api.server import create_app

uvicorn.run(create_app(ephemeral=True, final=True), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
"""


def choose(*, import_prefect: bool) -> None:
    """Choose the address in the process that leads the session, and have Prefect know it in each that runs tests."""
    if SESSION not in os.environ:
        os.environ |= {FOLDER: tempfile.mkdtemp(prefix="session-server-"), PORT: str(free_port()), SESSION: str(os.getpid())}
    if not import_prefect:
        return
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environment().items():
            patched.setenv(name, value)
        import prefect.main  # noqa: F401


def forget() -> None:
    """Take the folder away at the end of the session; the server ends by itself."""
    if os.environ.get(SESSION) == str(os.getpid()):
        shutil.rmtree(os.environ[FOLDER], ignore_errors=True)


def environment() -> dict[str, str]:
    return {**QUIET, "PREFECT_HOME": f"{os.environ[FOLDER]}/prefect", "PREFECT_API_URL": address()}


def address() -> str:
    return f"http://127.0.0.1:{os.environ[PORT]}/api"


def session_server() -> str:
    """Return the address of the server, which answers."""
    folder = Path(os.environ[FOLDER])
    with locked(folder / "lock"):
        if not (folder / "up").exists():
            give_prefect_data(folder)
            with (folder / "log").open("wb") as log:
                started = subprocess.Popen(
                    [sys.executable, "-c", SERVE, os.environ[PORT], os.environ[SESSION]],
                    cwd=ROOT,
                    env={**os.environ, **environment()},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            # It ends with the session, not with the worker that happened to start it.
            started.returncode = 0
            wait_until(lambda: answers(address(), seconds=5.0), START_SECONDS, (folder / "log").read_text)
            (folder / "up").touch()
    return address()
