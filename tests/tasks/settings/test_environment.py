"""A name in the environment that nothing reads is refused before anything is done, with the nearest that something does."""

import json
import os
import re
import subprocess
import sys

import pytest

from flows.cli.main import main
from tasks.settings.environment import NAMES, check_environment
from tests.test_architecture import ROOT


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("FLOWREADER_CHAT_BASEURL", "did you mean FLOWREADER_CHAT_BASE_URL?"),
        ("FLOWREADER_", "did you mean FLOWREADER_"),
    ],
)
def test_a_command_refuses_a_name_that_nothing_reads(monkeypatch, capsys, name, remedy):
    monkeypatch.setenv(name, "x")
    assert main(["status", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["value"] == name and remedy in error["remedy"]


def test_a_language_without_a_stemmer_is_refused_with_those_that_have_one(monkeypatch, capsys):
    monkeypatch.setenv("FLOWREADER_LANGUAGE", "germn")
    assert main(["status", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["value"], "french, german" in error["remedy"]) == ("germn", True)


@pytest.mark.torture
@pytest.mark.parametrize("program", ["deployments.serve", "deployments.questions"])
def test_what_is_started_alone_refuses_it_too(home, program):
    environment = {**os.environ, "PREFECT_API_URL": "http://127.0.0.1:1/api", "FLOWREADER_NAME": "x"}
    done = subprocess.run([sys.executable, "-m", program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "nothing reads 'FLOWREADER_NAME'" in done.stderr and "Traceback" not in done.stderr


def test_names_that_are_read_and_those_that_kubernetes_sets_for_a_service_pass(monkeypatch):
    services = ("CHAT_SERVICE_HOST", "CHAT_SERVICE_PORT_HTTP", "CHAT_PORT", "CHAT_PORT_8000_TCP", "CHAT_PORT_8000_TCP_ADDR")
    for name in (*(NAMES.keys() - {"FLOWREADER_LANGUAGE"}), *(f"FLOWREADER_{service}" for service in services)):
        monkeypatch.setenv(name, "x")
    check_environment()


def test_every_name_that_the_documentation_and_the_deployment_files_give_is_known():
    texts = [path.read_text("utf-8") for path in (ROOT / "deployments").rglob("*") if path.suffix in {".md", ".yaml", ".json"}]
    named = {name for text in texts for name in re.findall(r"FLOWREADER_[A-Z_]*[A-Z]\b(?!_)", text)}
    assert named and named <= NAMES.keys() | {"FLOWREADER_CHAT", "FLOWREADER_EMBED"}
