"""What people see in Prefect's UI: a scheduled ingest, a question from the form and one from the command line, with their pages.

Without a Chromium these are skipped; with REQUIRE_BROWSER=1, as .ci/run sets it, they fail.
"""

import json
import time

import pytest

from flows.cli.ask_server_commands import ask_service
from flows.prefect_runs.pages import answer_key
from storage.records.answers import Answer
from storage.runs.answer_json import answer_from_json
from tests.asking_worlds import TORQUE
from tests.waiting import wait_until

pytestmark = pytest.mark.torture

SECONDS = 180
TEXT = "document.body.innerText"
BUTTON = """[...document.querySelectorAll('button')].find((one) => one.innerText.trim() === %s)"""
FIELDS = "document.querySelectorAll('textarea').length"
FILL = """(() => {
  const fields = [...document.querySelectorAll('textarea')];
  const field = fields[%d];
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(field, %s);
  field.dispatchEvent(new Event('input', {bubbles: true}));
  return fields.length;
})()"""
MARKUP = "document.querySelectorAll('a[href^=javascript], img[src=x]').length"


def until(found, what):
    return wait_until(found, SECONDS, lambda: what)


def address(serving, path):
    return serving.api.removesuffix("/api") + path


def pages_of(serving, run, key):
    found = serving.request("/artifacts/filter", {"artifacts": {f"{key}_run_id": {"any_": [run]}}})
    return {page["key"]: page["id"] for page in found if page["key"]}


def page_of(serving, key, words=""):
    """Return the id of the page with this key once it holds the words."""
    found = serving.request("/artifacts/filter", {"artifacts": {"key": {"any_": [key]}}})
    return next((page["id"] for page in found if words in page["data"]), None)


def shows(opened, words):
    """Say whether the page shows the words; one that is empty is asked for again, for the UI does not when its server was busy."""
    text = opened.run(TEXT)
    if not text.strip():
        time.sleep(3)
        if not opened.run(TEXT).strip():
            opened.call("Page.reload")
            time.sleep(3)
    return all(word in text for word in words)


def look_at(chromium, serving, page, words, shot):
    """Open an artifact's page; it shows the words, and obeys no word of people."""
    with chromium.page(address(serving, f"/artifacts/artifact/{page}"), width=1280, height=1200) as opened:
        until(lambda: shows(opened, words), f"{words} on the page of artifact {page}")
        assert opened.run(MARKUP) == 0
        opened.screenshot(shot)


def test_a_question_of_the_form_is_answered_with_a_page(chromium, serving, tmp_path):
    deployment = serving.deployment("ask/ask")["id"]
    wanted = {"flow_runs": {"deployment_id": {"any_": [deployment]}, "name": {"any_": [TORQUE]}}}
    before = [run["id"] for run in serving.request("/flow_runs/filter", wanted)]

    def answered():
        found = serving.request("/flow_runs/filter", wanted)
        return [run for run in found if run["id"] not in before and run["state_type"] == "COMPLETED"]

    with chromium.page(address(serving, f"/deployments/deployment/{deployment}/run"), width=1280, height=1200) as form:
        until(lambda: shows(form, ["the questions, each answered by itself"]), "the form")
        form.screenshot(tmp_path / "form.png", whole=False)
        fields = form.run(FIELDS)
        form.run(f"{BUTTON % json.dumps('Add item')}.click()")
        until(lambda: form.run(FIELDS) == fields + 1, "the field of the question")
        form.run(FILL % (0, json.dumps(TORQUE)))
        form.run(FILL % (1, json.dumps("small")))
        # The form takes a moment to hear what is typed.
        time.sleep(3)
        form.run(f"{BUTTON % json.dumps('Submit')}.click()")
        (run,) = until(answered, "the run that the form asked for")
    # They are made when the run has ended.
    (page,) = until(lambda: pages_of(serving, run["id"], "flow"), "the page of the answer").values()
    words = [TORQUE, "Evidence found", "maintenance_manual.docx", "flowreader answers show"]
    look_at(chromium, serving, page, words, tmp_path / "answer.png")


def test_a_question_of_the_command_line_is_there_too(chromium, serving, monkeypatch, tmp_path):
    for name in ("FLOWREADER_ASK_ADDRESS", "FLOWREADER_ASK_TOKEN"):
        monkeypatch.setenv(name, serving.environment[name])
    question = "What is the weight of an MT-3 without its base? [x](javascript:alert(1)) | <img src=x>"
    (answer,) = ask_service({"questions": [question], "corpus": "small"})
    wanted = {"artifacts": {"key": {"any_": [answer_key(answer_from_json(answer, Answer))]}}}
    page = until(lambda: serving.request("/artifacts/filter", wanted), "the page of the answer")[0]
    look_at(chromium, serving, page["id"], [question, "flowreader answers show"], tmp_path / "asked.png")
    with chromium.page(address(serving, f"/runs/flow-run/{page['flow_run_id']}"), width=1280, height=900) as opened:
        until(lambda: shows(opened, [question, "Completed"]), "its run")
        opened.screenshot(tmp_path / "asked-run.png")
