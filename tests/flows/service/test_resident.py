"""`flowreader serve`: the query service by itself; Ctrl-C ends it with all that it started, a temporary Prefect server, too."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from deployments.children import descendants
from tests.kept_worlds import give_prefect_data
from tests.listening import free_port
from tests.program import CORPUS
from tests.session_server import session_server
from tests.waiting import wait_until


def temporary_server(pid):
    """Return the address of the temporary Prefect server below the process."""
    return next(f"http://127.0.0.1:{line[3]}/api" for line in commands_below(pid) if "flows.prefect_runs.server" in line)


def commands_below(pid):
    """Return the command lines of the processes below that are there."""
    for child in descendants(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            yield Path(f"/proc/{child}/cmdline").read_text().split("\0")


@pytest.mark.parametrize("alone", [False, pytest.param(True, marks=pytest.mark.torture)])
def test_it_says_where_its_page_is_declares_ask_and_ends_with_ctrl_c_and_all_its_processes(own_home, tmp_path, alone):
    address, environment = f"127.0.0.1:{free_port()}", {name: value for name, value in os.environ.items() if "PREFECT" not in name}
    command = [sys.executable, "-m", "flows.cli.main", "serve", "--address", address]
    give_prefect_data(own_home)
    if not alone:
        environment |= {"PREFECT_API_URL": session_server()}
    with (
        (tmp_path / "errors").open("wb") as errors,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, start_new_session=True) as running,
    ):
        said = running.stdout.readline().decode()
        assert said == f"open http://{address}/ to ask; Ctrl-C ends it\n", (tmp_path / "errors").read_text()
        assert httpx.get(f"http://{address}/health", timeout=60).json() == {"waiting": 0, "room": 64}
        prefect = temporary_server(running.pid) if alone else session_server()
        assert httpx.get(f"{prefect}/deployments/name/ask/ask", timeout=60).json()["work_pool_name"] == "flowreader-questions"
        upload = f"http://{address}/api/v1/corpora/small/uploads/scan.png"
        assert httpx.put(upload, content=next(CORPUS.glob("*.pdf")).read_bytes(), timeout=60).status_code == 202
        wait_until(lambda: any("flows.cli.child" in line for line in commands_below(running.pid)))
        below = descendants(running.pid)
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(20) == 0, (tmp_path / "errors").read_text()
        wait_until(lambda: not any(Path(f"/proc/{each}").exists() for each in below), 20, lambda: below)
    assert (tmp_path / "errors").read_text() == ""
