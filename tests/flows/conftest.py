"""Runs as deployments make them, each flow called once in a process of its own with a Prefect server of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kept_worlds import give_prefect_data, kept_world

PROGRAM = Path(__file__).with_name("deployed_runs.py")


@pytest.fixture(scope="session")
def deployed(library):
    """What `deployed_runs.py` saw: the home it worked in, what its flows returned, and their runs and pages in Prefect."""
    made = kept_world("deployed", lambda folder: run_deployed(library, folder), PROGRAM, Path(__file__))
    return {"home": made / "home", **json.loads((made / "seen.json").read_text())}


def run_deployed(library, folder):
    home = give_prefect_data(shutil.copytree(library, folder / "home"))
    environment = {**os.environ, "FLOWREADER_HOME": str(home), "PREFECT_LOGGING_LEVEL": "WARNING"}
    done = subprocess.run([sys.executable, str(PROGRAM)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (folder / "seen.json").write_text(done.stdout.splitlines()[-1])
