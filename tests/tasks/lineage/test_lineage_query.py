"""Queries in SQL on the records of runs: what they find, that nothing leads out of them, and that they end."""

import json
import os
import signal
import threading
from dataclasses import replace

import duckdb
import pytest

from flows.cli.main import main
from storage.errors import RequestError
from storage.runs.log import RunLog
from tasks.lineage.query import TABLES, QueriedRows, ask_runs
from tests.lineage_worlds import INGEST, asking_run, ingest_run, small_corpus, step
from tests.storage import worlds
from tests.storage.answer_worlds import answer

REPORT, PAPER = worlds.graph("report"), worlds.graph("paper")


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    """A corpus with an ingest of two documents of which one failed once, a killed ingest, and two answers."""
    place = small_corpus(tmp_path_factory.mktemp("world"))
    log = RunLog(ingest_run(place, REPORT, PAPER))
    log.step(step(INGEST, "parse", PAPER.document_id, error="ParseError: it is torn: secret.pdf", cache_hit=True))
    log.step(step(INGEST, "embed", PAPER.document_id, error="StoppedError: stopped"))
    log.step(step(INGEST, "embed", PAPER.document_id, cache_hit=True))
    ingest_run(place, REPORT, run_id="killed", ended=False, stages=["evolve"])
    usage = replace(
        answer("report").usage, calls=3, input_tokens=200, output_tokens=40, cost=0.25, seconds={"read": 1.5, "judge": 0.5}
    )
    earlier = replace(answer("report"), answer_id="e" * 32, asked="2025-01-01T00:00:00+00:00", question='It\'s a "ques\ntion"')
    asking_run(place, "aa00bb", [replace(answer("report"), usage=usage), earlier])
    return place


def rows(location, query):
    return [list(row) for row in ask_runs(location, query).rows]


def test_runs_steps_calls_and_answers_are_tables(location):
    assert rows(location, "SELECT run_id, kind, outcome, snapshot FROM runs ORDER BY ALL") == [
        [INGEST, "ingest", "ended", 3],
        ["ask-aa00bb", "ask", "ended", 3],
        ["killed", "evolve", "killed", None],
    ]
    assert rows(location, f"SELECT outcome, error, count(*) FROM steps WHERE run_id = '{INGEST}' GROUP BY ALL ORDER BY ALL") == [
        ["done", None, 5],
        ["failed", "ParseError", 1],
        ["remembered", None, 1],
        ["stopped", "StoppedError", 1],
    ]
    by_purpose = "SELECT purpose, count(*), sum(input_tokens), sum(cost) FROM model_calls GROUP BY purpose ORDER BY purpose"
    assert rows(location, by_purpose) == [["analyze_text", 3, 300, 1.5], ["worker", 2, 200, 1.0]]
    told = "SELECT question, status, calls, input_tokens, output_tokens, cost, seconds, run_id FROM answers ORDER BY asked DESC"
    assert rows(location, told) == [
        ["How many?", "answered", 3, 200, 40, 0.25, 2.0, "ask-aa00bb"],
        ['It\'s a "ques\ntion"', *rows(location, told)[1][1:]],
    ]
    assert rows(location, "SELECT min(began), max(asked) FROM runs, answers") == [["2026-02-03 04:05:06", "2026-01-01 00:00:00"]]


def test_no_table_has_words_or_names_of_documents(location):
    told = repr([ask_runs(location, f"FROM {name}").rows for name in TABLES])
    assert "ParseError" in told and not [word for word in ("torn", "secret", ".pdf", "/files") if word in told]


def test_what_cannot_be_read_is_said_and_hides_nothing_else(tmp_path):
    place = worlds.corpus_in(tmp_path)
    (ingest_run(place, REPORT).parent / "r1.jsonl").mkdir()
    told = ask_runs(place, "SELECT count(*) FROM runs; ")
    assert told == QueriedRows(("count_star()",), ((1,),), {"r1": "Is a directory"})


