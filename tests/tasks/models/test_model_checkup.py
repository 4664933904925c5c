"""`doctor --models` before real servers, well and misbehaving: what it finds, and that each finding has a remedy."""

import json

import pytest

from flows.cli.main import main
from tasks.models import checkup_of_servers as model_checkup
from tasks.models.checkup_of_servers import check_models
from tests.chat_server import PROBES, Misbehaviour, always, at, chat_server
from tests.embedding_server import Answer, altered, embedding_server

TALK = {"structured output", "picture"}


@pytest.fixture(autouse=True)
def look(monkeypatch):
    """Looks at the one server that is set; at first none is."""

    def set_and_look(kind, server, **named):
        for name in ("MODEL", "API_KEY"):
            monkeypatch.setenv(f"FLOWREADER_{kind}_{name}", named.get(name.lower(), ""))
        monkeypatch.setenv(f"FLOWREADER_{kind}_BASE_URL", server.base_url)
        (checkup,) = check_models()
        assert (checkup.server, checkup.address) == ({"CHAT": "chat", "EMBED": "embeddings"}[kind], server.base_url)
        return {check.check: check for check in checkup.checks}

    for kind in ("CHAT", "EMBED"):
        for name in ("BASE_URL", "MODEL", "API_KEY"):
            monkeypatch.delenv(f"FLOWREADER_{kind}_{name}", raising=False)
    return set_and_look


def forms(request):
    """The replies of a server that is well."""
    return PROBES[request.form]


def well_chat(reply=forms, **more):
    return chat_server(reply, **({"max_model_len": 32768, "answers_probes": False} | more))


def wrong(checks):
    return {name for name, check in checks.items() if check.remedy}


def test_a_chat_server_that_is_well_is_asked_once_for_each_thing(look):
    with well_chat() as server:
        checks = look("CHAT", server)
        assert (server.calls, server.listings, sum(len(request.images) for request in server.requests)) == (2, 1, 1)
    assert list(checks) == ["answers", "model", "context", "structured output", "usage", "picture", "speed", "forms"]
    assert not wrong(checks) and checks["model"].found == "scripted" and checks["forms"].found.startswith("full; 11 paths")


@pytest.mark.parametrize(
    ("misbehaviour", "ill"),
    [
        (Misbehaviour.PROSE, TALK),
        (Misbehaviour.WHITESPACE, TALK),
        (Misbehaviour.LENGTH, TALK),
        (Misbehaviour.REFUSAL, TALK),
        (Misbehaviour.BAD_REQUEST, {"structured output"}),
        (Misbehaviour.BUSY, TALK),
        (Misbehaviour.RESET, TALK),
        (Misbehaviour.HANG, TALK),
        (Misbehaviour.WRONG_MODEL, {"model"}),
    ],
)
def test_each_misbehaviour_is_found_where_it_shows_with_a_remedy(look, misbehaviour, ill, monkeypatch):
    if misbehaviour is Misbehaviour.HANG:
        monkeypatch.setattr(model_checkup, "PATIENT_SECONDS", 2.0)
    with well_chat(misbehave=always(misbehaviour)) as server:
        checks = look("CHAT", server)
    assert wrong(checks) == ill and all(check.found for check in checks.values())


def test_a_picture_that_is_seen_wrongly_is_a_finding_and_one_lost_call_does_not_hide_it(look):
    with well_chat(
        lambda request: {"colour": "red"} if request.images else forms(request), misbehave=at({1: Misbehaviour.ERROR})
    ) as server:
        checks = look("CHAT", server)
    assert wrong(checks) == TALK and "red" in checks["picture"].found


def test_a_server_that_counts_no_tokens_is_a_finding(look):
    with well_chat(tells_usage=False) as server:
        assert wrong(look("CHAT", server)) == {"usage"}


@pytest.mark.parametrize(
    ("serving", "forms", "reason"),
    [
        ({"max_model_len": 4096}, "small", "16,384 tokens of context"),
        ({"max_model_len": 16_384}, "full", ""),
        ({"max_model_len": None}, "full", ""),
        ({"read_per_second": 40.0, "written_per_second": 8.0}, "small", "more than 120 s"),
    ],
)
def test_a_question_is_asked_in_the_forms_that_the_model_can_fill_in_its_time(look, serving, forms, reason):
    with well_chat(**serving) as server:
        checks = look("CHAT", server)
    assert checks["forms"].found.startswith(forms) and reason in checks["forms"].found and not wrong(checks)


