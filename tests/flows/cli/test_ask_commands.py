"""`ask`, `answers` and `report` as people and programs call them, here and of the service."""

import json
import shutil
import socket
import threading

import pytest

from flows.cli.ask_server_commands import ask_service
from flows.cli.main import main
from flows.service.listening import address
from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import RequestError
from storage.locations import corpus_location
from storage.runs.answer_json import answer_json
from storage.runs.log import asking_files
from tasks.asking.request import AskRequest
from tests.asking_worlds import COAST, TORQUE, WEIGHT
from tests.flows.service_worlds import service, slowly_in_reverse
from tests.program import flowreader
from tests.storage.answer_worlds import answer, view_of

PARTS = {
    *(
        "answer_id",
        "asked",
        "question",
        "asked_as",
        "follows",
        "thread",
        "answer",
        "answer_by",
        "status",
        "why",
        "reader",
        "citations",
        "paths",
        "pages",
        "evidence_pages",
    ),
    *("gate", "usage", "corpus", "snapshot", "scope", "settings", "models", "notes", "cached", "completeness", "refusal", "trace"),
    *("parts", "withheld", "link"),
}


@pytest.fixture
def call(asked_home, monkeypatch, capsys, tmp_path):
    """Run a command on the corpus `small`, in this process; return what it wrote to either stream."""
    monkeypatch.setenv("FLOWREADER_HOME", str(asked_home))
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0, corpus="small"):
        assert main([*map(str, arguments), "--corpus", corpus]) == code
        return capsys.readouterr()

    return run


def told(call, *arguments, **more):
    return [json.loads(line) for line in call(*arguments, "--json", **more).out.splitlines()]


def runs():
    return len(asking_files(corpus_location("small")))


@pytest.mark.parametrize("reader", ["flow", "top-k"])
def test_programs_get_one_object_with_every_part(call, reader):
    (answer,) = told(call, "ask", COAST, "--reader", reader, "--fresh")
    assert set(answer) == PARTS and answer["reader"] == reader and (answer["status"], answer["answer_by"]) == ("evidence", None)
    assert answer["answer"] == "" and answer["citations"][0]["quote"]
    assert all(set(citation["document"]) == {"id", "name"} for citation in answer["citations"])
    assert all(citation["page"] >= 1 and len(citation["box"] or [0] * 4) == 4 for citation in answer["citations"])
    assert answer["gate"] is None and (answer["completeness"] is None) == (answer["paths"] == []) == (reader == "top-k")
    assert {"route", "read", "synthesize"} - set(answer["usage"]["seconds"]) == ({"route"} if reader == "top-k" else set())


def test_a_batch_is_answered_one_object_a_line_in_its_order_by_one_run(call, tmp_path):
    path, before = tmp_path / "questions.txt", runs()
    path.write_text(f'{COAST}\n\n{{"question": "{WEIGHT}", "id": 7}}\n"{TORQUE}"\n')
    answers = told(call, "ask", "--batch", path, "--fresh")
    assert [answer["question"] for answer in answers] == [COAST, WEIGHT, TORQUE]
    assert len({answer["answer_id"] for answer in answers}) == 3 and runs() == before + 1
    (alone,) = told(call, "ask", COAST, "--fresh")
    assert [answer["settings"]["seconds"] for answer in (*answers, alone)] == [None, None, None, 120.0]
    said = call("ask", "--batch", path).out
    assert said.index(COAST) < said.index("1,150") < said.index(WEIGHT) < said.index(TORQUE)


