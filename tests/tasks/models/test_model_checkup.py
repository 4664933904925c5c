"""`doctor --models` before real servers, well and misbehaving: what it finds, and that each finding has a remedy."""

import json

import pytest

from flows.cli.main import main
from tasks.models import checkup_of_servers as model_checkup
from tasks.models.checkup_of_servers import check_models
from tests.chat_server import GLANCE, PROBES, Misbehaviour, always, chat_server
from tests.embedding_server import Answer, altered, embedding_server, ranks


@pytest.fixture
def look(monkeypatch):
    """Looks at the one server that is set."""

    def set_and_look(kind, server, **named):
        for name in ("MODEL", "API_KEY"):
            monkeypatch.setenv(f"FLOWREADER_{kind}_{name}", named.get(name.lower(), ""))
        monkeypatch.setenv(f"FLOWREADER_{kind}_BASE_URL", server.base_url)
        (checkup,) = check_models()
        assert (checkup.server, checkup.address) == (
            {"CHAT": "chat", "EMBED": "embeddings", "RERANK": "reranker"}[kind],
            server.base_url,
        )
        return {check.check: check for check in checkup.checks}

    return set_and_look


def well_chat(reply=lambda request: PROBES[request.form], **more):
    return chat_server(reply, **({"max_model_len": 32768, "answers_probes": False} | more))


def wrong(checks):
    return {name for name, check in checks.items() if check.remedy}


def test_a_chat_server_that_is_well_is_asked_for_a_small_reply_and_one_in_full(look):
    with well_chat() as server:
        checks = look("CHAT", server)
        assert (server.calls, server.listings, len(server.requests[0].images)) == (2, 1, 1)
    assert list(checks) == ["answers", "model", "structured output", "picture", "speed", "forms"] and not wrong(checks)
    assert checks["model"].found.startswith("scripted") and checks["forms"].found == "full"


WRONG, RED = {"WorkerReply": {"answer": "20"}}, {"Glance": {"colour": "red"}}
FORM, HANGS = {"structured output"}, always(Misbehaviour.HANG)


@pytest.mark.parametrize(
    ("misbehave", "ill"),
    [
        (always(Misbehaviour.PROSE), FORM),
        (always(Misbehaviour.REFUSAL), FORM),
        (always(Misbehaviour.BAD_REQUEST), FORM),
        (always(Misbehaviour.BUSY), FORM),
        (HANGS, FORM),
        (always(Misbehaviour.WRONG_MODEL), {"model"}),
        (lambda asked: Misbehaviour.BAD_REQUEST if asked.images else None, set()),
    ],
)
def test_each_misbehaviour_is_found_where_it_shows_with_a_remedy(look, misbehave, ill, monkeypatch):
    if misbehave is HANGS:
        monkeypatch.setattr(model_checkup, "PATIENT_SECONDS", 2.0)
    with well_chat(misbehave=misbehave) as server:
        checks = look("CHAT", server)
    assert wrong(checks) == ill and all(check.found for check in checks.values())


@pytest.mark.parametrize(
    ("serving", "check", "says", "ill"),
    [
        ({"max_model_len": 4096}, "forms", "plain: full ones need 16,384 tokens of context", set()),
        ({"max_model_len": 16_384}, "forms", "full", set()),
        ({"max_model_len": None}, "forms", "full", set()),
        ({"read_per_second": 40.0, "written_per_second": 8.0}, "forms", "plain: full ones would take more than 120 s", set()),
        ({"reply": lambda request: PROBES[request.form] | WRONG.get(request.form, {})}, "forms", "plain: in a full one", set()),
        ({"reply": lambda _request: GLANCE | {"month": "August"}}, "forms", "small: in a full one", set()),
        ({"sees": False}, "picture", "none is taken", set()),
        (
            {"reply": lambda request: PROBES[request.form] | RED.get(request.form, {})},
            "picture",
            "it is taken, but a green one is called red",
            {"picture"},
        ),
    ],
)
def test_what_the_model_can_do_is_told_and_a_finding_only_where_it_sees_wrongly(look, serving, check, says, ill):
    with well_chat(**serving) as server:
        checks = look("CHAT", server)
    assert checks[check].found.startswith(says) and wrong(checks) == ill


