"""What an evaluation leaves of a real corpus that it asked: no word of a document, and no arm that was shown nothing."""

import asyncio
import json

import pytest

from flows.evaluate import ask_corpus
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.runs.asked_questions import AskedQuestions
from storage.runs.log import EntryKind
from storage.runs.views import read_run
from tasks.evaluation.arms import EvaluationRequest
from tasks.evaluation.figures import sum_up
from tasks.evaluation.lines import write_lines
from tasks.evaluation.plan import plan_evaluation, work_to_do
from tasks.evaluation.scoring import ALL, CITED, CORRECT, REFUSED_RIGHTLY
from tasks.evaluation.units import figures_in
from tasks.views.evaluations import evaluation_markdown
from tests.chat_server import chat_server
from tests.evaluation_plans import small_benchmark
from tests.storage.evaluation_worlds import plain

RUN = {"run_id": "today", "started": "2026-01-01T00:00:00+00:00"}


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory):
    return small_benchmark(tmp_path_factory.mktemp("benchmark") / "small")


def measured(benchmark, **asked):
    """Ask a real corpus a benchmark, as the flow does; return the plan and what came of it."""
    plan = plan_evaluation(EvaluationRequest(dataset=str(benchmark), corpus="small", resamples=100, **asked))
    missing, ids = work_to_do(plan, "small", plan.arms[0])
    assert missing is None
    return plan, asyncio.run(ask_corpus("small", plan.arms, plan, ids))


def test_an_evaluation_holds_no_word_of_a_document_and_its_lines_do(in_asked_home, benchmark, tmp_path):
    plan, found = measured(benchmark, what="answers")
    evaluation = sum_up(plan, found, **RUN)
    values = {(one.arm, one.metric): one.value for one in figures_in(evaluation.figures) if one.group == ALL}
    assert ("flow", CORRECT) not in values, "rules answer nothing"
    assert values["flow", CITED] > 0.0 and values["flow", REFUSED_RIGHTLY] == 1.0
    with open_for_reading(corpus_location("small")) as snapshot:
        texts = {node.content for record in snapshot.documents() for node in snapshot.nodes(record.id)}
    shown = json.dumps(plain(evaluation), ensure_ascii=False)
    assert not [one.answer for by_question in found.asked.values() for one in by_question.values() if one.answer]
    assert not [text for text in texts if len(text) > 20 and text in shown]
    assert not [one for one in plan.questions if one.text in shown]
    write_lines(str(tmp_path / "out.jsonl"), plan, found)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {(line["status"], line["kind"], line["correct"]) for line in lines} >= {("evidence", "unread", None)}


def test_no_answer_of_an_evaluation_is_left_where_a_removal_does_not_look(in_asked_home, benchmark):
    """What is kept for the next run is forgotten with any document; lineage has hashes alone."""
    location = corpus_location("small")
    measured(benchmark)
    runs = [read_run(path) for path in location.runs.glob("*.jsonl")]
    assert any(record.step == "ask-batch" for run in runs for record in run.steps())
    assert not [entry for run in runs for entry in run.entries if entry["kind"] == EntryKind.ANSWER]
    AskedQuestions(location.evaluations).forget()
    left = [path for folder in (location.evaluations, location.runs) for path in folder.iterdir()]
    assert not [path for path in left if b"hydraulic wrench" in path.read_bytes()]


def test_pictures_alone_are_asked_of_no_model_that_does_not_see(in_asked_home, benchmark, monkeypatch):
    with chat_server(lambda _request: {}, sees=False) as server:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", server.base_url)
        plan, found = measured(benchmark, what="answers", readers=("pages",), set={"ask.reading.model.path_characters": 0})
        assert not found.asked and not server.calls
    assert "pages is not here: it shows pages as pictures alone, and " in evaluation_markdown(sum_up(plan, found, **RUN))
