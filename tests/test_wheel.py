"""The wheel alone: it holds what the product reads and what its messages name, and runs where there are no sources."""

import ast
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from flows.cli.arguments.commands import build_parser

ROOT = Path(__file__).parent.parent
PACKAGES = ("flows", "tasks", "storage")
OF_THE_SOURCES = re.compile(
    r"\bmake (?:bench\S*|campaign|check|clean|demo|golden|install|sentinels|test|torture|up)\b"
    r"|\b(?:README|CONTRIBUTING|CHANGELOG)\b|(?<!/)\b(?:deployments|tests)/|constraints\.txt|\.venv"
)
"""What somebody who installed a wheel does not have."""


DOCS = "flows/service/web/docs/"
"""What `make docs` builds: it is there or not."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(installed, home, *words):
    """Run Python on what is installed and on nothing of the sources; return what it prints."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), "FLOWREADER_HOME": str(home)}
    done = subprocess.run([sys.executable, "-P", *words], env=environment, cwd=home, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_every_file_of_the_product_and_the_demos_and_no_other(wheel):
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    demo = {f"flows/demo/{path.relative_to(ROOT / 'tests')}" for path in (ROOT / "tests" / "corpus").iterdir()}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name and not name.startswith(DOCS)}
    assert held == {*listed, *demo, "flows/demo/demo_questions.txt"} - {"", "flows/readers/README.md"}
    assert {f"{package}/py.typed" for package in PACKAGES} <= held
    assert wheel.stat().st_size <= 5_000_000


def strings(path):
    """What a module may show: its texts without docstrings; of any other file the whole."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        return [text]
    tree = ast.parse(text)
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent
    ]


def test_no_message_names_what_only_the_sources_have():
    shown = [
        path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.*")
        if path.suffix in {".py", ".j2", ".html", ".js"} and not path.is_relative_to(ROOT / DOCS)
    ]
    found = {
        (path.relative_to(ROOT).as_posix(), hit[0])
        for path in shown
        for text in strings(path)
        for hit in OF_THE_SOURCES.finditer(text)
    }
    assert found == set()


def test_an_installed_program_says_what_to_do_first(installed, tmp_path):
    shown = run(installed, tmp_path, "-m", "flows.cli.main")
    commands = re.findall(r"^ +flowreader (.*?)(?: {2,}|$)", shown, re.MULTILINE)
    assert [words.split()[0] for words in commands] == ["demo", "ingest", "ask", "serve"] and str(tmp_path) in shown
    for words in commands:
        build_parser().parse_args(words.split())


def test_an_installed_program_has_its_demo_with_it(installed, tmp_path):
    found = run(installed, tmp_path, "-c", "from flows.cli.demo_command import FOLDER; print(FOLDER)").strip()
    assert Path(found) == installed / "flows" / "demo"


def test_a_system_that_it_does_not_run_on_hears_so_in_one_line():
    started = [sys.executable, "-c", "import sys; sys.platform = 'win32'; import flows"]
    done = subprocess.run(started, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "FlowReader runs on Linux and macOS; on Windows run it in WSL\n"
