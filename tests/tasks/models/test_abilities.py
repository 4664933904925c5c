"""What a served model can do: found out once, kept, looked at again, and no call of a run."""

import time

import pytest

from storage.codec import from_json, to_json
from storage.locations import abilities_folder
from storage.runs.replies import CallCache
from tasks.models.abilities import Abilities, KeptAbilities
from tasks.models.chat.call import nothing_wrong
from tasks.models.chat.errors import Outcome
from tasks.models.chat.model import open_chat
from tasks.models.endpoints import Endpoint
from tests.chat_server import GLANCE, Misbehaviour, always, chat_server
from tests.tasks.models.chat.test_chat_request import encoded
from tests.tasks.models.chat_worlds import call, open_on, settings, summarise

FAST = {"read_per_second": 5000.0, "written_per_second": 100.0}


def kept_file():
    (path,) = abilities_folder().iterdir()
    return path


def opened(server, tmp_path, **more):
    patient = settings(deadlines={"first_token_seconds": 60.0, "idle_seconds": 60.0, "total_seconds": 60.0})
    with open_chat(Endpoint(server.base_url), patient, cache=CallCache(tmp_path), **more) as model:
        return model.abilities


def test_a_model_is_asked_what_it_can_do_once_and_a_run_pays_nothing_for_it(home, tmp_path):
    heard = []
    with chat_server(summarise, max_model_len=32_768) as server:
        with open_on(server, tmp_path, heard.append, budget={"calls": 0}) as model:
            found = model.abilities
        assert found == opened(server, tmp_path) == Abilities(32_768, True, **FAST) and not found.short
    assert (server.probes, server.calls, heard) == (1, 0, [])


@pytest.mark.torture
def test_a_hosted_model_is_not_slow_for_the_wait_for_its_first_word(home, tmp_path):
    well = {"tells_timings": False, "answers_probes": False, "seconds": 2.0}
    with chat_server(lambda _request: GLANCE, piece_length=4, piece_seconds=0.02, **well) as server:
        found = opened(server, tmp_path, probe_seconds=60.0)
    assert found.read_per_second == 0 and found.written_per_second > 4 and not found.is_slow(120.0)
    assert Abilities(0, True, 0.0, 5.0).is_slow(120.0) and not Abilities(0, True, 0.0, 0.0).is_slow(120.0)


def test_another_listing_or_a_week_has_it_looked_at_again(home, tmp_path):
    with chat_server(summarise) as server:
        opened(server, tmp_path)
        server.max_model_len, server.sees = 4096, False
        changed = opened(server, tmp_path)
        assert changed == Abilities(4096, False, **FAST) and changed.short and server.probes == 2
        kept = from_json(KeptAbilities, kept_file().read_bytes())
        assert 6 < (kept.until - time.time()) / 86_400 < 7
        for damaged in (to_json(kept).replace(f"{kept.until}".encode(), b"7.5"), b"not a record"):
            kept_file().write_bytes(damaged)
            assert opened(server, tmp_path) == changed
    assert server.probes == 4


@pytest.mark.torture
@pytest.mark.parametrize("misbehaviour", [Misbehaviour.HANG, Misbehaviour.HANG_LATER])
def test_a_model_that_is_too_slow_to_be_looked_at_costs_a_question_little_and_is_asked_little(home, tmp_path, misbehaviour):
    with chat_server(summarise, answers_probes=False, misbehave=always(misbehaviour)) as server:
        began = time.monotonic()
        found = opened(server, tmp_path, probe_seconds=2.0)
        assert time.monotonic() - began < 15
        assert found.is_slow(120.0) and not found.sees
        kept = from_json(KeptAbilities, kept_file().read_bytes())
        assert kept.until - time.time() <= 3600 and kept.unfinished_after == 2.0
        assert opened(server, tmp_path, probe_seconds=1.0) == found and server.calls == 1, "it was waited for longer before"
        opened(server, tmp_path, probe_seconds=2.5)
        assert server.calls > 1, "an ingest waits longer than a question"


@pytest.mark.parametrize("misbehaviour", [Misbehaviour.UNAUTHORISED, Misbehaviour.ERROR, Misbehaviour.BUSY, Misbehaviour.RESET])
def test_an_error_says_nothing_of_the_model_and_is_not_kept(home, tmp_path, misbehaviour):
    with chat_server(summarise, answers_probes=False, misbehave=always(misbehaviour)) as server:
        assert opened(server, tmp_path) == Abilities(0, True, 0.0, 0.0)
    assert not abilities_folder().exists()


def test_how_long_a_question_may_take_says_whether_a_model_is_slow_and_what_is_unknown_is_enough():
    laptop, unknown = Abilities(0, False, 250.0, 80.0), Abilities(0, False, 0.0, 0.0)
    assert laptop.is_slow(120.0) and not laptop.is_slow(600.0) and not laptop.is_slow(None) and not unknown.is_slow(1.0)


def test_a_rejected_picture_costs_one_more_request_and_no_call(home, tmp_path):
    heard, image = [], encoded((40, 40))
    plain = call("without", check=nothing_wrong)
    with chat_server(summarise) as server, open_on(server, tmp_path, heard.append, budget={"tokens": 10_000}) as model:
        server.sees = False
        with_pictures = [call(f"with {number}", images=(image,), without_pictures=plain) for number in range(30)]
        assert {value.summary for value in model.ask_all(with_pictures)} == {"without"[::-1]}
        assert not any(map(model.saw, with_pictures)) and not list(abilities_folder().iterdir())
        (lost,) = model.ask_all([call("alone", images=(image,))])
    assert lost.outcome is Outcome.REJECTED and "serve a model that sees" in str(lost)
    assert [note.outcome for note in heard] == [Outcome.OK] * 30 + [Outcome.REJECTED]
    assert len(list(CallCache(tmp_path).path(plain.subject).read_bytes().splitlines())) == 30


def test_a_picture_that_is_taken_was_seen(home, tmp_path):
    seen = call("with", images=(encoded((40, 40)),), without_pictures=call("without"))
    with chat_server(summarise) as server, open_on(server, tmp_path) as model:
        assert model.ask_all([seen])[0].summary.endswith("htiw") and model.saw(seen) and not model.saw(call("without"))


def test_a_model_of_this_machine_is_known_again_at_another_address(home, tmp_path):
    for probes in (1, 0):
        with chat_server(summarise) as server:
            at = Endpoint(server.base_url, "scripted", weights="/models/small.gguf")
            open_chat(at, settings(), cache=CallCache(tmp_path)).close()
        assert server.probes == probes
