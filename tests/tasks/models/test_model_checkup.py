"""`doctor --models` before real servers, well and misbehaving: what it finds, and what to do about it."""

import json

import numpy as np
import pytest

from flows.cli.main import main
from tasks.models import checkup_of_servers as model_checkup
from tasks.models.checkup_of_servers import check_models
from tests.chat_server import PROBES, Misbehaviour, always, at, chat_server
from tests.embedding_server import Answer, altered, embedding_server, vector

CHAT_CHECKS = [
    "answers",
    "model",
    "context",
    "structured output",
    "finish reason",
    "usage",
    "white space",
    "picture",
    "speed",
    "forms",
]
EMBEDDING_CHECKS = ["answers", "model", "dimension", "length", "other texts", "same text twice", "order"]
SILENT = {"structured output", "white space", "picture"}
SPEED = "5000 tokens a second read, 100 written"
FULL = "full; 11 paths in 120 s"
SLOW_FORMS = "small: full ones would take more than 120 s; flow asks once a question"


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


FILLED = {
    "Planned": {"thought": "", "steps": []},
    "PlanCheck": {"reason": "", "sufficient": True, "missing": []},
    "Turn": {"thought": "", "keep": [], "drop": [], "tool": "done", "words": "", "node": "", "where": [], "edge": ""},
    "Located": {"thought": "", "places": []},
    "Reflected": {"reason": "", "answered": True, "look_at": []},
    "RatedPage": {"needed": "", "relevance": 3},
    "MapNotes": {"nodes": [{"id": "p1", "summary": "It is short."}]},
}


def forms(request):
    """The replies of a server that is well."""
    return PROBES[request.form] if request.form in PROBES else FILLED[request.form]


def well_chat(reply=forms, **more):
    return chat_server(reply, **({"max_model_len": 32768, "answers_probes": False} | more))


def wrong(checks):
    return {name for name, check in checks.items() if check.remedy}


def test_a_chat_server_that_is_well_is_asked_once_for_each_thing(look):
    with well_chat() as server:
        checks = look("CHAT", server)
    found = {name: check.found for name, check in checks.items()}
    assert list(found) == CHAT_CHECKS and not wrong(checks)
    assert (found["model"], found["context"], found["finish reason"]) == ("scripted", "32,768 tokens", "stop")
    assert "tokens read" in found["usage"] and "seen to be green" in found["picture"]
    assert (found["speed"], found["forms"]) == (SPEED, FULL)
    assert server.calls == 3 and server.listings == 1 and sum(len(request.images) for request in server.requests) == 1


@pytest.mark.parametrize(
    ("misbehaviour", "ill"),
    [
        (Misbehaviour.PROSE, {"structured output", "picture"}),
        (Misbehaviour.LENGTH, {"structured output", "finish reason", "white space", "picture"}),
        (Misbehaviour.REFUSAL, {"structured output", "picture"}),
        (Misbehaviour.BAD_REQUEST, SILENT - {"picture"}),
        (Misbehaviour.BUSY, SILENT),
        (Misbehaviour.RESET, SILENT),
        (Misbehaviour.HANG, SILENT),
        (Misbehaviour.WRONG_MODEL, {"model"}),
    ],
)
def test_each_misbehaviour_is_found_where_it_shows_with_a_remedy(look, misbehaviour, ill, monkeypatch):
    if misbehaviour is Misbehaviour.HANG:
        monkeypatch.setattr(model_checkup, "PATIENT_SECONDS", 2.0)
    with well_chat(misbehave=always(misbehaviour)) as server:
        checks = look("CHAT", server)
    assert wrong(checks) == ill and all(check.found for check in checks.values())
    assert misbehaviour is not Misbehaviour.BUSY or "loaded its model" in checks["structured output"].remedy


def test_the_remedy_names_what_to_start_the_server_with(look):
    with well_chat(misbehave=always(Misbehaviour.WHITESPACE)) as server:
        space = look("CHAT", server)["white space"]
    assert "runs on without end" in space.found and "disable_any_whitespace" in space.remedy
    with well_chat(lambda request: {"colour": "red"} if request.images else forms(request)) as server:
        seen = look("CHAT", server)["picture"]
    assert "called red; none will be shown" in seen.found and "Qwen3-VL" in seen.remedy
    with well_chat(misbehave=at({2: Misbehaviour.ERROR})) as server:
        assert len(wrong(look("CHAT", server))) == 1, "one lost call does not hide what the others say"