def test_limits_and_settings_are_taken_from_the_command_line(call, tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("[ask.selection]\nread = 2\n")
    limits = ("--document", "strategy.pptx", "--document", "budget.xlsx", "--pages", "2-4", "--modality", "table")
    (answer,) = told(call, "ask", COAST, *limits, "--settings", path)
    assert answer["scope"] == {"documents": ["strategy.pptx", "budget.xlsx"], "pages": "2-4", "modality": "table"}
    assert answer["settings"]["selection"]["read"] == 2 and 1 <= len(answer["paths"]) <= 2
    assert {page["page"] for page in answer["pages"]} <= {2, 3, 4}


@pytest.mark.parametrize(
    ("arguments", "value", "remedy"),
    [
        (("ask",), "", 'flowreader ask "QUESTION"'),
        (("ask", ""), "''", "ask something"),
        (("ask", "a " * 50_000), "a a", "10,000"),
        (("ask", COAST, "--document", "budged.xls"), "budged.xls", "documents list"),
        (("ask", COAST, "--pages", "7-3"), "7-3", "--pages 3-7"),
        (("ask", COAST, "--pages", "12"), "12", "--pages 1-6"),
        (("ask", COAST, "--pages-per-answer", "3", "--reader", "top-k"), "--pages-per-answer 3", "leave it out"),
        (("ask", COAST, "--pages-per-answer", "8", "--preset", "paper"), "--reader flow of the default preset", "leave it out"),
        (("ask", COAST, "--modality", "figure", "--document", "budget.xlsx"), "figure", "without that limit"),
        (("ask", COAST, "--settings", "absent.toml"), "absent.toml", "flowreader settings"),
        (("ask", COAST, "--report", "absent/report.html"), "absent", ""),
        (("ask", "--batch", "absent.txt"), "absent.txt", "text file"),
        (("answers", "show", "ffffffff"), "ffffffff", "answers list"),
        (("answers", "show", "short"), "short", "answers list"),
        (("report", "ffffffff"), "ffffffff", "answers list"),
    ],
)
def test_what_cannot_be_done_exits_with_2_and_says_what_to_do(call, arguments, value, remedy):
    before = runs()
    said = call(*arguments, code=2)
    assert said.err and not said.out and "Traceback" not in said.err
    (error,) = told(call, *arguments, code=2)
    assert set(error) == {"error"} and set(error["error"]) == {"what", "value", "remedy"}
    assert value in error["error"]["what"] + error["error"]["value"] and remedy in error["error"]["remedy"] != ""
    # Only where the corpus itself had to be looked at is there a run, and it says how it ended.
    assert runs() - before in ({0, 2} if "--modality" in arguments else {0})


def test_where_there_is_no_corpus_ask_prints_the_home_and_the_line_to_run(call, home):
    said = call("ask", COAST, code=2, corpus="default").err
    assert f"FLOWREADER_HOME '{home}'\nmake it" in said and "`flowreader ingest PATH --corpus default`" in said


def test_where_no_corpus_is_named_the_only_one_is_asked_and_of_several_none(asked_home, monkeypatch, capsys):
    monkeypatch.setenv("FLOWREADER_HOME", str(asked_home))
    assert main(["ask", COAST]) == 0
    shown = capsys.readouterr()
    assert "asked of corpus small, the only one" in shown.err and "strategy.pptx" in shown.out
    copied = corpus_location("other").folder
    shutil.copytree(corpus_location("small").folder, copied)
    try:
        assert main(["ask", COAST]) == 2
    finally:
        shutil.rmtree(copied)
    said = capsys.readouterr().err
    assert "several corpora" in said and "take one of other, small" in said


def test_a_batch_is_read_from_standard_input_and_its_comments_are_not_asked(asked_home):
    batch = f"# two questions\n\n{COAST}\n{TORQUE}\n"
    done = flowreader("ask", "--batch", "-", "--corpus", "small", "--json", home=asked_home, check=0, input=batch)
    assert [json.loads(line)["question"] for line in done.stdout.splitlines()] == [COAST, TORQUE]
    empty = flowreader("ask", "--batch", "-", "--corpus", "small", home=asked_home, check=2, input="# none\n")
    assert "batch '-' holds no question" in empty.stderr


@pytest.mark.parametrize("more", [("--batch", "questions.txt"), ("--batch", "questions.txt", "--report", "out.html")])
def test_a_question_and_a_batch_exclude_each_other_and_a_batch_has_no_report(call, tmp_path, more):
    (tmp_path / "questions.txt").write_text(COAST)
    question = () if "--report" in more else (COAST,)
    (error,) = told(call, "ask", *question, *more, code=2)
    assert error["error"]["remedy"] and not (tmp_path / "out.html").exists()


def test_a_report_is_written_with_the_answer_and_again_later(call, tmp_path):
    said = call("ask", COAST, "--report", "now.html", "--json", "--fresh")
    answer = json.loads(said.out)
    assert "now.html" in said.err
    call("report", answer["answer_id"][:8], "--output", "later.html")
    now, later = (tmp_path / name for name in ("now.html", "later.html"))
    assert now.read_bytes() == later.read_bytes() and COAST in now.read_text()
    call("report", answer["answer_id"])
    assert (tmp_path / f"answer-{answer['answer_id'][:8]}.html").read_bytes() == now.read_bytes()


def test_answers_are_listed_the_newest_first_and_shown_byte_for_byte(call):
    first = call("ask", COAST, "--json", "--fresh").out
    second = call("ask", TORQUE, "--reader", "top-k", "--json", "--fresh").out
    (listed,) = told(call, "answers", "list")
    assert listed["corpus"] == "small"
    assert [answer["answer_id"] for answer in listed["answers"][:2]] == [json.loads(each)["answer_id"] for each in (second, first)]
    for said in (first, second):
        assert call("answers", "show", json.loads(said)["answer_id"][:12], "--json").out == said
    table = call("answers", "list").out
    assert json.loads(first)["answer_id"][:8] in table and "evidence" in table
    shown = call("answers", "show", json.loads(first)["answer_id"]).out
    assert COAST in shown and "1,150" in shown and "[1] strategy.pptx, slide 4" in shown


def test_a_question_follows_an_answer_and_their_thread_is_removed(call):
    (first,) = told(call, "ask", WEIGHT, "--fresh")
    said = call("ask", "and of an MT-2?", "--follow", first["answer_id"][:8]).out
    assert said.startswith(f"asked as: {WEIGHT.replace('MT-3', 'MT-2')}\n")
    assert call("answers", "remove", first["answer_id"]).out == f"2 answers of thread {first['answer_id'][:8]} are gone\n"
    (error,) = told(call, "ask", "why?", "--follow", first["answer_id"][:8], code=2)
    assert "answers list" in error["error"]["remedy"]


def test_an_empty_corpus_says_so(call, own_home):
    location = corpus_location("small")
    with open_for_reading(location) as snapshot:
        embedder, present = snapshot.embedder, [record.id for record in snapshot.documents()]
    with open_for_writing(location, embedder=embedder, wait_seconds=5) as corpus:
        corpus.publish(removed=present)
    (error,) = told(call, "ask", COAST, code=2)
    assert "holds no document that can be read" in error["error"]["what"] and "flowreader ingest" in error["error"]["remedy"]


ANSWERS = {
    question: answer_json(view_of(answer("report", question=question))) for question in ("How deep?", "How high?", "How far?")
}
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
        "follow": None, "fresh": True, "require_model": False, "local": False, "preset": "default",
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
    with pytest.raises(RequestError, match=r"at '\[::1\]:\d+' does not answer") as refused:
        ask_service(REQUEST)
    assert refused.value.value == running.address and "flowreader serve" in refused.value.remedy


@pytest.mark.parametrize("said", [b"", b"<html>", b"[]", b'{"error": 3}', b'{"detail": "Not Found"}'])
def test_another_program_at_the_address_is_not_taken_for_the_service(monkeypatch, said):
    with (
        service(lambda _asked: (404, said), monkeypatch) as running,
        pytest.raises(RequestError, match=r"is no query service .* \(HTTP 404\)") as refused,
    ):
        ask_service(REQUEST)
    assert refused.value.value == running.address and "FLOWREADER_ASK_ADDRESS" in refused.value.remedy


def test_a_service_that_hangs_up_is_an_error_too(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", f"127.0.0.1:{listening.getsockname()[1]}")
        threading.Thread(target=lambda: listening.accept()[0].close(), daemon=True).start()
        with pytest.raises(RequestError, match="does not answer"):
            ask_service(REQUEST)


@pytest.mark.parametrize("named", ["", "4280", ":4280", "here:", "here:x", "here:70000", "http://here", "::1:4280"])
def test_what_is_no_address_is_named(monkeypatch, named):
    monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", named)
    with pytest.raises(RequestError, match="no HOST:PORT") as refused:
        address()
    assert refused.value.value == named
