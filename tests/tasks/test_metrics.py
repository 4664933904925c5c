"""What happens is counted under labels of few values."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from tasks.happenings import QuestionRefused, QueueSeen, Refusal
from tasks.metrics import Metrics
from tasks.models.chat_errors import Outcome
from tests.tasks import happening_worlds as worlds


@pytest.fixture
def counted():
    registry = CollectorRegistry()
    metrics = Metrics(registry)

    def value(name, *happenings, **labels):
        for happening in happenings:
            metrics.hear(happening)
        return registry.get_sample_value(f"flowreader_{name}", labels)

    value.registry = registry
    return value


def test_documents_pages_and_nodes(counted):
    counted("", worlds.began(), worlds.ended(), worlds.ended("failed"), worlds.ended())
    assert counted("documents_total", state="ready") == 2 and counted("documents_total", state="failed") == 1
    assert counted("pages_total") == 36 and counted("nodes_total") == 1020


def test_steps_by_how_they_went_and_errors_by_kind(counted):
    counted("", worlds.step(seconds=0.2), worlds.step(cached=True, seconds=0.02), worlds.step("OSError: x", seconds=3))
    counted("", worlds.step("StoppedError: "))
    assert counted("step_seconds_count", step="parse", outcome="stopped") == 1
    assert counted("step_errors_total", step="parse", error="StoppedError") is None, "a stop is no error"
    assert counted("step_seconds_count", step="parse", outcome="done") == 1
    assert counted("step_seconds_sum", step="parse", outcome="remembered") == 0.02
    assert counted("step_seconds_bucket", step="parse", outcome="done", le="0.25") == 1
    assert counted("step_seconds_bucket", step="parse", outcome="done", le="0.05") == 0
    assert counted("step_errors_total", step="parse", error="OSError") == 1


def test_calls_tokens_and_cost_and_no_seconds_of_what_was_not_sent(counted):
    counted("", worlds.call(), worlds.call(Outcome.INVALID), worlds.call(Outcome.CACHED, attempts=0))
    assert [counted("model_calls_total", purpose="analyze", outcome=one) for one in ("ok", "invalid", "cached")] == [1, 1, 1]
    assert counted("model_tokens_total", purpose="analyze", direction="input") == 300
    assert counted("model_tokens_total", purpose="analyze", direction="output") == 60
    assert counted("model_cost_total", purpose="analyze") == 1.5
    assert counted("model_call_seconds_count", purpose="analyze") == 2


def test_questions_runs_and_the_queue(counted):
    counted("", *[worlds.RUN_BEGAN, worlds.QUESTION_BEGAN] * 2, QueueSeen(4), QueueSeen(3), QuestionRefused(Refusal.FULL))
    counted("", worlds.question(seconds=0.3), worlds.RUN_BROKE, worlds.RUN_KILLED)
    assert counted("runs_total", flow="ingest", outcome="killed") == 1
    assert counted("question_seconds_bucket", reader="flow", status="answered", le="0.4") == 1
    assert (
        counted("questions_in_flight") == 1
        and counted("questions_inside") == 3
        and counted("questions_refused_total", reason="full") == 1
    )
    assert counted("runs_at_work") == 1 and counted("runs_total", flow="ingest", outcome="ended by an error") == 1


def test_no_label_names_a_document_a_run_or_an_answer(counted):
    counted(
        "", worlds.began(), worlds.step("E: x"), worlds.call(), worlds.ended("failed", "x"), worlds.question(), worlds.RUN_ENDED
    )
    shown = generate_latest(counted.registry).decode()
    assert "flowreader_documents_total" in shown
    assert not any(word in shown for word in (worlds.DOCUMENT, "report.pdf", '"r1"', '"a1"', "node 3", "secret"))
