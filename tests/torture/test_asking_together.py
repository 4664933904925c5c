"""Questions to a living service, by all its ways, many at once: none is lost, too many are refused at once."""

import os
import signal
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import pytest

from flows.cli.ask_server_commands import ask_service
from storage.errors import RequestError
from tests.asking_worlds import TORQUE, WEIGHT
from tests.torture.conftest import ASK_TOKEN, ROOM
from tests.waiting import wait_until

pytestmark = pytest.mark.torture

ANSWERED = {"evidence"}
TOGETHER = 32


@pytest.fixture
def here(serving, monkeypatch):
    for name in ("FLOWREADER_ASK_ADDRESS", "FLOWREADER_ASK_TOKEN"):
        monkeypatch.setenv(name, serving.environment[name])
    return serving


def asked(question, **more):
    began = time.monotonic()
    (answer,) = ask_service({"questions": [question], "corpus": "small", **more})
    return answer, time.monotonic() - began


def settled(runs):
    """Return the states of runs that are all over, nothing before."""
    states = [run["state"]["type"] for run in runs]
    return [] if {"PENDING", "RUNNING"} & set(states) else states


def test_many_at_once_are_all_answered(here, tell):
    with ThreadPoolExecutor(TOGETHER) as asking:
        done = list(asking.map(lambda number: asked((TORQUE, WEIGHT)[number % 2]), range(TOGETHER)))
    assert [answer["question"] for answer, _seconds in done] == [(TORQUE, WEIGHT)[number % 2] for number in range(TOGETHER)]
    assert {answer["status"] for answer, _seconds in done} <= ANSWERED
    assert len({answer["answer_id"] for answer, _seconds in done}) == 2, "asked again, an answer is the one that is kept"
    seconds = sorted(seconds for _answer, seconds in done)
    unseen = sum("answered without Prefect" in note for answer, _seconds in done for note in answer["notes"])
    tell(
        f"{TOGETHER} at once: p50 {seconds[TOGETHER // 2]:.1f} s, the last {seconds[-1]:.1f} s; none lost, {unseen} without Prefect"
    )
    wanted = {"flow_runs": {"name": {"any_": [TORQUE, WEIGHT]}}}
    states = wait_until(lambda: time.sleep(2) or settled(here.request("/flow_runs/filter", wanted)), 240)
    assert states.count("COMPLETED") >= TOGETHER - unseen, "what Prefect did not see says so"


def test_beyond_the_room_a_question_is_refused_at_once_and_those_inside_are_answered(here, tell):
    def outcome(number):
        began = time.monotonic()
        try:
            return asked(f"{WEIGHT} {number}")[0]["status"], time.monotonic() - began
        except RequestError as error:
            return error.what, time.monotonic() - began

    with ThreadPoolExecutor(2 * ROOM) as asking:
        done = list(asking.map(outcome, range(2 * ROOM)))
    refused = [seconds for what, seconds in done if "is full" in what]
    answered = [seconds for what, seconds in done if what in {*ANSWERED, "not_found"}]
    assert len(answered) + len(refused) == 2 * ROOM and len(answered) >= ROOM and refused, done
    tell(f"{2 * ROOM} at once, room for {ROOM}: {len(answered)} answered, {len(refused)} refused in {max(refused):.1f} s at most")
    assert max(refused) < 20 and median(refused) < max(answered)


@pytest.mark.parametrize("seconds", [0.05, 0.15, 0.4])
def test_a_server_that_hangs_while_a_question_begins_freezes_nothing(here, seconds):
    (server,) = [pid for pid, words in here.group().items() if "-m deployments.server " in f"{words} "]
    with ThreadPoolExecutor(1) as asking:
        waiting = asking.submit(asked, f"What is the weight of an MT-3 after {seconds} seconds?")
        time.sleep(seconds)
        os.kill(server, signal.SIGSTOP)
        try:
            began = time.monotonic()
            while time.monotonic() - began < 13:
                # A question waits 5 s for its run to begin: nothing else may.
                with urllib.request.urlopen(f"http://{here.environment['FLOWREADER_ASK_ADDRESS']}/health", timeout=4.5) as reply:
                    assert reply.status == 200
                time.sleep(0.2)
            answer, _seconds = waiting.result(timeout=20)
        finally:
            os.kill(server, signal.SIGCONT)
    assert answer["status"] in {*ANSWERED, "not_found"}


def test_a_cancelled_question_ends_in_time_and_the_next_is_answered(here):
    run = here.begin("ask/ask", {"questions": [f"{WEIGHT} {number}" for number in range(400)], "corpus": "small"})["id"]
    wait_until(lambda: here.request(f"/flow_runs/{run}")["state"]["type"] == "RUNNING", words=here.said)
    here.request(f"/flow_runs/{run}/set_state", {"state": {"type": "CANCELLING", "name": "Cancelling"}})
    began = time.monotonic()
    while here.request(f"/flow_runs/{run}")["state"]["type"] != "CANCELLED":
        assert time.monotonic() - began < 30, here.request(f"/flow_runs/{run}")["state"]
        time.sleep(0.1)
    assert asked(WEIGHT)[0]["status"] in ANSWERED
    assert ASK_TOKEN not in here.said()
