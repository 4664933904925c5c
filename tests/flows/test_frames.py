"""A corpus from Python: documents, tables, answers and citations are frames of stable columns; the documentation's lines run."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from flows.frames import ANSWERS, CELLS, CHECKS, CITATIONS, DOCUMENTS, Corpus
from storage.errors import UnknownError
from storage.records.documents import NodeKind
from tasks.asking.request import QuestionError
from tests.asking_worlds import WEIGHT, Passage, written
from tests.asking_worlds import published as publish
from tests.program import CHEAP, flowreader

ROOT = Path(__file__).parents[2]


def schema(columns):
    return pl.Schema({name: kind for name, (kind, _) in columns.items()})


@pytest.fixture
def small(in_asked_home):
    return Corpus("small")


def test_documents_have_a_row_each(small):
    found = small.documents()
    assert found.schema == schema(DOCUMENTS)
    assert set(found["document"]) == set(CHEAP) and set(found["state"]) == {"ready"}
    assert found["pages"].min() >= 1 and found["bytes"].min() > 1000


def test_an_answer_and_what_it_cites_are_frames_and_are_kept(small):
    asked = small.ask(WEIGHT, "Who won the Nobel prize for basket weaving?", reader="top-k")
    assert asked.schema == schema(ANSWERS) and set(asked["reader"]) == {"top-k"}
    assert asked["question"][0] == WEIGHT and asked["status"].to_list() == ["evidence", "not_found"]
    cited = small.citations(asked)
    assert cited.schema == pl.Schema({"answer_id": pl.String, **schema(CITATIONS)})
    assert set(cited["answer_id"]) <= set(asked["answer_id"])
    first = cited.row(0, named=True)
    assert (first["document"], first["page"], first["modality"]) == ("product_page.html", 1, "table")
    assert "163" in first["quote"] and asked["asked"].is_sorted()
    kept = small.answers()
    assert kept.schema == asked.schema and kept["answer_id"].head(2).to_list() == asked["answer_id"].to_list()[::-1]
    flowreader("documents", "remove", CHEAP[3], "--corpus", "small", home=Path(os.environ["FLOWREADER_HOME"]), check=0)
    assert CHEAP[3] not in set(small.documents()["document"])
    assert set(small.citations(asked).filter(pl.col("document") == CHEAP[3])["quote"]) == {""}


def test_the_checks_of_a_text_are_a_frame(small):
    cited = small.citations(small.ask(WEIGHT)).row(0, named=True)
    found = small.verify(f"“{cited['quote']}”, and “nobody ever said this”.")
    assert found.schema == pl.Schema(CHECKS) and found["verdict"].to_list() == ["found", "missing"]
    assert (found["document"].to_list(), found["page"].to_list()) == ([cited["document"], None], [cited["page"], None])
    assert small.verify("“nobody ever said this”").schema == pl.Schema(CHECKS)


def test_the_cells_of_a_table_make_the_table_again(small):
    cells = small.tables("maintenance_manual.docx")
    assert cells.schema == pl.Schema(CELLS) and cells["table"].min() == 1
    (number,) = cells.filter(pl.col("value").str.contains("1,850"))["table"].unique()
    table = cells.filter(pl.col("table") == number).pivot(on="column", index="row", values="value")
    assert table.height > 1 and table.width > 2 and any("1,850" in str(row) for row in table.rows())
    with pytest.raises(UnknownError, match=r"no document 'handbook.docx'"):
        small.tables("handbook.docx")


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (": same: same\na: b: c\nd: e: f: g", ["row", "column 1", "same", "same (3)", "column 4"]),
        # `row` is the index
        ("row: b\n1: 2", ["row", "row (1)", "b"]),
    ],
)
def test_columns_without_a_name_or_with_a_taken_one_get_one_of_their_own(home, table, columns):
    corpus = Corpus(publish(home, written("a", Passage(table, kind=NodeKind.TABLE))).name)
    cells = corpus.tables(corpus.documents()["document"][0])
    assert cells.pivot(on="column", index="row", values="value").columns == columns


def test_a_question_is_asked_where_an_event_loop_runs(small):
    async def notebook():
        return small.ask(WEIGHT, reader="top-k")

    assert asyncio.run(notebook())["question"].to_list() == [WEIGHT]


def test_a_wrong_argument_is_named_with_what_there_is(small):
    with pytest.raises(QuestionError, match=r"reader 'topk': .*; besides questions, `ask` takes .*documents, .*reader"):
        small.ask(WEIGHT, reader="topk")


def test_frames_without_rows_have_their_columns(home):
    corpus = Corpus(publish(home, written("a", Passage("No table is here."))).name)
    assert corpus.answers().schema == schema(ANSWERS) and corpus.answers().is_empty()
    assert corpus.citations(corpus.answers()).schema == pl.Schema({"answer_id": pl.String, **schema(CITATIONS)})
    assert corpus.tables(corpus.documents()["document"][0]).schema == pl.Schema(CELLS)


def test_the_lines_of_the_documentation_run(whole_world, tmp_path):
    text = (ROOT / "deployments" / "docs" / "how-to" / "python.md").read_text("utf-8")
    (lines,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    home = shutil.copytree(whole_world / "home", tmp_path / "home")
    done = subprocess.run(
        [sys.executable, "-c", lines], cwd=ROOT, env={**os.environ, "FLOWREADER_HOME": str(home)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "annual_report.pdf" in done.stdout and "184.6" in done.stdout and "evidence" in done.stdout
