"""`flowreader doctor --models`, run as people run it: without a corpus, before real servers."""

import json

import pytest

from tests.chat_server import Misbehaviour, always, chat_server
from tests.embedding_server import altered, embedding_server
from tests.program import flowreader


def forms(request):
    return {"light": "green", "cars": 0} if request.form == "Crossing" else {"colour": "green"}


def spread(data):
    """Vectors that are wide apart for texts that differ."""
    return [entry | {"embedding": [entry["embedding"][0], -50.0 + entry["embedding"][1], 9.0]} for entry in data]


@pytest.fixture
def servers(monkeypatch):
    """Sets where the servers are, and nothing else of them."""

    def point(chat="", embeddings="", key=""):
        for kind in ("CHAT", "EMBED"):
            for name in ("BASE_URL", "MODEL", "API_KEY"):
                monkeypatch.delenv(f"FLOWREADER_{kind}_{name}", raising=False)
        for kind, address in (("CHAT", chat), ("EMBED", embeddings)):
            if address:
                monkeypatch.setenv(f"FLOWREADER_{kind}_BASE_URL", address)
                monkeypatch.setenv(f"FLOWREADER_{kind}_API_KEY", key)

    return point


def test_well_servers_are_told_line_by_line_with_their_address(home, servers):
    with (
        chat_server(forms, max_model_len=32768, api_key="sk-secret") as chat,
        embedding_server(altered(spread), api_key="sk-secret") as embeddings,
    ):
        servers(chat.base_url, embeddings.base_url, "sk-secret")
        told = flowreader("doctor", "--models", home=home, check=0)
        as_json = flowreader("doctor", "--models", "--json", home=home, check=0)
    lines = told.stdout.splitlines()
    assert lines[0] == f"chat {chat.base_url}" and f"embeddings {embeddings.base_url}" in lines
    assert "  model: scripted" in lines and "  context: 32,768 tokens" in lines and "  dimension: 3 numbers a text" in lines
    assert lines[-1] == "models: all is well"
    said = json.loads(as_json.stdout)
    assert said["findings"] == [] and [server["server"] for server in said["servers"]] == ["chat", "embeddings"]
    assert all(set(check) == {"check", "found", "remedy"} for server in said["servers"] for check in server["checks"])
    assert not any("sk-secret" in done.stdout + done.stderr for done in (told, as_json))
    assert not (home / "corpora").exists()


def test_what_is_wrong_is_told_with_its_remedy_and_ends_with_1(home, servers):
    with chat_server(forms, max_model_len=32768, misbehave=always(Misbehaviour.PROSE)) as chat:
        servers(chat.base_url)
        told = flowreader("doctor", "--models", home=home, check=1)
        said = json.loads(flowreader("doctor", "--models", "--json", home=home, check=1).stdout)
    assert "  structured output: a reply has not the form" in told.stdout and "models: 2 findings" in told.stdout
    assert [finding["check"] for finding in said["findings"]] == ["chat: structured output", "chat: picture"]
    assert all(set(finding) == {"check", "what", "remedy"} and finding["remedy"] for finding in said["findings"])


def test_where_nobody_answers_the_address_is_named(home, servers):
    with chat_server(forms) as chat:
        pass
    servers(chat.base_url)
    told = flowreader("doctor", "--models", home=home, check=1)
    assert chat.base_url in told.stdout and "takes no connection" in told.stdout and not told.stderr


@pytest.mark.parametrize(("address", "named"), [("", "FLOWREADER_CHAT_BASE_URL"), ("localhost:8000", "localhost:8000")])
def test_without_a_server_nothing_is_done(home, servers, address, named):
    servers(address)
    assert named in flowreader("doctor", "--models", home=home, check=2).stderr
    error = json.loads(flowreader("doctor", "--models", "--json", home=home, check=2).stdout)["error"]
    assert named in error["what"] and error["remedy"]
