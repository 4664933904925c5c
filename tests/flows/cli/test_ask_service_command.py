"""`ask --server` shows what the service answers as `ask` shows what it answers itself; whatever else happens is told in words."""

import json
import socket
import threading

import pytest

from flows.cli.ask_server_commands import ask_service
from flows.cli.main import main
from flows.display.output import CommandError
from flows.service.listening import address
from storage.runs.answer_json import answer_json
from tasks.asking.request import AskRequest
from tests.flows.service_worlds import service, slowly_in_reverse
from tests.storage.answer_worlds import answer

ANSWERS = {question: answer_json(answer("report", question=question)) for question in ("How deep?", "How high?", "How far?")}
REQUEST = {"questions": ["How deep?"], "corpus": "small"}


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    monkeypatch.delenv("FLOWREADER_ASK_TOKEN", raising=False)


def test_an_answer_is_shown_with_its_citations(monkeypatch, capsys):
    with service(slowly_in_reverse(ANSWERS), monkeypatch) as running:
        code = main(["ask", "How deep?", "--server", "--fresh", "--corpus", "small", "--pages", "2-3", "--document", "report.pdf"])
    shown = capsys.readouterr().out
    assert code == 0 and "[1] report.pdf, page 2" in shown and "words of report" in shown
    ((method, path, headers, asked),) = running.heard
    assert (method, path) == ("POST", "/api/v1/ask")
    assert headers["Content-Type"] == "application/json" and "Authorization" not in headers
    assert asked == {
        "corpus": "small", "documents": ["report.pdf"], "pages": "2-3", "modality": None, "reader": "flow",
        "fresh": True, "require_model": False, "local": False, "preset": "default",
        "questions": ["How deep?"],
    }  # fmt: skip


def test_a_batch_is_asked_side_by_side_and_given_in_its_order_as_it_came(monkeypatch, capsys, tmp_path):
    batch = tmp_path / "batch.txt"
    batch.write_text("\n".join(ANSWERS))
    with service(slowly_in_reverse(ANSWERS), monkeypatch) as running:
        assert main(["ask", "--batch", str(batch), "--server", "--json"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == list(ANSWERS.values())
    assert [asked["settings"]["seconds"] for *_, asked in running.heard] == [None] * 3, "a batch has time"


def test_settings_go_along_as_json(monkeypatch, capsys, tmp_path):
    settings = tmp_path / "s.toml"
    settings.write_text("[ask.selection]\nread = 3\n")
    with service(slowly_in_reverse(ANSWERS), monkeypatch) as running:
        code = main(["ask", "How deep?", "--server", "--settings", str(settings), "--preset", "paper"])
    said = capsys.readouterr()
    assert code == 0, said.err
    sent = AskRequest.model_validate(running.heard[0][3])
    assert sent.settings.selection.read == 3 and sent.settings.routing.network == "paper"


def test_the_report_is_the_page_that_the_service_makes_and_the_token_goes_along(monkeypatch, capsys, tmp_path):
    def reply(asked):
        return (200, b"<html>the page</html>") if asked is None else slowly_in_reverse(ANSWERS)(asked)

    page = tmp_path / "answer.html"
    monkeypatch.setenv("FLOWREADER_ASK_TOKEN", "sesame")
    with service(reply, monkeypatch) as running:
        assert main(["ask", "How deep?", "--server", "--report", str(page)]) == 0
    assert page.read_bytes() == b"<html>the page</html>" and "the report is in" in capsys.readouterr().err
    assert running.heard[1][1] == f"/answers/{ANSWERS['How deep?']['answer_id']}/report?corpus=default"
    assert {headers["Authorization"] for _, _, headers, _ in running.heard} == {"Bearer sesame"}


def test_a_refusal_ends_with_2_and_its_words(monkeypatch, capsys):
    said = {"error": {"what": "the query service is full", "value": "64", "remedy": "ask again"}}
    with service(lambda _asked: (503, json.dumps(said).encode()), monkeypatch):
        assert main(["ask", "How deep?", "--server", "--json"]) == 2
    assert json.loads(capsys.readouterr().out) == said


def test_an_address_of_ipv6_is_asked_and_where_nothing_listens_it_is_named_with_the_remedy(monkeypatch):
    with service(lambda _asked: (200, b'{"answers": []}'), monkeypatch, host="::1") as running:
        assert running.address.startswith("[::1]:") and ask_service(REQUEST) == []
        assert running.heard[0][2]["Host"] == running.address
    with pytest.raises(CommandError, match=r"at '\[::1\]:\d+' does not answer") as refused:
        ask_service(REQUEST)
    assert refused.value.value == running.address and "make up" in refused.value.remedy


@pytest.mark.parametrize("said", [b"", b"<html>", b"[]", b'{"error": 3}', b'{"detail": "Not Found"}'])
def test_another_program_at_the_address_is_not_taken_for_the_service(monkeypatch, said):
    with (
        service(lambda _asked: (404, said), monkeypatch) as running,
        pytest.raises(CommandError, match=r"is no query service .* \(HTTP 404\)") as refused,
    ):
        ask_service(REQUEST)
    assert refused.value.value == running.address and "FLOWREADER_ASK_ADDRESS" in refused.value.remedy


def test_a_service_that_hangs_up_is_an_error_too(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", f"127.0.0.1:{listening.getsockname()[1]}")
        threading.Thread(target=lambda: listening.accept()[0].close(), daemon=True).start()
        with pytest.raises(CommandError, match="does not answer"):
            ask_service(REQUEST)


def test_the_address_has_a_default_and_a_form(monkeypatch):
    monkeypatch.delenv("FLOWREADER_ASK_ADDRESS", raising=False)
    assert address() == ("127.0.0.1", 4280)
    monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", "[::1]:4280")
    assert address() == ("::1", 4280)


@pytest.mark.parametrize("named", ["", "4280", ":4280", "here:", "here:x", "here:70000", "http://here", "::1:4280"])
def test_what_is_no_address_is_named(monkeypatch, named):
    monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", named)
    with pytest.raises(CommandError, match="no HOST:PORT") as refused:
        address()
    assert refused.value.value == named