READS = ["read_text('{0}')", "'{0}'", "read_parquet('{0}')", "glob('{0}')", "query('FROM read_text(''{0}'')')"]
OTHERS = """COPY runs TO '{0}'|ATTACH '{0}'|EXPORT DATABASE '{0}'|INSTALL httpfs|LOAD '{0}'|SET enable_external_access = true
RESET lock_configuration|DROP TABLE runs|SELECT 1; COPY runs TO '{0}'|SELECT 1) COPY (SELECT 1|FROM frame|FROM entries"""


def test_nothing_leads_out(location, tmp_path):
    frame = duckdb.sql("SELECT 1").to_arrow_table()
    files = ("/etc/passwd", "https://127.0.0.1:1/x.csv", location.runs / f"{INGEST}.jsonl")
    attacks = [f"FROM {how.format(what)}" for how in READS for what in files]
    attacks += [how.format(tmp_path / "out") for how in OTHERS.replace("\n", "|").split("|")]
    for attack in attacks:
        with pytest.raises(RequestError):
            pytest.fail(f"{attack}: {rows(location, attack)}")
    assert duckdb.sql(attacks[0]) and frame.num_rows == 1 and not list(tmp_path.iterdir())


def test_times_lists_and_what_json_has_no_word_for_are_shown(location):
    odd = "SELECT DATE '2026-01-02', 'nan'::DOUBLE, 1.5::DECIMAL(3, 1), [1, NULL], {'a': 0.5}, INTERVAL 1 DAY, true, 'x'::BLOB"
    assert rows(location, odd) == [["2026-01-02", "nan", 1.5, [1, None], {"a": 0.5}, "1 day, 0:00:00", True, "b'x'"]]


def test_a_result_that_is_too_large_is_refused(location, monkeypatch):
    monkeypatch.setattr("tasks.lineage.query.ROWS", 100)
    with pytest.raises(RequestError, match="more than 100 rows; let it count"):
        ask_runs(location, "FROM range(101)")
    assert len(rows(location, "FROM range(100)")) == 100


ENDLESS = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"


@pytest.mark.torture
@pytest.mark.parametrize(
    ("query", "bounds", "what"),
    [
        (ENDLESS, {"seconds": 0.5}, "took more than 0.5 s; let it read"),
        ("SELECT list(range) FROM range(2000000000)", {}, r"cannot be run \(failed to allocate .*used\)"),
        ("FROM read_text('/etc/passwd')", {}, r"cannot be run \(Cannot access file .*/etc/passwd.* disabled"),
        ("SELECT stepp FROM steps", {}, r'cannot be run \(Referenced column "stepp" .*"step".*\); the tables are runs, steps'),
        ("SELECT \udc80", {}, "cannot be run"),
    ],
)
def test_what_takes_too_long_or_too_much_is_ended_and_errors_have_words(location, query, bounds, what):
    with pytest.raises(RequestError, match=what):
        ask_runs(location, query, **bounds)


def test_ctrl_c_ends_it(location):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        ask_runs(location, ENDLESS)


def test_the_command_shows_a_table_or_a_list_of_objects(location, monkeypatch, capsys):
    monkeypatch.setenv("FLOWREADER_HOME", str(location.home))
    monkeypatch.setattr("flows.display.lineage_tables.ROWS_SHOWN", 1)
    query = "SELECT step, count(*) AS n, avg(seconds) s, null, n FROM steps WHERE step LIKE 'e%' GROUP BY step ORDER BY step"
    assert main(["lineage", "--sql", query]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["step", "n", "s", "NULL", "n_1"], ["embed", "2", "0.5", "2"], ["and", "1", "more;", "--json", "has", "all"]]  # fmt: skip
    assert main(["lineage", "--sql", query, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1] == {"step": "evolve", "n": 3, "s": 0.5, "NULL": None, "n_1": 3}
    assert main(["lineage", "--sql", "DROP TABLE runs", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["what"], error["remedy"]) == ("the query must be one SELECT", "nothing can be changed, written or set here")
    assert main(["lineage", "--sql", "FROM runs", "--corpus", "other"]) == 2 and "no corpus 'other'" in capsys.readouterr().err
