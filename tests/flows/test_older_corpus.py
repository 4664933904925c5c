"""A corpus of an older FlowReader goes on: tests/fixtures holds a home with three read documents and two answers, of schema 1.

It was made at commit c03f86c by `ingest` of the three documents that lie beside it in the archive, and by two questions.
"""

import json
import tarfile
from pathlib import Path

import pytest

from flows.cli.main import main
from tests.program import said

ARCHIVE = Path(__file__).parents[1] / "fixtures" / "corpus-of-schema-1.tar.gz"
QUESTION = "How often must the coolant pump P-17 be serviced?"
ANSWER = "c2f2ca7b26034a6ab942b80f11b455ef"
PUMP = "1df55063b568b1bc6526e4a5c4cad3e56800ec0f7525cd581a128a9874be6864"


def quoted(answer):
    return " ".join(citation["quote"] for citation in answer["citations"])


@pytest.fixture
def older(tmp_path, monkeypatch):
    with tarfile.open(ARCHIVE) as packed:
        # Python 3.11.2, which is Debian's, has no filters yet.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(tmp_path)
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def call(older, capsys):
    def run(*arguments):
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_what_was_read_and_answered_before_is_shown_and_asked(call):
    assert call("status")["totals"] | {"states": 0} == {
        **{"documents": 3, "pages": 3, "nodes": 8, "tables": 2, "figures": 0, "table_rows": 7, "edges": 42, "states": 0}
    }
    kept = call("answers", "show", ANSWER[:8])
    assert (kept["answer_id"], kept["question"]) == (ANSWER, QUESTION) and "every 400 operating hours" in quoted(kept)
    assert (kept["status"], kept["answer_by"], kept["answer"]) == ("evidence", None, ""), "no model read it"
    assert "%" not in kept["why"]
    assert {answer["answer_id"] for answer in call("answers", "list")["answers"]} >= {ANSWER}
    traced = call("lineage", ANSWER)
    assert traced["question"] == QUESTION and PUMP in {found["document"]["id"] for found in traced["documents"]}
    assert "every 400 operating hours" in quoted(call("ask", QUESTION))
    assert "every 400 operating hours" in quoted(call("ask", QUESTION, "--reader", "map")), "the map is made on reading"
    assert call("doctor")["findings"] == []


def test_its_documents_stay_as_they_are_and_more_are_read_into_it(call, older):
    (older / "documents" / "crane.txt").write_text(
        "The crane K-3 lifts twelve tonnes.\n\nIt is inspected every March by the workshop.\n"
    )
    read = said("ingest", older / "documents", home=older / "home")
    assert read["totals"]["documents"] == 4 and read["totals"]["states"] == {"ready": 4}
    assert {document["id"] for document in read["documents"]} > {PUMP}
    assert "twelve tonnes" in quoted(call("ask", "What does the crane K-3 lift?"))
    assert "every 400 operating hours" in quoted(call("answers", "show", ANSWER))
    assert call("doctor")["findings"] == []
    assert "every 400 operating hours" in quoted(call("ask", QUESTION, "--reader", "map"))
    (backup,) = (older / "home" / "corpora" / "default").glob("catalog.duckdb.*")
    assert backup.name == "catalog.duckdb.version-1", "a catalog was set aside"
