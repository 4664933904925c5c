"""A trained model reads: the small one of the package, behind llama.cpp, as `model serve` and `ask --local` run it."""

import json
from pathlib import Path

import httpx
import pytest

from storage.runs.replies import CallCache
from tasks.models.chat.model import open_chat
from tasks.models.checkup_of_servers import check_models
from tasks.models.local import local_model, reachable
from tasks.settings.models import ModelSettings
from tests.asking_worlds import TORQUE
from tests.deployments.brought_up import brought_up
from tests.torture.lab import Run, copies, ingest, living
from tests.waiting import wait_until

pytestmark = pytest.mark.torture

NUMBER = {"type": "object", "properties": {"torque": {"type": "integer"}}, "required": ["torque"], "additionalProperties": False}
ONE_SENTENCE = "The bolts of the blade root are tightened with 1850 Nm. With which torque?"
LOAD_SECONDS = 120.0


def posted(address, body, api_key="none"):
    """Return what is replied; no proxy stands between."""
    headers = {"Authorization": f"Bearer {api_key}"}
    return httpx.post(address, json=body, headers=headers, timeout=LOAD_SECONDS * 3, trust_env=False).raise_for_status().json()


def serving(home: Path) -> Run:
    """Start the model, and return when it is ready."""
    home.mkdir(parents=True, exist_ok=True)
    run = Run("model", "serve", "--port", "0", "--json", home=home)
    wait_until(lambda: "api_key" in run.words or run.process.poll() is not None, LOAD_SECONDS, lambda: run.words)
    assert run.process.poll() is None, run.words
    return run


def address(run: Run) -> tuple[str, str]:
    ready = json.loads(run.words[run.words.index("{") :].splitlines()[0])
    return ready["address"], ready["api_key"]


@pytest.fixture(scope="module")
def library_of_one(tmp_path_factory):
    """A home with a corpus of one short document."""
    folder = tmp_path_factory.mktemp("local")
    ingest(copies(folder / "in", ("maintenance_manual.docx",)), home=folder / "home", corpus="one").ended(0)
    return folder / "home"


def test_it_replies_by_a_schema_and_ctrl_c_leaves_nothing(tmp_path):
    run = serving(tmp_path / "home")
    form = {"type": "json_schema", "json_schema": {"name": "Torque", "schema": NUMBER}}
    asked = {"model": "any", "temperature": 0, "max_tokens": 40, "messages": [{"role": "user", "content": ONE_SENTENCE}]}
    base_url, api_key = address(run)
    reply = posted(f"{base_url}/chat/completions", asked | {"response_format": form}, api_key)
    assert isinstance(json.loads(reply["choices"][0]["message"]["content"])["torque"], int)
    run.interrupt()
    run.ended(0)
    assert run.survivors() == []


def test_the_kill_of_the_parent_leaves_no_model(tmp_path):
    run = serving(tmp_path / "home")
    run.kill()
    assert run.survivors() == []


def test_a_question_starts_the_model_and_ends_it(library_of_one, tmp_path):
    settings = tmp_path / "small.toml"
    settings.write_text('[ask.reading.model]\nforms = "small"\n')
    run = Run("ask", "--local", TORQUE, "--corpus", "one", "--settings", settings, "--json", home=library_of_one).ended(0)
    answer = run.said
    assert answer["usage"]["calls"] > 0 and answer["models"]["chat"].startswith("SmolLM2-135M-Instruct.Q4_1@"), answer
    assert run.survivors() == []


def test_the_service_asks_the_model_that_make_up_starts(library_of_one, tmp_path):
    with brought_up(library_of_one, tmp_path / "log", FLOWREADER_LOCAL_MODEL="smollm2") as up:
        assert ", read by SmolLM2-135M-Instruct.Q4_1@" in up.said()
        settings = {"reading": {"model": {"forms": "small"}}}
        request = {"corpus": "one", "questions": [TORQUE], "fresh": True, "settings": settings}
        (answer,) = posted(f"http://{up.environment['FLOWREADER_ASK_ADDRESS']}/ask", request)["answers"]
        used = answer["usage"]  # the model may have been asked the same by the test before
        assert answer["models"]["chat"].startswith("SmolLM2-135M-Instruct.Q4_1@") and used["calls"] + used["cached"] > 0
        up.process.terminate()
        assert up.ends_within(30)[0] == 0
    assert living(library_of_one, up.process.pid) == []


def test_a_small_model_is_found_to_read_little_and_to_see_nothing(home, tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", "smollm2")
    with reachable(local_model()) as server:
        (checkup,) = check_models()
        with open_chat(server, ModelSettings(), cache=CallCache(tmp_path)) as model:
            assert model.abilities.short and not model.abilities.sees and model.abilities.written_per_second > 0
    found = {check.check: check.found for check in checkup.checks}
    assert found["model"].endswith("reads 8,192 tokens") and found["picture"].startswith("none is taken")
    assert found["structured output"] == "a reply has the form that was asked for"
    assert found["forms"].startswith("small: full ones need 16,384 tokens of context")
