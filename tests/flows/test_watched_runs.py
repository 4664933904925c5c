"""Real runs as whoever watches them sees them: by the log, by the sums of all processes, in Prefect's own log."""

import json
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from flows.cli.ingest_command import STOPPED
from tasks.progress import listening, request_stop
from tasks.watching.metrics_endpoint import METRICS, shows_all
from tests.kept_worlds import kept_world
from tests.listening import free_port
from tests.program import CORPUS, flowreader, process

QUESTION = "What does an MT-3 cost without its base and its xylophone?"
PASSWORD = "opensesame-4711"


@pytest.fixture(scope="module")
def watched_home():
    """A home in which one page and a file that is none were read in, and a question asked; its log, its metrics, its output."""
    folder = kept_world("watched", watch_runs, Path(__file__))
    lines = (folder / "log").read_text("ascii").splitlines()
    return {"folder": folder, "lines": lines, "metrics": (folder / "metrics").read_text()}


def watch_runs(folder):
    (folder / "in").mkdir()
    (folder / "in" / "product_page.html").write_bytes((CORPUS / "product_page.html").read_bytes())
    (folder / "in" / "cut\n.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    (folder / "passwords").write_text(PASSWORD)
    port = str(free_port())
    with pytest.MonkeyPatch.context() as patched:
        for name, value in ((METRICS, port), ("FLOWREADER_LOG", str(folder / "log")), ("FLOWREADER_HOME", str(folder / "home"))):
            patched.setenv(name, value)
        patched.setenv("PREFECT_LOGGING_LEVEL", "INFO")
        patched.setenv("FLOWREADER_CHAT_API_KEY", "sk-planted-secret")
        with shows_all():
            ingest = ("ingest", folder / "in", "--corpus", "small", "--password-file", folder / "passwords")
            process(*ingest, home=folder / "home", check=1)
            process("ask", QUESTION, "--by", "rules", "--corpus", "small", home=folder / "home", check=0)
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
                (folder / "metrics").write_bytes(reply.read())


def told(watched_home, event):
    return [line for line in map(json.loads, watched_home["lines"]) if line["event"] == event]


def test_the_log_has_each_run_document_and_step(watched_home):
    assert [(line["flow"], line.get("outcome")) for line in told(watched_home, "run-ended")] == [
        ("ingest", "ended"),
        ("ask", "ended"),
    ]
    documents = {line["name"]: line for line in told(watched_home, "document-ended")}
    assert {name: line["state"] for name, line in documents.items()} == {"product_page.html": "ready", "cut\\n.pdf": "failed"}
    assert documents["cut\\n.pdf"]["error"] and documents["cut\\n.pdf"]["level"] == "warning"
    steps = [line["step"] for line in told(watched_home, "step-ended") if line.get("name") == "product_page.html"]
    assert steps == ["parse", "read-words", "structure", "analyze", "embed", *["evolve-round"] * 3, "evolve"]
    (question,) = told(watched_home, "question-ended")
    assert question["reader"] == "flow" and question["status"] == "evidence" and 0 < question["seconds"] < 60


def test_no_line_holds_words_of_a_question_or_a_document_or_a_secret(watched_home):
    everything = "".join(watched_home["lines"]).lower() + watched_home["metrics"].lower()
    for words in ("xylophone", "mt-3", "6.9 million", "turbine", PASSWORD, "sk-planted-secret"):
        assert words not in everything, words


def test_the_sums_are_those_of_processes_that_ended(watched_home):
    samples = dict(line.rsplit(" ", 1) for line in watched_home["metrics"].splitlines() if not line.startswith("#"))
    expected = {
        'flowreader_documents_total{state="ready"}': 1,
        'flowreader_documents_total{state="failed"}': 1,
        "flowreader_pages_total": 1,
        "flowreader_nodes_total": 13,
        'flowreader_runs_total{flow="ask",outcome="ended"}': 1,
        'flowreader_runs_total{flow="ingest",outcome="ended"}': 1,
        'flowreader_step_seconds_count{outcome="done",step="embed"}': 1,
        'flowreader_step_seconds_count{outcome="failed",step="parse"}': 1,
        'flowreader_step_errors_total{error="ParseError",step="parse"}': 1,
        'flowreader_question_seconds_count{reader="flow",status="evidence"}': 1,
    }
    assert {name: float(samples.get(name, "nan")) for name in expected} == expected
    assert "flowreader_runs_at_work" not in samples, "who ended works at nothing"


def in_prefect(watched_home, statement):
    with closing(sqlite3.connect(watched_home["folder"] / "home" / "prefect" / "prefect.db")) as opened:
        return opened.execute(statement).fetchall()


def test_a_run_that_is_stopped_leaves_the_rest_to_the_next(home, tmp_path):
    page = tmp_path / "a.html"
    page.write_text("<h1>Tides</h1><p>The tide turns twice a day and never asks why.</p>")
    with listening(lambda progress: request_stop() if progress.step == "structure" else None):
        stopped = flowreader("ingest", page, home=home, check=STOPPED)
    assert "the same command goes on" in stopped.stderr
    assert '"ready"' in flowreader("ingest", page, "--json", home=home, check=0).stdout


def test_prefect_s_log_of_the_run_names_the_document_that_failed(watched_home):
    said = in_prefect(watched_home, "select level, message from log where name = 'prefect.flow_runs'")
    (failed,) = [(level, message) for level, message in said if message.startswith("document ended: cut")]
    assert failed[0] == 30 and failed[1].startswith("document ended: cut\\n.pdf (state failed")
    assert any(level == 20 and message.startswith("run ended: ingest (corpus small, outcome ended") for level, message in said)
    assert not any("step ended" in message for _level, message in said)
