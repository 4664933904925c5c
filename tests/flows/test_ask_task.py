"""A question that is asked of the service: one flow whatever way it comes, and its pages in a run of their own."""

import json

from flows.ask_deployed import find_still_shown
from flows.cli.main import main
from flows.prefect_runs.pages import answer_key
from storage.records.answers import Answer
from storage.runs.answer_json import answer_from_json
from tests.asking_worlds import WEIGHT


def test_every_answer_is_returned_as_the_command_shows_it(deployed):
    torque, weight = deployed["ask"]["returned"]
    assert torque["status"] == "evidence" and torque["citations"][0]["document"]["name"] == "maintenance_manual.docx"
    assert "163" in str(weight["citations"])


def test_every_answer_leaves_a_page_and_a_report(deployed):
    for answer in deployed["ask"]["returned"]:
        kind, page, description = deployed["pages"][answer_key(answer_from_json(answer, Answer))]
        assert kind == "markdown" and description.startswith(("With which torque", "What is the weight of an MT"))
        assert "Evidence found" in page and f"{answer['answer_id']}.html" in page
        assert f"{answer['answer_id']}.html" in deployed["reports"]


def test_a_question_that_cannot_be_asked_fails_in_words(deployed):
    assert deployed["ask nobody"]["state"] == "Failed"
    assert "the question '?' holds no word; ask something of the documents" in deployed["ask nobody"]["message"]


def test_the_report_of_an_answer_goes_with_a_document_that_it_shows(deployed):
    reports = {f"{answer['answer_id']}.html" for answer in deployed["ask"]["returned"]}
    assert reports <= set(deployed["reports"]) and reports.isdisjoint(deployed["reports after removal"])


def test_a_question_over_http_is_a_run_with_its_name_and_tags_and_keeps_no_result(deployed):
    (answer,) = deployed["http"]
    assert answer["status"] == "evidence" and answer["reader"] == "top-k"
    flow, state, _message, run_id = deployed["served"][answer["question"]]
    assert (flow, state) == ("ask", "Completed")
    assert f"ask-{run_id}" in deployed["lineage"]
    assert ["small", "top-k"] in [tags for name, tags in deployed["runs"] if name == answer["question"]]
    assert deployed["http nobody"].startswith("QuestionError: the question '!' holds no word")


def test_who_follows_a_question_hears_of_it_although_its_steps_are_tasks_of_a_run(deployed):
    news, notes = deployed["news"]
    # On a busy machine it waits for its turn.
    (found,) = [words for words in news if words != "waiting"]
    assert found.startswith("found ") and not any("without Prefect" in note for note in notes)


def test_the_pages_are_a_run_of_their_own_and_stand_with_the_run_that_answered(deployed):
    for answer, more in ((deployed["http"][0], ""), (deployed["ask"]["returned"][0], " and 1 more")):
        name = answer["question"] + more
        assert deployed["served"][f"pages of {name}"][:2] == ["ask-pages", "Completed"]
        assert deployed["pages of runs"][answer_key(answer_from_json(answer, Answer))] == deployed["served"][name][3]
        assert f"{answer['answer_id']}.html" in deployed["reports"]


def test_no_question_has_prefect_block_the_event_loop_until_its_server_answers(deployed):
    assert deployed["blocked"] == [0, 0]


def test_a_question_that_is_cancelled_ends_soon_and_says_so(deployed):
    error, seconds = deployed["cancelled"]
    assert error.startswith("RefusedError: the question was stopped: somebody cancelled it") and seconds < 30
    run = deployed["served"]["How far?"]
    assert run[1:3] == ["Cancelled", "stopped; what was answered is kept"]


def test_a_question_that_is_stopped_says_so_and_so_does_its_run(deployed):
    assert all(error.startswith("RefusedError: the question was stopped") for error in deployed["stopped"])
    runs = [deployed["served"][name] for name in ("How near?", "How early?") if name in deployed["served"]]
    assert [run[1:3] for run in runs] == [["Cancelled", "stopped; what was answered is kept"]] * len(runs) and runs


def test_what_a_killed_service_had_at_work_is_crashed_when_it_is_up_again_and_nothing_of_another(deployed):
    runs = deployed["served"]
    assert runs["killed here"][1:3] == ["Crashed", "the query service was killed; what was answered is kept"]
    assert runs["killed there"][1] == "Running"


def test_what_was_removed_since_the_answer_is_written_nowhere(own_home, capsys):
    assert main(["ask", WEIGHT, "--corpus", "small", "--json"]) == 0
    answer = answer_from_json(json.loads(capsys.readouterr().out), Answer)
    assert any(citation.quote for citation in answer.citations) and find_still_shown("small", [answer.answer_id]) == [answer]
    for name in {citation.document.name for citation in answer.citations}:
        assert main(["documents", "remove", name, "--corpus", "small", "--now"]) == 0
    (shown,) = find_still_shown("small", [answer.answer_id])
    assert shown.answer_id == answer.answer_id and not any(citation.quote for citation in shown.citations)
    assert main(["corpora", "remove", "small"]) == 0
    assert find_still_shown("small", [answer.answer_id]) == []