def test_without_a_model_nothing_else_is_asked(look):
    with well_chat(models=("a", "b")) as server:
        checks = look("CHAT", server)
        assert wrong(look("CHAT", server, model="c")) == {"model"} and not wrong(look("CHAT", server, model="a"))
    assert list(checks) == ["answers", "model"] and "FLOWREADER_CHAT_MODEL" in checks["model"].remedy


def test_what_rates_pages_is_looked_at_too_and_named_by_its_own_variables(look, monkeypatch):
    with well_chat(models=("reads", "rates")) as server:
        look("CHAT", server, model="reads")
        monkeypatch.setenv("FLOWREADER_RATER_MODEL", "rates")
        assert [(each.server, each.findings) for each in check_models()] == [("chat", []), ("rater", [])]
        monkeypatch.setenv("FLOWREADER_RATER_MODEL", "tares")
        (finding,) = check_models()[1].findings
    assert "no model 'tares'" in finding.what and "FLOWREADER_RATER_MODEL" in finding.remedy


def test_a_reranker_is_asked_for_two_scores(look):
    with embedding_server(ranks) as server:
        assert list(look("RERANK", server, model="m")) == ["scores"] and not wrong(look("RERANK", server, model="m"))
        server.behave = lambda _request: Answer(404, {})
        (lost,) = look("RERANK", server, model="m").values()
    assert "answered 404" in lost.found and "FLOWREADER_RERANK_BASE_URL" in lost.remedy


@pytest.mark.parametrize(("kind", "serve"), [("CHAT", well_chat), ("EMBED", embedding_server)])
def test_nobody_there_and_a_refused_key_are_one_finding_and_the_key_is_never_shown(look, kind, serve):
    with serve(api_key="sk-right") as server:
        assert "sk-right" not in repr(look(kind, server, api_key="sk-right"))
        (refused,) = look(kind, server, api_key="sk-wrong").values()
    assert f"FLOWREADER_{kind}_API_KEY" in refused.remedy and "sk-wrong" not in repr(refused)
    (gone,) = look(kind, server).values()
    assert gone.check == "answers" and server.base_url in gone.found and gone.remedy


@pytest.mark.parametrize(
    ("behave", "last"),
    [
        ({}, "dimension"),
        ({"behave": altered(lambda data: [entry | {"embedding": [0.0, 0.0]} for entry in data])}, "vectors"),
        ({"behave": lambda _request: Answer(400, {"error": "not an embeddings model"})}, "vectors"),
    ],
)
def test_an_embeddings_server_is_asked_for_vectors_and_what_ingest_refuses_is_one_finding(look, behave, last):
    with embedding_server(**behave) as server:
        checks = look("EMBED", server)
    assert list(checks) == ["answers", "model", last] and wrong(checks) == {last} - {"dimension"}


def command(capsys, *arguments, code):
    assert main(["doctor", "--models", *arguments]) == code
    return capsys.readouterr()


def test_the_command_shows_each_line_and_programs_get_the_same(home, look, capsys):
    with well_chat(misbehave=always(Misbehaviour.PROSE)) as server:
        look("CHAT", server)
        lines = command(capsys, code=1).out.splitlines()
        as_json = json.loads(command(capsys, "--json", code=1).out)
    assert lines[0] == f"chat {server.base_url}" and lines[-1] == "models: 1 finding"
    assert [(finding["check"], set(finding)) for finding in as_json["findings"]] == [
        ("chat: structured output", {"check", "what", "remedy"})
    ]
    assert [(each["server"], set(each["checks"][0])) for each in as_json["servers"]] == [("chat", {"check", "found", "remedy"})]
    with well_chat() as server:
        look("CHAT", server)
        assert command(capsys, code=0).out.splitlines()[-1] == "models: all is well"
    assert not (home / "corpora").exists()


@pytest.mark.parametrize(("address", "named"), [("", "FLOWREADER_CHAT_BASE_URL"), ("localhost:8000", "localhost:8000")])
def test_without_a_server_nothing_is_done(home, monkeypatch, capsys, address, named):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", address)
    error = json.loads(command(capsys, "--json", code=2).out)["error"]
    assert named in error["what"] and error["remedy"]
