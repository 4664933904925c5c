"""The tutorial and the README's commands run as they stand there, and print what stands below them."""

import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from deployments.docs import build
from tests.kept_worlds import give_prefect_data
from tests.listening import free_port
from tests.program import started
from tests.waiting import wait_until

pytestmark = pytest.mark.torture
ROOT = Path(__file__).parents[2]
ITS_OWN = re.compile(r"\b[0-9a-f]{8,12}\b|[0-9.]+ s\b|snapshot [0-9]+|\bid +document +state|:[0-9]{4,5}/")
"""What differs from run to run: ids, times, counts of snapshots, ports."""


def steps_of(path):
    """Each block of commands with what it prints."""
    blocks = [token for token in build.MARKDOWN.parse(path.read_text("utf-8")) if token.info in ("sh", "text")]
    return [
        (one.content, then.content if then and then.info == "text" else "")
        for one, then in pairwise([*blocks, None])
        if one.info == "sh"
    ]


def environment_for(home):
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "FLOWREADER_HOME": str(home), "PATH": programs, "COLUMNS": "120"}


def bare(text):
    return [" ".join(ITS_OWN.sub("#", line).split()) for line in text.splitlines()]


def run(commands, printed, folder, home, answer=""):
    """Run a block, compare what it prints line by line, and return the id of the answer that it gave, or the earlier one's."""
    commands = commands.replace("ANSWER", answer)
    done = subprocess.run(
        ["bash", "-e", "-c", commands], cwd=folder, env=environment_for(home), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = iter(bare(done.stdout))
    for line in bare(printed):
        assert any(line == one for one in shown), f"{commands}\nprints no {line!r} (in this place):\n{done.stdout}"
    found = re.findall(r"^answer ([0-9a-f]{8})", done.stdout, re.MULTILINE)
    return found[-1] if found else answer


def test_the_tutorial_runs_whole_and_prints_what_it_shows(tmp_path):
    home, answer = give_prefect_data(tmp_path / "home"), ""
    steps = steps_of(ROOT / "deployments" / "docs" / "tutorial.md")
    assert len(steps) >= 6
    for commands, printed in steps:
        answer = run(commands, printed, tmp_path, home, answer)
    assert (tmp_path / "answer.html").read_text("utf-8").startswith("<!DOCTYPE html>")


def test_the_commands_of_the_readme_print_what_it_shows(whole_world, tmp_path):
    home = give_prefect_data(shutil.copytree(whole_world / "home", tmp_path / "home"))
    *steps, (serve, printed) = steps_of(ROOT / "README.md")
    for commands, shown in steps:
        run(commands, shown, ROOT, home)
    environment = environment_for(home) | {"FLOWREADER_ASK_ADDRESS": f"127.0.0.1:{free_port()}"}
    with started(["bash", "-c", f"exec {serve}"], env=environment, stdout=subprocess.PIPE, text=True) as service:
        assert bare(service.stdout.readline()) == bare(printed)
        service.terminate()
        wait_until(lambda: service.poll() is not None)
