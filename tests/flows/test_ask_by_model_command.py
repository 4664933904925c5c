"""What people see of a question that a model reads, at the command: its calls, servers that are not there or hang, and Ctrl-C."""

import json
import signal
import subprocess
import sys
import time

import pytest

from storage.locations import corpus_location
from tasks.models.endpoints import Endpoint
from tasks.models.local import running_model
from tasks.reading.choice import chat_server_of, settle_reading
from tasks.settings.ask import AskSettings
from tests.asking_worlds import COAST, answers_kept
from tests.chat_server import Misbehaviour, chat_server
from tests.local_models import announced, write_gguf
from tests.program import flowreader
from tests.scripted_answers import Reader, path_answer, whole_answer
from tests.waiting import wait_until


@pytest.fixture
def settings_file(tmp_path):
    path = tmp_path / "by_model.toml"
    path.write_text('[ask.reading]\nby = "model"\n[ask.models.retries]\ndown_seconds = 0.0\nattempts = 2\n')
    return path


def test_where_no_server_is_there_rules_read_and_the_answer_is_not_kept(own_home, settings_file, monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("FLOWREADER_CHAT_MODEL", "scripted")
    command = ("ask", COAST, "--corpus", "small", "--settings", settings_file, "--json")
    by_rules = json.loads(flowreader(*command[:4], "--by", "rules", "--json", home=own_home, check=0).stdout)
    answers = [json.loads(flowreader(*command, home=own_home, check=0).stdout) for _ in range(2)]
    for answer in answers:
        quotes, by_rule = ([one["quote"] for one in each["citations"]] for each in (answer, by_rules))
        assert answer["status"] == "evidence" and quotes == by_rule and not answer["cached"]
        assert answer["notes"][0].startswith("rules looked for the evidence, because the model could not be asked: no chat server")
    with chat_server(Reader({"1,150": "1,150 MW"})) as server:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", server.base_url)
        answer = json.loads(flowreader(*command, home=own_home, check=0).stdout)
    assert (answer["answer"], answer["answer_by"], answer["cached"]) == ("1,150 MW", "model", False)


def test_a_server_that_is_not_there_is_one_clear_error_where_the_model_is_required(own_home, settings_file, monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    runs = len(list(corpus_location("small").runs.glob("ask-*")))
    command = ("ask", COAST, "--corpus", "small", "--settings", settings_file, "--json", "--require-model")
    done = flowreader(*command, home=own_home, check=2)
    told = json.loads(done.stdout or done.stderr)["error"]
    assert "no chat server" in told["what"] and "FLOWREADER_CHAT_BASE_URL" in told["remedy"]
    assert len(list(corpus_location("small").runs.glob("ask-*"))) == runs


def test_a_server_that_the_environment_names_reads_until_rules_are_asked_for(own_home, monkeypatch):
    command = ("ask", COAST, "--corpus", "small")
    with chat_server(Reader({"1,150": "1,150 MW"})) as server:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", server.base_url)
        said = flowreader(*command, home=own_home, check=0).stdout
        asked = server.calls
        by_rules = json.loads(flowreader(*command, "--by", "rules", "--json", home=own_home, check=0).stdout)
        assert server.calls == asked > 0
        again = json.loads(flowreader(*command, "--by", "model", "--json", home=own_home, check=0).stdout)
    assert said.startswith("1,150 MW") and "model calls" in said and ", read by scripted, " in said
    assert (by_rules["answer"], by_rules["cached"], by_rules["status"]) == ("", False, "evidence")
    assert (again["answer"], again["cached"], again["settings"]["reading"]["by"]) == ("1,150 MW", True, "model")


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/v1", "localhost"])
def test_rules_do_not_stand_in_unasked_for_a_server_that_is_not_there(own_home, address, monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", address)
    done = flowreader("ask", COAST, "--corpus", "small", "--json", home=own_home, check=2)
    told = json.loads(done.stdout or done.stderr)["error"]
    assert address in told["what"] and (address == "localhost" or told["remedy"].endswith("or let rules read: --by rules"))
    flowreader("ask", COAST, "--corpus", "small", "--by", "rules", home=own_home, check=0)


def test_what_nothing_proves_is_shown_unless_proof_is_required(own_home, monkeypatch):
    command = ("ask", COAST, "--corpus", "small", "--json", "--fresh")
    wild = {"PathAnswer": path_answer("7 MW", [{"passage": "n9", "quote": "7"}]), "WholeAnswer": whole_answer("", kind="none")}
    with chat_server(Reader({}, instead=wild)) as server:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", server.base_url)
        shown, proven = (
            json.loads(flowreader(*command, *more, home=own_home, check=0).stdout) for more in ((), ("--require-proof",))
        )
    assert (shown["answer"], shown["status"]) == ("7 MW", "unverified")
    assert (proven["answer"], proven["status"]) == ("", "evidence")


def test_a_model_of_this_machine_that_runs_reads_too(home, tmp_path, monkeypatch):
    auto, gguf = AskSettings(), write_gguf(tmp_path / "small.gguf")
    assert settle_reading(auto).reading.by == "rules" and chat_server_of(settle_reading(auto), "flow") is None
    with announced("http://127.0.0.1:9/v1", gguf, home):
        read = settle_reading(auto)
        assert chat_server_of(read, "walk") == running_model() and read.reading.by == "model"
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", "http://127.0.0.1:10/v1")
        assert chat_server_of(read, "flow") == Endpoint("http://127.0.0.1:10/v1"), "what is named goes before what runs"


@pytest.mark.torture
def test_ctrl_c_ends_a_question_that_waits_for_a_server_that_hangs(own_home, settings_file, monkeypatch):
    command = [sys.executable, "-m", "flows.cli.main", "ask", COAST, "--corpus", "small", "--settings", str(settings_file)]
    settings_file.write_text(f"{settings_file.read_text()}[ask.selection]\nread = 1\n")
    with chat_server(Reader({}), misbehave=lambda _: Misbehaviour.HANG) as server:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", server.base_url)
        asking = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: server.calls)
        asking.send_signal(signal.SIGINT)
        _, said = asking.communicate(timeout=60)
    assert asking.returncode == 130 and "stopped" in said and server.calls == 1
    assert not answers_kept(corpus_location("small"))


LOADING = """
import sys
from flows.cli.main import program
from tasks.models.process import ModelProcess

child = "import os, time; open(os.environ['FLOWREADER_HOME'] + '/loading', 'w').close(); time.sleep(60)"
usual = ModelProcess._command.fget
ModelProcess._command = property(lambda it: [sys.executable, "-c", child] if "local_server" in it._module else usual(it))
program()
"""
"""The command line, whose local model loads for a minute."""


@pytest.mark.torture
def test_ctrl_c_ends_a_question_whose_local_model_loads(own_home, tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", str(write_gguf(tmp_path / "large.gguf")))
    command = [sys.executable, "-c", LOADING, "ask", "--local", COAST, "--corpus", "small"]
    asking = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: (own_home / "loading").exists() or asking.poll() is not None)
    asking.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, said = asking.communicate(timeout=60)
    assert asking.returncode == 130 and said.strip() == "stopped" and time.monotonic() - began < 10
