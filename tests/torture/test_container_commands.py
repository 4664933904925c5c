"""What the containers run, run here once, in the order in which they start: every command, and what asks each whether it is well;
and what is declared for work pools, told to a real server.

Addresses and paths are those of this machine, SQLite is under the server, and no cluster is there: a job is never started.
"""

import os
import subprocess
import sys
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.deployments.brought_up import requested
from tests.deployments.test_manifests import ROOT, compose, pods
from tests.kept_worlds import give_prefect_data
from tests.listening import free_port
from tests.program import CORPUS
from tests.waiting import wait_until

pytestmark = pytest.mark.torture
UP_SECONDS, END_SECONDS = 120.0, 20.0
PROGRAMS = {
    "python": [sys.executable],
    "prefect": [sys.executable, "-m", "prefect"],
    "flowreader": [sys.executable, "-m", "flows.cli.main"],
}


class Machine:
    """This machine in place of the containers: `told` turns what a file says into what is said here."""

    def __init__(self, folder: Path) -> None:
        server, questions, self.health = (str(free_port()) for _ in range(3))
        self.folder = folder
        self.here = {"//server:4200": f"//127.0.0.1:{server}", "//flowreader-server:4200": f"//127.0.0.1:{server}", "4200": server,
                     "0.0.0.0": "127.0.0.1", "4280": questions, "/tmp/prefect": str(folder / "home" / "prefect"),
                     "/documents": str(CORPUS)}  # fmt: skip
        self.usual = {"FLOWREADER_HOME": str(folder / "home"), "FLOWREADER_ASK_ADDRESS": f"127.0.0.1:{questions}",
                      "PREFECT_HOME": str(folder / "home" / "prefect"), "PREFECT_WORKER_WEBSERVER_PORT": self.health}  # fmt: skip

    def told(self, words):
        for theirs, ours in self.here.items():
            words = words.replace(theirs, ours)
        return words

    def command(self, words):
        return [*PROGRAMS[words[0]], *map(self.told, words[1:])]

    def environment(self, given):
        """The variables of a container, without secrets: those have no value in the files."""
        own = {name: self.told(value) for name, value in given.items() if value is not None and "${" not in value}
        hidden = {"PREFECT_API_URL", "PREFECT_SERVER_API_PORT"}
        return {name: value for name, value in os.environ.items() if name not in hidden} | self.usual | own

    def ends_well(self, words, given=()):
        done = subprocess.run(
            self.command(words), env=self.environment(dict(given)), cwd=ROOT, capture_output=True, text=True, timeout=UP_SECONDS
        )
        return done.returncode == 0 or done.stdout + done.stderr

    @contextmanager
    def running(self, words, given, is_well):
        log = self.folder / "log"
        with log.open("ab") as output:
            process = subprocess.Popen(self.command(words), env=self.environment(given), cwd=ROOT, stdout=output, stderr=output)
        try:
            wait_until(lambda: is_well() is True or process.poll() is not None, UP_SECONDS, log.read_text)
            assert process.poll() is None, log.read_text()
            yield
            process.terminate()
            process.wait(END_SECONDS)
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def machine(tmp_path):
    give_prefect_data(tmp_path / "home")
    return Machine(tmp_path)


def variables(container):
    return {one["name"]: one.get("value") for one in container["env"]}


def test_every_command_of_a_container_runs_and_is_found_well(machine):
    pytest.importorskip("prefect_kubernetes")
    services, cluster = compose()["services"], pods()
    (server,), (questions,), (worker,) = (cluster[f"flowreader-{name}"]["containers"] for name in ("server", "questions", "worker"))
    assert (server["command"], questions["command"]) == (services["server"]["command"], services["questions"]["command"])
    assert questions["livenessProbe"]["exec"]["command"] == services["questions"]["healthcheck"]["test"][1:]
    assert server["livenessProbe"]["httpGet"]["path"] in services["server"]["healthcheck"]["test"][3]
    with ExitStack() as running:
        for name in ("server", "worker", "questions"):
            service = services[name]
            well = [machine.told(word) for word in service["healthcheck"]["test"][1:]]
            given = service["environment"]
            running.enter_context(machine.running(service["command"], given, lambda well=well: machine.ends_well(well)))
        asked = machine.ends_well(["flowreader", "ask", "What?", "--server", "--json"])
        assert "there is no corpus 'default'" in asked, "the command in the README reaches it"
        for container in cluster["flowreader-worker"]["initContainers"]:
            assert machine.ends_well(container["command"], variables(container)) is True, container["name"]
        with machine.running(worker["command"], variables(worker), lambda: is_healthy(machine, worker["livenessProbe"])):
            pass


def is_healthy(machine, probe):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{machine.health}{probe['httpGet']['path']}", timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False


NAMES = ("ingest", "evolve", "evaluate", "maintain")


def prefect(*words, server, home):
    done = subprocess.run(
        [sys.executable, "-m", "prefect", *words],
        env={**os.environ, "PREFECT_API_URL": server, "PREFECT_HOME": str(home), "COLUMNS": "200", "NO_COLOR": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", ["process", "docker", "kubernetes"])
def test_a_server_takes_the_template_and_the_deployments_and_none_fetches_anything(server, tmp_path, kind):
    given = ()
    if kind != "process":
        pytest.importorskip(f"prefect_{kind}")
        given = ("--base-job-template", ROOT / "deployments" / kind / "base-job-template.json")
    prefect("work-pool", "create", "flowreader", "--type", kind, *given, "--overwrite", server=server, home=tmp_path)
    named = [word for name in NAMES for word in ("--name", name)]
    told = prefect("--no-prompt", "deploy", *named, "--prefect-file", "deployments/prefect.yaml", server=server, home=tmp_path)
    assert all(f"{name}/{name}' successfully" in " ".join(told.split()) for name in NAMES)
    for name in NAMES:
        made = requested(server, f"/deployments/name/{name}/{name}")
        assert (made["work_pool_name"], made["pull_steps"], made["path"]) == ("flowreader", [], None)
        active = [schedule["active"] for schedule in made["schedules"]]
        assert active == {"maintain": [True], "evolve": []}.get(name, [False])
