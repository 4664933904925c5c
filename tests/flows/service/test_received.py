"""Who may ask, and what is taken from him."""

import json
from types import SimpleNamespace

import pytest

from flows.service import received
from flows.service.received import LARGEST_BODY, TokenCheck
from flows.service.refusals import refusal_of
from storage.corpus.snapshot import UnknownCorpusError
from storage.errors import RequestError
from storage.lock import CorpusBusyError
from storage.system import DiskFullError
from tasks.events import QuestionRefused, RefusalReason, subscribe
from tasks.views.errors import RefusedError
from tasks.watching.json_log import logging_to
from tests.flows.service.worlds import ASK, client, error
from tests.waiting import wait_until


def test_what_is_no_json_is_refused():
    assert "json" in error(client().post(ASK, content=b"a=1", headers={"Content-Type": "text/plain"}), 400)["what"]
    assert error(client().post(ASK, content=b"{", headers={"Content-Type": "application/json"}), 400)["what"]


def test_a_body_without_end_is_refused():
    large = json.dumps({"questions": ["a" * LARGEST_BODY]}).encode()
    assert "too large" in error(client().post(ASK, content=large, headers={"Content-Type": "application/json"}), 400)["what"]


def test_the_token_is_asked_for_where_there_is_one():
    door = client(token="sesame")
    ask = {"json": {"questions": ["How deep?"]}}
    assert "without its token" in error(door.post(ASK, **ask), 401)["what"]
    wrong = door.post(ASK, headers={"Authorization": "Bearer wrong"}, **ask)
    assert "with another token" in error(wrong, 401)["what"] and wrong.headers["WWW-Authenticate"].startswith("Basic ")
    assert door.get("/health").status_code == 200
    assert door.post(ASK, headers={"Authorization": "Bearer sesame"}, json=[]).status_code == 400


@pytest.mark.parametrize(("auth", "status"), [(("anyone", "sesame"), 200), (("sesame", "wrong"), 401), (("", ""), 401)])
def test_a_browser_gives_the_token_as_a_password(home, auth, status):
    assert client(token="sesame").get("/", auth=auth).status_code == status
    assert client(token="sesame").get("/", headers={"Authorization": "Basic ~"}).status_code == 401


def test_from_the_tenth_wrong_token_in_a_minute_on_an_address_waits_and_the_right_one_never():
    door, wrong, right = client(token="sesame"), {"Authorization": "Bearer no"}, {"Authorization": "bearer sesame"}
    assert [door.get("/", headers=wrong).status_code for _ in range(9)] == [401] * 9
    assert "without its token" in error(door.post(ASK, json={}), 401)["what"]
    for path in (ASK, "/api/v1/corpora", "/v1/models", "/mcp"):
        late = door.post(path, headers=wrong)
        assert late.status_code == 429 and late.headers["Retry-After"] == "60" and "too many wrong tokens" in late.text
    assert door.get("/api/v1/corpora", headers=right).status_code == 200


def test_wrong_tokens_are_forgotten_after_their_minute_and_only_so_many_addresses_are_remembered(monkeypatch):
    monkeypatch.setattr(received, "MOST_ADDRESSES", 3)
    check, now = TokenCheck("sesame"), 0.0
    monkeypatch.setattr(received, "time", SimpleNamespace(monotonic=lambda: now))
    assert [check.count_guess("a") for _ in range(3)] == [1, 2, 3]
    now = 61.0
    assert check.count_guess("a") == 1
    assert [check.count_guess(address) for address in "bcdabcd"] == [1, 1, 1, 1, 1, 1, 1], "each was the oldest"
    assert list(check.guesses) == ["b", "c", "d"]


def test_all_wrong_tokens_are_counted_and_told_in_one_line(home, tmp_path, monkeypatch):
    monkeypatch.setattr(received, "NEWS_SECONDS", 0.2)
    happened, log = [], tmp_path / "log"
    with logging_to(str(log)), subscribe(happened.append), client(token="sesame") as door:
        for path in ("/", ASK, "/answers/0", "/v1/models"):
            door.get(path, headers={"Authorization": "Bearer no"})
        door.get("/")
        wait_until(lambda: happened)
    assert happened == [QuestionRefused(RefusalReason.TOKEN, requests=5)]
    (line,) = map(json.loads, log.read_text().splitlines())
    assert line["event"] == "question-refused" and line["reason"] == "token" and line["requests"] == 5


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://[", "http://127.0.0.1:4281"])
@pytest.mark.parametrize("path", ["/", ASK, "/v1/chat/completions", "/mcp", "/health"])
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
        refusal_of(ZeroDivisionError())


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RequestError("no"), 400),
        (RefusedError(415, "no"), 415),
        (RequestError("'x' is no name; take another"), 400),
        (UnknownCorpusError("there is none"), 404),
        (CorpusBusyError("later"), 409),
        (DiskFullError("disk full", "/x", "make room"), 503),
    ],
)
def test_an_error_has_the_status_of_its_kind(error, status):
    assert refusal_of(error).status == status