@pytest.mark.parametrize(
    "blind", [{"sees": False}, {"misbehave": lambda asked: Misbehaviour.BAD_REQUEST if asked.images else None}]
)
def test_a_model_that_sees_no_pictures_is_no_finding(look, blind):
    with well_chat(**blind) as server:
        checks = look("CHAT", server)
    assert not wrong(checks) and checks["picture"].found.startswith("none is taken")


def test_without_a_model_nothing_else_is_asked(look):
    with well_chat(models=("a", "b")) as server:
        checks = look("CHAT", server)
        assert wrong(look("CHAT", server, model="c")) == {"model"} and not wrong(look("CHAT", server, model="a"))
    assert list(checks) == ["answers", "model"] and "FLOWREADER_CHAT_MODEL" in checks["model"].remedy


def test_what_rates_pages_is_looked_at_too_and_named_by_its_own_variables(look, monkeypatch):
    with well_chat(models=("reads", "rates")) as server:
        look("CHAT", server, model="reads")
        monkeypatch.setenv("FLOWREADER_RATER_MODEL", "rates")
        _, rater = check_models()
        assert (rater.server, rater.wrong) == ("rater", ()) and "rates" in {check.found for check in rater.checks}
        monkeypatch.setenv("FLOWREADER_RATER_MODEL", "tares")
        (finding,) = check_models()[1].wrong
    assert "no model 'tares'" in finding.found and "FLOWREADER_RATER_MODEL" in finding.remedy


@pytest.mark.parametrize(("kind", "serve"), [("CHAT", well_chat), ("EMBED", embedding_server)])
def test_nobody_there_and_a_refused_key_are_one_finding_and_the_key_is_never_shown(look, kind, serve):
    with serve(api_key="sk-right") as server:
        assert "sk-right" not in repr(look(kind, server, api_key="sk-right"))
        (refused,) = look(kind, server, api_key="sk-wrong").values()
    assert f"FLOWREADER_{kind}_API_KEY" in refused.remedy and "sk-wrong" not in repr(refused)
    (gone,) = look(kind, server).values()
    assert gone.check == "answers" and server.base_url in gone.found and gone.remedy


def test_an_embeddings_server_that_is_well(look):
    with embedding_server() as server:
        checks = look("EMBED", server)
        assert "FLOWREADER_EMBED_MODEL" in look("EMBED", server, model="other")["answers"].remedy
    assert list(checks) == ["answers", "model", "dimension"] and not wrong(checks)
    assert checks["dimension"].found.endswith(" numbers a text")


@pytest.mark.parametrize(
    "behave",
    [
        altered(lambda data: data[::-1]),
        altered(lambda data: [entry | {"embedding": [0.0, 0.0]} for entry in data]),
        lambda _request: Answer(400, {"error": "not an embeddings model"}),
    ],
)
def test_vectors_that_ingest_refuses_are_one_finding(look, behave):
    with embedding_server(behave) as server:
        checks = look("EMBED", server)
    assert list(checks) == ["answers", "model", "vectors"] and checks["vectors"].remedy


def command(capsys, *arguments, code):
    assert main(["doctor", "--models", *arguments]) == code
    return capsys.readouterr()


def test_the_command_shows_each_line_and_programs_get_the_same(home, look, capsys):
    with well_chat(misbehave=always(Misbehaviour.PROSE)) as server:
        look("CHAT", server)
        lines = command(capsys, code=1).out.splitlines()
        as_json = json.loads(command(capsys, "--json", code=1).out)
    assert lines[0] == f"chat {server.base_url}" and "  model: scripted" in lines and lines[-1] == "models: 2 findings"
    assert [finding["check"] for finding in as_json["findings"]] == ["chat: structured output", "chat: picture"]
    assert all(set(finding) == {"check", "what", "remedy"} for finding in as_json["findings"])
    assert [(each["server"], set(each["checks"][0])) for each in as_json["servers"]] == [("chat", {"check", "found", "remedy"})]
    with well_chat() as server:
        look("CHAT", server)
        assert command(capsys, code=0).out.splitlines()[-1] == "models: all is well"
    assert not (home / "corpora").exists()


@pytest.mark.parametrize(("address", "named"), [("", "FLOWREADER_CHAT_BASE_URL"), ("localhost:8000", "localhost:8000")])
def test_without_a_server_nothing_is_done(home, monkeypatch, capsys, address, named):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", address)
    assert named in command(capsys, code=2).err
    error = json.loads(command(capsys, "--json", code=2).out)["error"]
    assert named in error["what"] and error["remedy"]
