"""The client against a server that is not ours: `transformers serve`, with a tiny model of random weights."""

import os
import subprocess
import sys
import threading
import time

import pytest

from storage.runs.replies import CallCache
from tasks.models.chat.errors import ChatServerDownError, InvalidReplyError, UnknownModelError
from tasks.models.chat.model import open_chat
from tasks.models.endpoints import Endpoint
from tests.listening import free_port
from tests.program import CORPUS
from tests.tasks.models.chat.test_chat_request import encoded
from tests.tasks.models.chat_worlds import call, calls, settings

ROOT = CORPUS.parents[1]
NAME = "tests/tiny"
PATIENT = {"deadlines": {"first_token_seconds": 60.0, "idle_seconds": 30.0, "total_seconds": 120.0, "models_seconds": 5.0}}

pytestmark = [pytest.mark.torture]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The address of the server, and its process."""
    pytest.importorskip("accelerate", reason="transformers serve needs it")
    folder = tmp_path_factory.mktemp("hub")
    making = [sys.executable, "-m", "tests.tasks.models.tiny_model", str(folder), NAME]
    subprocess.run(making, cwd=ROOT, check=True, capture_output=True)
    port = free_port()
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", NAME, "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "HF_HUB_CACHE": str(folder), "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(
        [*command, "--device", "cpu"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield wait_for(f"http://127.0.0.1:{port}/v1", process), process
        finally:
            process.kill()


def wait_for(url, process):
    for _ in range(240):
        assert process.poll() is None, "transformers serve ended"
        try:
            with open_on(url, None):
                return url
        except ChatServerDownError:
            time.sleep(0.5)
    raise AssertionError("transformers serve does not answer")


def open_on(url, cache, listener=lambda _call: None, model="", **groups):
    return open_chat(Endpoint(url, model), settings(**(PATIENT | groups)), cache=cache, listener=listener)


def test_its_model_is_found_and_another_is_not(served):
    url, _ = served
    with open_on(url, None) as model:
        assert model.name == NAME
    with pytest.raises(UnknownModelError, match=f"only: {NAME}"):
        open_on(url, None, model="qwen")


def test_noise_is_refused_by_name_after_a_second_question_and_pictures_are_seen(served, tmp_path):
    recorded = []
    with open_on(served[0], CallCache(tmp_path), recorded.append) as model:
        plain, shown = model.ask_all(
            [call("say", max_output_tokens=12), call("say", images=(encoded((64, 64)),), max_output_tokens=12)]
        )
    assert type(plain) is type(shown) is InvalidReplyError and "cut after 12 tokens" in str(plain)
    text, picture = sorted(recorded, key=lambda record: record.input_tokens)
    assert text.attempts == picture.attempts == 2 and text.output_tokens == picture.output_tokens == 24
    assert picture.input_tokens > text.input_tokens > 100
    assert CallCache(tmp_path).subjects() == []


def test_its_death_in_mid_run_ends_the_run_within_its_deadline(served, tmp_path):
    url, process = served
    threading.Timer(1.0, process.kill).start()
    hasty = {"retries": {"down_seconds": 1.0, "first_wait_seconds": 0.05, "failures_until_pause": 4}}
    with open_on(url, CallCache(tmp_path), **hasty) as model, pytest.raises(ChatServerDownError, match="what is done is kept"):
        model.ask_all(calls(500, max_output_tokens=200))
    with pytest.raises(ChatServerDownError, match="takes no connection"):
        open_on(url, None)
