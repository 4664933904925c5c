"""`ask --server` shows what the service answers as `ask` shows what it answers itself."""

import json

from flows.cli import main
from storage.answer_json import answer_json
from tasks.ask_request import AskRequest
from tests.flows.service_worlds import service, slowly_in_reverse
from tests.storage.answer_worlds import answer

ANSWERS = {question: answer_json(answer("report", question=question)) for question in ("How deep?", "How high?", "How far?")}


def test_an_answer_is_shown_with_its_citations(monkeypatch, capsys):
    with service(slowly_in_reverse(ANSWERS), monkeypatch) as running:
        code = main(["ask", "How deep?", "--server", "--corpus", "small", "--pages", "2-3", "--document", "report.pdf"])
    shown = capsys.readouterr().out
    assert code == 0 and "[1] report.pdf, page 2" in shown and "words of report" in shown
    asked = running.heard[0][3]
    assert asked == {
        "corpus": "small", "documents": ["report.pdf"], "pages": "2-3", "modality": None, "reader": "flow",
        "preset": "default",
        "questions": ["How deep?"],
    }  # fmt: skip


def test_with_json_it_is_given_as_it_came(monkeypatch, capsys):
    with service(slowly_in_reverse(ANSWERS), monkeypatch):
        assert main(["ask", "How deep?", "--server", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ANSWERS["How deep?"]


def test_a_batch_is_asked_side_by_side_and_shown_in_its_order(monkeypatch, capsys, tmp_path):
    batch = tmp_path / "batch.txt"
    batch.write_text("\n".join(ANSWERS))
    with service(slowly_in_reverse(ANSWERS), monkeypatch) as running:
        assert main(["ask", "--batch", str(batch), "--server", "--json"]) == 0
    assert [json.loads(line)["question"] for line in capsys.readouterr().out.splitlines()] == list(ANSWERS)
    assert len(running.heard) == 3


def test_settings_go_along_as_json(monkeypatch, capsys, tmp_path):
    settings = tmp_path / "s.toml"
    settings.write_text("[ask.selection]\nread = 3\n")
    with service(slowly_in_reverse(ANSWERS), monkeypatch) as running:
        code = main(["ask", "How deep?", "--server", "--settings", str(settings), "--preset", "paper"])
    said = capsys.readouterr()
    assert code == 0, said.err
    sent = AskRequest.model_validate(running.heard[0][3])
    assert sent.settings.selection.read == 3 and sent.settings.routing.formulation == "paper"


def test_the_report_is_the_page_that_the_service_makes(monkeypatch, capsys, tmp_path):
    def reply(asked):
        return (200, b"<html>the page</html>") if asked is None else slowly_in_reverse(ANSWERS)(asked)

    page = tmp_path / "answer.html"
    with service(reply, monkeypatch) as running:
        assert main(["ask", "How deep?", "--server", "--report", str(page)]) == 0
    assert page.read_bytes() == b"<html>the page</html>" and "the report is in" in capsys.readouterr().err
    assert running.heard[1][1] == f"/answers/{ANSWERS['How deep?']['answer_id']}/report?corpus=default"


def test_a_refusal_ends_with_2_and_its_words(monkeypatch, capsys):
    said = {"error": {"what": "the query service is full", "value": "64", "remedy": "ask again"}}
    with service(lambda _asked: (503, json.dumps(said).encode()), monkeypatch):
        assert main(["ask", "How deep?", "--server", "--json"]) == 2
    assert json.loads(capsys.readouterr().out) == said


def test_a_question_and_a_batch_are_too_much(capsys):
    assert main(["ask", "How deep?", "--batch", "x", "--server"]) == 2
    assert "one of the two" in capsys.readouterr().err
    assert main(["ask", "--batch", "x", "--report", "r.html", "--server"]) == 2
    assert "--batch makes many" in capsys.readouterr().err
