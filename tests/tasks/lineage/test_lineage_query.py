"""Queries in SQL on the records of runs: what they find, that nothing leads out of them, and that they end."""

import json
from contextlib import suppress
from dataclasses import replace

import duckdb
import pytest

from flows.cli.main import main
from storage.corpus.writer import open_for_writing
from storage.runs.log import RunLog
from tasks.lineage.operator_tables import TABLES, NoQueryError, TooMuchError, answered, copies, locked_with, require_select
from tasks.lineage.query import LineageQueryError, ask_runs
from tests.lineage_worlds import INGEST, asking_run, ingest_run, step
from tests.storage import worlds
from tests.storage.answer_worlds import answer

REPORT, PAPER = worlds.graph("report"), worlds.graph("paper")


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    """A corpus with an ingest of two documents of which one failed once, a killed ingest, and two answers."""
    place = worlds.corpus_in(tmp_path_factory.mktemp("world"))
    with open_for_writing(place, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, REPORT, PAPER)
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
    return json.loads(answered(location.runs, query))["rows"]


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
    told = "".join(answered(location.runs, f"FROM {name}") for name in TABLES)
    assert "ParseError" in told and not [word for word in ("torn", "secret", ".pdf", "/files") if word in told]


def test_what_cannot_be_read_is_said_and_hides_nothing_else(tmp_path):
    place = worlds.corpus_in(tmp_path)
    (ingest_run(place, REPORT).parent / "r1.jsonl").mkdir()
    reply = json.loads(answered(place.runs, "SELECT count(*) FROM runs"))
    assert reply == {"columns": ["count_star()"], "unreadable": {"r1": "Is a directory"}, "rows": [[1]]}


FILES = ("/etc/passwd", "file:///etc/passwd", "https://127.0.0.1:1/x.csv", "s3://bucket/x.parquet")
READS = """read_text('{0}')|read_blob('{0}')|read_csv('{0}')|read_json('{0}')|read_ndjson_objects('{0}')|read_parquet('{0}')
glob('{0}')|'{0}'|sniff_csv('{0}')|query('FROM read_text(''{0}'')')|query_table('{0}')|query_table(['{0}'])"""
OTHERS = """COPY runs TO '{0}'|COPY runs FROM '{0}'|EXPORT DATABASE '{0}'|ATTACH '{0}'|INSTALL httpfs|LOAD httpfs|LOAD '{0}'
SET enable_external_access = true|SET GLOBAL memory_limit = '99GB'|RESET lock_configuration|PRAGMA memory_limit = '9GB'
CREATE SECRET x (TYPE s3)|CREATE TABLE x AS FROM runs|DELETE FROM runs|INSERT INTO runs FROM runs|DROP TABLE runs|CHECKPOINT
CALL pragma_version()|SELECT 1; COPY runs TO '{0}'|EXPLAIN SELECT 1||-- nothing|PREPARE x AS SELECT 1|EXECUTE x|SHOW frame; SELECT 1
SELECT set_config('threads', '1')|SELECT getenv('HOME')|FROM frame|FROM copied|FROM lines|FROM entries|FROM opened_runs"""


def split(attacks):
    return [attack for line in attacks.splitlines() for attack in line.split("|")]


def test_nothing_leads_out(location, tmp_path):
    frame = duckdb.sql("SELECT 1").to_arrow_table()
    own = location.runs / f"{INGEST}.jsonl"
    reads = [f"FROM {how.format(what)}" for how in split(READS) for what in (*FILES, own)]
    attacks = [*reads, *(how.format(tmp_path / "out") for how in split(OTHERS))]
    through, would_work = [], []
    with locked_with(copies(location.runs, "runs")[0]) as connection:
        for attack in attacks:
            with suppress(duckdb.Error, NoQueryError):
                require_select(attack)
                through.append((attack, connection.execute(attack).fetchall()))
        assert len(connection.execute("WITH gone AS (DELETE FROM runs RETURNING *) FROM gone").fetchall()) == 3, "of copies"
        locked = "SELECT value FROM duckdb_settings() WHERE name IN ('enable_external_access', 'lock_configuration') ORDER BY name"
        assert connection.execute(locked).fetchall() == [("false",), ("true",)]
    for attack in (read for read in reads if "://" not in read or "file:" in read):
        with suppress(duckdb.Error):
            would_work.append(duckdb.sql(attack).fetchall())
    assert (len(through), len(attacks)) == (0, 92), through
    assert len(would_work) >= 12 and frame.num_rows == 1 and not list(tmp_path.iterdir())
    assert len(rows(location, "FROM runs")) == 3


def test_times_lists_and_what_json_has_no_word_for_are_shown(location):
    odd = "SELECT DATE '2026-01-02', 'nan'::DOUBLE, 1.5::DECIMAL(3, 1), [1, NULL], {'a': 0.5}, INTERVAL 1 DAY, true, 'x'::BLOB"
    assert rows(location, odd) == [["2026-01-02", "nan", 1.5, [1, None], {"a": 0.5}, "1 day, 0:00:00", True, "b'x'"]]


def test_a_result_that_is_too_large_is_refused(location, monkeypatch):
    monkeypatch.setattr("tasks.lineage.operator_tables.REPLY_BYTES", 100)
    with pytest.raises(TooMuchError, match="1,000 rows and more"):
        answered(location.runs, "FROM range(5000)")


@pytest.mark.parametrize(
    ("query", "bounds", "what"),
    [
        (
            "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b",
            {"seconds": 3},
            "took more than 3 s; let it read",
        ),
        ("SELECT list(range) FROM range(2000000000)", {}, "needs too much memory .*; let it read fewer rows"),
        ("SELECT repeat('x', 4000000000)", {"memory": 300 << 20}, "needs too much memory .*; let it read fewer rows"),
        ("FROM read_text('/etc/passwd')", {}, r"reads more than the tables \(Cannot access file .*/etc/passwd.*; it sees no file"),
        ("SELECT stepp FROM steps", {}, r'cannot be run \(Referenced column "stepp" .*"step".*\); the tables are runs, steps'),
        ("SELECT \udc80", {}, "cannot be run"),
    ],
)
def test_what_takes_too_long_or_too_much_is_ended_and_errors_have_words(location, query, bounds, what):
    with pytest.raises(LineageQueryError, match=what):
        ask_runs(location, query, **bounds)


def test_the_command_shows_a_table_or_a_list_of_objects(location, monkeypatch, capsys):
    monkeypatch.setenv("FLOWREADER_HOME", str(location.home))
    monkeypatch.setattr("flows.display.query_table.SHOWN", 1)
    query = "SELECT step, count(*) AS n, avg(seconds) s, null, n FROM steps WHERE step LIKE 'e%' GROUP BY step ORDER BY step"
    assert main(["lineage", "--sql", query]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["step", "n", "s", "NULL", "n_2"], ["embed", "2", "0.5", "2"], ["and", "1", "more;", "--json", "has", "all"]]  # fmt: skip
    assert main(["lineage", "--sql", query, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1] == {"step": "evolve", "n": 3, "s": 0.5, "NULL": None, "n_2": 3}
    assert main(["lineage", "--sql", "DROP TABLE runs", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["what"], error["remedy"]) == (
        "the query is to be one SELECT (DROP)",
        "nothing can be changed, written or set here",
    )
    assert main(["lineage", "--sql", "FROM runs", "--corpus", "other"]) == 2 and "no corpus 'other'" in capsys.readouterr().err
