import pytest

from tasks.models import checkup_of_chat
from tasks.models.checkup_of_chat import check_chat
from tasks.models.endpoints import Endpoint
from tests.chat_server import Misbehaviour, always, at, chat_server

CHECKS = ["answers", "model", "context", "structured output", "finish reason", "usage", "white space", "picture"]


def forms(request):
    """The rule of a server that is well."""
    return {"light": "green", "cars": 0} if request.form == "Crossing" else {"colour": "green"}


def look(server, **endpoint):
    return check_chat(Endpoint(server.base_url, **endpoint))


def wrong(checkup):
    return {check.check: check for check in checkup.wrong}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(checkup_of_chat, "REPLY_SECONDS", 2.0)


def test_a_server_that_is_well_is_said_to_be_with_all_that_was_found():
    with chat_server(forms, max_model_len=32768) as server:
        checkup = look(server)
    found = {check.check: check.found for check in checkup.checks}
    assert list(found) == CHECKS and not checkup.wrong
    assert (checkup.server, checkup.address) == ("chat", server.base_url)
    assert (found["model"], found["context"], found["finish reason"]) == ("scripted", "32,768 tokens", "stop")
    assert "tokens read" in found["usage"] and "seen to be green" in found["picture"]


def test_it_asks_once_for_each_thing_and_shows_one_small_picture():
    with chat_server(forms, max_model_len=32768) as server:
        look(server)
    assert server.calls == 3 and server.listings == 1
    (picture,) = [image for request in server.requests for image in request.images]
    assert len(picture) < 2000 and sorted(request.body["max_tokens"] for request in server.requests) == [64, 200, 200]
    talk = next(request for request in server.requests if request.form == "Crossing")
    assert "JSON" not in talk.prompt, "only a server that is made to gives a form to whom asks for a sentence"


def test_nobody_there_is_one_finding_that_names_the_address():
    with chat_server(forms) as server:
        pass
    (check,) = look(server).checks
    assert check.check == "answers" and server.base_url in check.found and "FLOWREADER_CHAT_BASE_URL" in check.remedy


def test_without_a_model_nothing_else_is_asked():
    with chat_server(forms, models=("a", "b")) as server:
        checkup = look(server)
        assert [check.check for check in look(server, model="c").wrong] == ["model"]
        assert not wrong(look(server, model="a")).get("model")
    assert [check.check for check in checkup.checks] == ["answers", "model"]
    assert "2 models: a, b" in checkup.wrong[0].found and "FLOWREADER_CHAT_MODEL" in checkup.wrong[0].remedy


def test_a_key_that_is_refused_is_named_by_its_variable_and_never_shown():
    with chat_server(forms, api_key="sk-right") as server:
        (check,) = look(server, api_key="sk-wrong").checks
        assert not look(server, api_key="sk-right").wrong
    assert "401" in check.found and "FLOWREADER_CHAT_API_KEY" in check.remedy and "sk-wrong" not in repr(check)


@pytest.mark.parametrize(
    ("misbehaviour", "ill"),
    [
        (Misbehaviour.PROSE, {"structured output", "picture"}),
        (Misbehaviour.INVALID_JSON, {"structured output", "picture"}),
        (Misbehaviour.DUPLICATE_KEYS, {"structured output", "picture"}),
        (Misbehaviour.WRONG_SCHEMA, {"structured output", "picture"}),
        (Misbehaviour.EMPTY, {"structured output", "picture"}),
        (Misbehaviour.TWO_CHOICES, {"structured output", "white space", "picture"}),
        (Misbehaviour.LENGTH, {"structured output", "finish reason", "white space", "picture"}),
        (Misbehaviour.FILTERED, {"structured output", "finish reason", "white space", "picture"}),
        (Misbehaviour.REFUSAL, {"structured output", "picture"}),
        (Misbehaviour.BAD_REQUEST, {"structured output", "white space", "picture"}),
        (Misbehaviour.TOO_LONG, {"structured output", "white space", "picture"}),
        (Misbehaviour.ERROR, {"structured output", "white space", "picture"}),
        (Misbehaviour.BUSY, {"structured output", "white space", "picture"}),
        (Misbehaviour.RESET, {"structured output", "white space", "picture"}),
        (Misbehaviour.HANG, {"structured output", "white space", "picture"}),
        (Misbehaviour.WRONG_MODEL, {"model"}),
    ],
)
def test_each_misbehaviour_is_found_where_it_shows_with_a_remedy(misbehaviour, ill):
    with chat_server(forms, max_model_len=32768, misbehave=always(misbehaviour)) as server:
        found = wrong(look(server))
    assert set(found) == ill and all(check.remedy and check.found for check in found.values())


def test_white_space_without_end_is_told_apart_from_a_long_reply():
    with chat_server(forms, max_model_len=32768, misbehave=always(Misbehaviour.WHITESPACE)) as server:
        check = wrong(look(server))["white space"]
    assert "runs on without end" in check.found and "disable_any_whitespace" in check.remedy


def test_a_server_that_takes_no_pictures_is_told_to_see():
    def only_text(request):
        return Misbehaviour.BAD_REQUEST if request.images else None

    with chat_server(forms, max_model_len=32768, misbehave=only_text) as server:
        (check,) = look(server).wrong
    assert check.check == "picture" and "400" in check.found and "Qwen3-VL" in check.remedy


def test_a_server_that_does_not_see_is_found_out():
    with chat_server(lambda request: forms(request) | ({"colour": "red"} if request.images else {}), max_model_len=32768) as server:
        (check,) = look(server).wrong
    assert check.check == "picture" and "said to be red" in check.found


@pytest.mark.parametrize(("tokens", "finding"), [(4096, True), (16_384, False), (None, False)])
def test_a_context_too_short_for_our_calls_is_a_finding(tokens, finding):
    with chat_server(forms, max_model_len=tokens) as server:
        found = wrong(look(server))
    assert ("context" in found) == finding


def test_one_lost_call_does_not_hide_what_the_others_say():
    with chat_server(forms, max_model_len=32768, misbehave=at({2: Misbehaviour.ERROR})) as server:
        checkup = look(server)
    assert len(checkup.wrong) == 1 and len(checkup.checks) in {6, 8}
