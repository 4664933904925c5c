"""Who may ask, and what is taken from him."""

import json

import pytest

from flows.ask_deployed import QuestionStoppedError
from flows.display.output import CommandError
from flows.service.received import LARGEST_BODY, refusal
from storage.locations import LocationError
from storage.system import DiskFullError
from tests.flows.service.test_app import client, error


def test_what_is_no_json_is_refused():
    assert "json" in error(client().post("/ask", content=b"a=1", headers={"Content-Type": "text/plain"}), 400)["what"]
    assert error(client().post("/ask", content=b"{", headers={"Content-Type": "application/json"}), 400)["what"]


def test_a_body_without_end_is_refused():
    large = json.dumps({"questions": ["a" * LARGEST_BODY]}).encode()
    assert "too large" in error(client().post("/ask", content=large, headers={"Content-Type": "application/json"}), 400)["what"]


def test_the_token_is_asked_for_where_there_is_one():
    door = client(token="sesame")
    ask = {"json": {"questions": ["How deep?"]}}
    assert "without its token" in error(door.post("/ask", **ask), 401)["what"]
    wrong = door.post("/ask", headers={"Authorization": "Bearer wrong"}, **ask)
    assert "with another token" in error(wrong, 401)["what"] and wrong.headers["WWW-Authenticate"].startswith("Basic ")
    assert door.get("/health").status_code == 200
    assert door.post("/ask", headers={"Authorization": "Bearer sesame"}, json=[]).status_code == 400


@pytest.mark.parametrize(("auth", "status"), [(("anyone", "sesame"), 200), (("sesame", "wrong"), 401), (("", ""), 401)])
def test_a_browser_gives_the_token_as_a_password(home, auth, status):
    assert client(token="sesame").get("/", auth=auth).status_code == status
    assert client(token="sesame").get("/", headers={"Authorization": "Basic ~"}).status_code == 401


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://[", "http://127.0.0.1:4281"])
@pytest.mark.parametrize("path", ["/", "/ask", "/v1/chat/completions", "/mcp", "/health"])
def test_a_page_of_another_origin_is_refused_with_and_without_token(origin, path):
    for token in ("", "sesame"):
        reply = client(token=token).post(path, headers={"Origin": origin, "Authorization": f"Bearer {token}"}, json={})
        assert "another page" in reply.text and reply.status_code == 400


def test_a_name_of_the_web_that_leads_here_is_refused():
    assert client(host="evil.example").get("/health").status_code == 400
    assert {client(host=host).get("/health").status_code for host in ("localhost:4280", "[::1]:4280", "localhost")} == {200}
    assert client(host="reader.example", token="t").get("/health", headers={"Authorization": "Bearer t"}).status_code == 200


def test_an_unexpected_error_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        refusal(ZeroDivisionError(), of_question=True)
    assert refusal(CommandError("no"), of_question=True).status_code == 400
    assert refusal(QuestionStoppedError("no"), of_question=True).status_code == 503
    assert refusal(LocationError("'x' is no name; take another"), of_question=True).status_code == 400
    assert refusal(DiskFullError(28, "disk full at '/x'; make room"), of_question=True).status_code == 503
