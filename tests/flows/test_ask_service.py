"""Asking the query service: its answers come back as they are, and whatever else happens is told in words."""

import json
import socket

import pytest

from flows.ask_service_command import address, ask_service, report_from_service
from flows.showing import CommandError
from tests.flows.service_worlds import service

REQUEST = {"questions": ["How deep?"], "corpus": "small"}


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    monkeypatch.delenv("FLOWREADER_ASK_TOKEN", raising=False)


def test_the_request_goes_as_json_and_the_answers_come_back(monkeypatch):
    with service(lambda _asked: (200, b'{"answers": [{"answer": "deep"}]}'), monkeypatch) as running:
        assert ask_service(REQUEST) == [{"answer": "deep"}]
    ((method, path, headers, asked),) = running.heard
    assert (method, path, asked) == ("POST", "/ask", REQUEST)
    assert headers["Content-Type"] == "application/json" and "Authorization" not in headers


def test_an_address_of_ipv6_is_asked_and_named_with_its_brackets(monkeypatch):
    with service(lambda _asked: (200, b'{"answers": []}'), monkeypatch, host="::1") as running:
        assert running.address.startswith("[::1]:") and ask_service(REQUEST) == []
        assert running.heard[0][2]["Host"] == running.address
    with pytest.raises(CommandError, match=r"at '\[::1\]:\d+' does not answer"):
        ask_service(REQUEST)


def test_the_token_of_the_environment_goes_along(monkeypatch):
    monkeypatch.setenv("FLOWREADER_ASK_TOKEN", "sesame")
    with service(lambda _asked: (200, b"<html>"), monkeypatch) as running:
        assert report_from_service("0123abcd", "small") == b"<html>"
    assert running.heard[0][1:3] == ("/answers/0123abcd/report?corpus=small", running.heard[0][2])
    assert running.heard[0][2]["Authorization"] == "Bearer sesame"


def test_a_refusal_is_told_as_the_service_tells_it(monkeypatch):
    said = {"error": {"what": "the query service is full", "value": "64", "remedy": "ask again"}}
    with service(lambda _asked: (503, json.dumps(said).encode()), monkeypatch), pytest.raises(CommandError) as refused:
        ask_service(REQUEST)
    assert (refused.value.what, refused.value.value, refused.value.remedy) == ("the query service is full", "64", "ask again")


@pytest.mark.parametrize("said", [b"", b"<html>", b"[]", b'{"error": 3}', b'{"detail": "Not Found"}'])
def test_another_program_at_the_address_is_told_from_the_service(monkeypatch, said):
    with (
        service(lambda _asked: (404, said), monkeypatch) as running,
        pytest.raises(CommandError, match=r"is no query service .* \(HTTP 404\)") as refused,
    ):
        ask_service(REQUEST)
    assert refused.value.value == running.address and "FLOWREADER_ASK_ADDRESS" in refused.value.remedy


def test_where_nothing_listens_the_remedy_is_told(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", f"127.0.0.1:{port}")
    with pytest.raises(CommandError, match="does not answer") as refused:
        ask_service(REQUEST)
    assert refused.value.value == f"127.0.0.1:{port}" and "make up" in refused.value.remedy


def test_a_service_that_hangs_up_is_told_too(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", f"127.0.0.1:{listening.getsockname()[1]}")
        import threading

        threading.Thread(target=lambda: listening.accept()[0].close(), daemon=True).start()
        with pytest.raises(CommandError, match="does not answer"):
            ask_service(REQUEST)


def test_the_address_has_a_default_and_a_form(monkeypatch):
    monkeypatch.delenv("FLOWREADER_ASK_ADDRESS", raising=False)
    assert address() == ("127.0.0.1", 4280)
    monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", "reader.example:80")
    assert address() == ("reader.example", 80)
    monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", "[::1]:4280")
    assert address() == ("::1", 4280)


@pytest.mark.parametrize("named", ["", "4280", ":4280", "here:", "here:x", "here:70000", "http://here", "::1:4280"])
def test_what_is_no_address_is_named(monkeypatch, named):
    monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", named)
    with pytest.raises(CommandError, match="no HOST:PORT") as refused:
        address()
    assert refused.value.value == named
