"""Runs as deployments make them, each flow called once in a process of its own with a Prefect server of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("deployed_runs.py")


@pytest.fixture(scope="session")
def deployed(library, tmp_path_factory):
    """What `deployed_runs.py` saw: the home it worked in, what its flows returned, and their runs and pages in Prefect."""
    home = shutil.copytree(library, tmp_path_factory.mktemp("deployed") / "home")
    environment = {**os.environ, "FLOWREADER_HOME": str(home), "PREFECT_LOGGING_LEVEL": "WARNING"}
    done = subprocess.run([sys.executable, str(PROGRAM)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {"home": home, **json.loads(done.stdout.splitlines()[-1])}