@pytest.mark.parametrize(
    ("serving", "forms"),
    [
        ({"max_model_len": 4096}, "small: full ones need 16,384 tokens of context; flow asks once a question"),
        ({"max_model_len": 16_384}, FULL),
        ({"max_model_len": None}, FULL),
        ({"read_per_second": 40.0, "written_per_second": 8.0}, SLOW_FORMS),
    ],
)
def test_a_question_is_asked_in_the_forms_that_the_model_can_fill_in_its_time(look, serving, forms):
    with well_chat(**serving) as server:
        checks = look("CHAT", server)
    assert checks["forms"].found == forms and not wrong(checks)
    assert checks["speed"].found == ("40 tokens a second read, 8 written" if "small: full ones would" in forms else SPEED)


@pytest.mark.parametrize(
    "blind", [{"sees": False}, {"misbehave": lambda asked: Misbehaviour.BAD_REQUEST if asked.images else None}]
)
def test_a_model_that_sees_no_pictures_is_no_finding(look, blind):
    with well_chat(**blind) as server:
        checks = look("CHAT", server)
    assert not wrong(checks) and checks["picture"].found.startswith("none is taken; figures are told by caption")


def test_without_a_model_nothing_else_is_asked(look):
    with well_chat(models=("a", "b")) as server:
        checks = look("CHAT", server)
        assert wrong(look("CHAT", server, model="c")) == {"model"} and not wrong(look("CHAT", server, model="a"))
    assert list(checks) == ["answers", "model"]
    assert "2 models: a, b" in checks["model"].found and "FLOWREADER_CHAT_MODEL" in checks["model"].remedy


def test_what_rates_pages_is_looked_at_too_by_its_own_form_and_variables(home, look, monkeypatch, capsys):
    with well_chat(models=("reads", "rates")) as server:
        look("CHAT", server, model="reads")
        monkeypatch.setenv("FLOWREADER_RATER_MODEL", "rates")
        lines = command(capsys, code=0).out.splitlines()
        rater = lines[lines.index(f"rater {server.base_url}") :]
        assert "  model: rates" in rater and "  readers: 1 of 1 forms of readers are filled in" in rater
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


def far_apart(data):
    """Vectors that differ as those of a model do."""
    return [entry | {"embedding": list(np.random.default_rng(int(sum(entry["embedding"]))).normal(size=16))} for entry in data]


def test_an_embeddings_server_that_is_well(look):
    with embedding_server(altered(far_apart)) as server:
        checks = look("EMBED", server)
        assert "FLOWREADER_EMBED_MODEL" in look("EMBED", server, model="other")["answers"].remedy
    assert list(checks) == EMBEDDING_CHECKS and not wrong(checks) and checks["model"].found == "m, reads 2,048 tokens"
    assert checks["dimension"].found == "16 numbers a text" and "brought to 1" in checks["length"].found


@pytest.mark.parametrize(
    ("change", "ill"),
    [
        (lambda data: [entry | {"embedding": vector("always the same")} for entry in data], "other texts"),
        (lambda data: [entry | {"index": i} for i, entry in enumerate(far_apart(data)[::-1])], "order"),
        (
            lambda data: [entry | {"embedding": [float(i == j) for j in range(4)]} for i, entry in enumerate(data)],
            "same text twice",
        ),
    ],
)
def test_vectors_that_mix_up_texts_are_found(look, change, ill):
    with embedding_server(altered(change)) as server:
        assert ill in wrong(look("EMBED", server))


@pytest.mark.parametrize(
    "behave",
    [
        altered(lambda data: data[1:]),
        altered(lambda data: [entry | {"embedding": [0.0, 0.0]} for entry in data]),
        altered(lambda data: [entry | {"embedding": [1.0] * (1 + i)} for i, entry in enumerate(data)]),
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
    assert lines[0] == f"chat {server.base_url}" and "  model: scripted" in lines and lines[-1] == "models: 3 findings"
    assert [finding["check"] for finding in as_json["findings"]] == ["chat: structured output", "chat: picture", "chat: readers"]
    assert all(set(finding) == {"check", "what", "remedy"} for finding in as_json["findings"])
    assert [(each["server"], set(each["checks"][0])) for each in as_json["servers"]] == [("chat", {"check", "found", "remedy"})]
    with well_chat() as server:
        look("CHAT", server)
        lines = command(capsys, code=0).out.splitlines()
    assert lines[-1] == "models: all is well" and "  readers: 7 of 7 forms of readers are filled in" in lines
    assert not (home / "corpora").exists()


@pytest.mark.parametrize(("address", "named"), [("", "FLOWREADER_CHAT_BASE_URL"), ("localhost:8000", "localhost:8000")])
def test_without_a_server_nothing_is_done(home, monkeypatch, capsys, address, named):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", address)
    assert named in command(capsys, code=2).err
    error = json.loads(command(capsys, "--json", code=2).out)["error"]
    assert named in error["what"] and error["remedy"]
