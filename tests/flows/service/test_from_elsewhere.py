"""Who asks from elsewhere names no file of the machine that answers, and frames nothing that is served."""

import asyncio

import pytest

from flows.ask_deployed import answers_of
from flows.cli.main import main
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
            asyncio.run(answers_of(AskRequest(**asked)))
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
