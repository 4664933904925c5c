"""Who asks from elsewhere names no file of the machine that answers, learns not where one lies, and frames nothing of it."""

import asyncio
import shutil
from pathlib import Path

import pytest

from flows.ask_deployed import answer_all
from flows.cli.main import main
from flows.service.paths import from_root, roots_of
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location, home, uploads_folder
from tasks.asking.request import AskRequest, QuestionError
from tasks.models.process import ROOT
from tests.flows.service.worlds import ASK, ASKED, client, error


@pytest.mark.parametrize("name", ["weights", "rerank"])
def test_no_setting_of_a_question_from_elsewhere_names_a_file_and_all_are_refused_alike(own_home, tmp_path, capsys, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("{}")
    said = []
    for value in ("/etc/shadow", str(tmp_path / "none"), str(tmp_path / "folder"), str(tmp_path / "file")):
        asked = ASKED | {"settings": {name: value}}
        replies = [client().post(path, json=asked) for path in (ASK, "/ask", "/ask/stream")]
        replies.append(client().post("/v1/chat/completions", json=in_messages(asked)))
        said += [str(reply.json()["error"]) for reply in replies if reply.status_code == 400]
        assert not any(value in each for each in said)
        # as a run of the form, which nothing has looked at before
        with pytest.raises(QuestionError, match=f"'ask.{name}'"):
            asyncio.run(answer_all(AskRequest(**asked)))
    assert len(said) == 16 and len(set(said)) == 2 and all(f"ask.{name}" in each for each in said)
    (tmp_path / "own.toml").write_text(f"[ask]\n{name} = '/etc/shadow'\n")
    assert main(["ask", "How deep?", "--server", "--settings", str(tmp_path / "own.toml")]) == 2
    assert "without --server" in capsys.readouterr().err


def test_the_services_own_settings_name_the_weights_that_its_answers_go_by(own_home, tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text("[ask]\nweights = 'weights.json'\n")
    monkeypatch.setenv("FLOWREADER_ASK_SETTINGS", str(tmp_path / "own.toml"))
    assert "weights.json" in error(client().post(ASK, json=ASKED), 400)["what"]
    (tmp_path / "weights.json").write_bytes((ROOT / "tasks" / "asking" / "weights.json").read_bytes())
    (answer,) = client().post(ASK, json=ASKED).json()["answers"]
    assert answer["citations"]


def in_messages(asked):
    message = {"role": "user", "content": asked["questions"][0]}
    return {"model": asked["corpus"], "messages": [message], "flowreader": {"settings": asked["settings"]}}


def test_no_page_of_another_may_frame_what_is_served(own_home):
    door = client()
    (answer,) = door.post(ASK, json=ASKED).json()["answers"]
    for path in (
        f"/answers/{answer['answer_id']}/report?corpus=small",
        f"/api/v1/corpora/small/answers/{answer['answer_id']}/report",
    ):
        assert "frame-ancestors 'none'" in door.get(path).headers["Content-Security-Policy"]


@pytest.fixture
def folder(library, tmp_path, monkeypatch):
    """The folder that the home with the corpus `small` lies in."""
    monkeypatch.setenv("FLOWREADER_HOME", str(shutil.copytree(library, tmp_path / "reader")))
    return tmp_path


def test_a_path_below_a_root_begins_with_its_name_and_an_upload_is_its_name(folder):
    upload = f"{uploads_folder()}/small/0a1b2c3d4e5f/a plan.pdf"
    assert from_root(f"disk full at '{home()}/corpora/x'") == "disk full at 'reader/corpora/x'"
    assert from_root({"paths": ["/data/reports", "/data/reports/a/b.pdf", upload], "done": 2}, ["/data/reports"]) == {
        "paths": ["reports", "reports/a/b.pdf", "a plan.pdf"],
        "done": 2,
    }
    assert from_root("/srv/data/reports is another, and s3://data/reports too", ["/data/reports"]).startswith("/srv/data/reports")
    assert from_root("/data2/x", ["/data"]) == "/data2/x"
    assert from_root("/reports/a.pdf", ["/reports"]) == "reports/a.pdf" and from_root("/a.pdf", ["/"]) == "/a.pdf"


def test_no_reply_and_no_error_says_where_anything_lies(folder):
    door = client()
    (answer,) = door.post(ASK, json=ASKED).json()["answers"]
    document, answered = answer["citations"][0]["document"]["id"], answer["answer_id"]
    own, api = "?corpus=small", "/api/v1/corpora"
    shown = [
        door.get(path, headers={"Accept": accept})
        for path in (
            *("/", f"/answers/{answered}{own}", f"/answers/{answered}/lineage{own}", f"/documents/{document}{own}", "/?corpus=x"),
            *(api, f"{api}/small", f"{api}/small/documents", f"{api}/small/documents/{document}", f"{api}/small/answers"),
            *(f"{api}/small/answers/{answered}", f"{api}/small/answers/{answered}/lineage", f"{api}/small/ingests", f"{api}/x"),
        )
        for accept in ("text/html", "application/json")
    ]
    shown += [door.post("/v1/chat/completions", json={"model": "x", "messages": [{"role": "user", "content": "How deep?"}]})]
    shutil.copytree(folder / "reader" / "corpora" / "small", folder / "reader" / "corpora" / "asked")
    (folder / "reader" / "corpora" / "small" / "CURRENT").write_text("damaged")
    shown += [damaged := door.get(f"{api}/small")]
    texts = [reply.text for reply in shown]
    assert "reader/corpora/small/CURRENT" in damaged.text and any("documents/" in text for text in texts)
    with open_for_reading(corpus_location("asked")) as snapshot:
        (root,) = roots_of(snapshot.documents())
    for where in (str(folder), str(Path(root).parent)):
        assert [text for text in texts if where in text] == []
