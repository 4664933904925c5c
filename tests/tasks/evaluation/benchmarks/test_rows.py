"""Question files are read row by row; what is broken is named with its line and column."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.evaluation.benchmarks.rows import BenchmarkError, Row, columns_of, python_list, read_rows


def written(tmp_path, name, text):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path / name


def row(**cells):
    return Row("q.csv, line 7", 3, cells)


@pytest.mark.parametrize("separator", [",", "|"])
def test_cells_may_hold_separators_quotes_and_new_lines(tmp_path, separator):
    text = f'\ufeffa{separator}b\n1{separator}"x{separator}\n""y"""\n\n2{separator}z\n'
    first, second = read_rows(written(tmp_path, "q.csv", text))
    assert first.cells == {"a": "1", "b": f'x{separator}\n"y"'} and second.cells == {"a": "2", "b": "z"}
    assert (first.number, second.number) == (1, 2)
    assert first.place.endswith("q.csv, line 3") and second.place.endswith("q.csv, line 5")


def test_objects_are_read_from_lines_and_from_an_array(tmp_path):
    records = [{"a": 1, "b": "line\u2028break"}, {"a": [2]}]
    text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    rows = read_rows(written(tmp_path, "q.jsonl", "\n" + text.replace("\n", "\n\n") + "\n"))
    assert [row.cells for row in rows] == records and rows[1].place.endswith("q.jsonl, line 4")
    rows = read_rows(written(tmp_path, "q.json", json.dumps(records)))
    assert [row.cells for row in rows] == records and rows[1].place.endswith("q.json, record 2")
    assert [row.cells for row in read_rows(written(tmp_path, "lines.json", text))] == records


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("q.jsonl", '{"a": 1}\n{"a": \n', r"q\.jsonl, line 2 is not JSON"),
        ("q.jsonl", '{"a": 1}\n3\n', r"q\.jsonl, line 2 is not a JSON object"),
        ("q.json", '[{"a": 1},\n{"a" 2}]', r"q\.json is not JSON: .*line 2 column"),
        ("q.json", '[{"a": 1}, "b"]', r"q\.json, record 2 is not a JSON object"),
        ("q.json", "[]", r"q\.json' holds no questions"),
        ("q.csv", "a,b\n", r"q\.csv' holds no questions"),
        ("q.csv", 'a,b\n1,"x\ny"\n1\n5,6\n', r"q\.csv, line 4 has more or fewer cells than the header"),
        ("q.csv", "a,b\n1,2,3\n", r"q\.csv, line 2 has more or fewer cells than the header"),
        ("q.csv", 'a,b\n1,2\n3,"4\n5,6\n', r"q\.csv, after line 2: .*quote"),
        ("q.csv", b"a,b\n1,caf\xe9\n", r"q\.csv' is not UTF-8 at byte 9"),
        ("q.json", "[" * 100_000, r"q\.json is not JSON"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, name, text, named):
    with pytest.raises(BenchmarkError, match=named):
        read_rows(written(tmp_path, name, text))
    with pytest.raises(BenchmarkError, match=r"gone\.csv' cannot be read: No such file"):
        read_rows(tmp_path / "gone.csv")


def test_columns_are_those_of_the_first_row(tmp_path):
    assert columns_of(written(tmp_path, "q.csv", "\ufeffa|b,c\n")) == {"a", "b,c"}
    assert columns_of(written(tmp_path, "q.json", '[\n {"a": 1, "b": {}}, {"c": broken')) == {"a", "b"}
    assert columns_of(written(tmp_path, "empty.csv", "")) == frozenset()
    for text in ("", "[]", "no JSON", '{"a" 1}', '{"a":' * 100_000):
        with pytest.raises(BenchmarkError, match=r"q\.json' does not begin with a row"):
            columns_of(written(tmp_path, "q.json", text))


@pytest.mark.parametrize("nothing", [None, "", " \n", "nan", "NaN", math.nan])
def test_empty_and_nan_cells_hold_nothing(nothing):
    asked = row(a=nothing)
    assert (asked.value("a"), asked.optional_text("a"), asked.pages("a", first=1), asked.names("a")) == (None, "", (), ())
    with pytest.raises(BenchmarkError, match=r"q\.csv, line 7: column 'a' is empty"):
        asked.text("a")


def test_text_is_trimmed_numbers_are_text_and_a_missing_column_is_named():
    assert row(a=" \n\nWhy? ").text("a") == "Why?" and row(a=1998).text("a") == "1998" and row(a=0).text("a") == "0"
    with pytest.raises(BenchmarkError, match=r"line 7: column 'b' is missing; there are 'a', 'c'"):
        row(a="x", c="y").text("b")
    for value in (["a"], {"a": 1}, True, ["x" * 500]):
        with pytest.raises(BenchmarkError, match=r"column 'a' holds .{,65} not a text"):
            row(a=value).text("a")


@pytest.mark.parametrize("cell", ["[4, 2, 4]", [4, 2, 4], "(4, 2)", [4.0, "2"], "['4', 2]"])
def test_pages_are_read_from_lists_and_from_their_text_each_once(cell):
    assert row(a=cell).pages("a", first=1) == (4, 2)
    assert row(a="12").pages("a", first=1) == row(a=12).pages("a", first=1) == (12,)
    assert row(a=[0, 4]).pages("a", first=0) == (1, 5)
    assert row(a=[0, -1]).pages("a", first=1) == (0, -1), "a page that no document has is kept"


@pytest.mark.parametrize("cell", ["['four']", "page 4", [4.5], [True], [None], [[4]], ["1" * 400], "[1e999]"])
def test_a_page_that_is_no_number_is_an_error(cell):
    with pytest.raises(BenchmarkError, match=r"q\.csv, line 7: column 'a' holds the page .* not a number"):
        row(a=cell).pages("a", first=1)


@pytest.mark.parametrize("cell", ["[4, 2", "['it's']", "[open('x')]", "[" * 500])
def test_the_text_of_no_list_is_an_error_and_is_never_run(cell):
    with pytest.raises(BenchmarkError, match=r"line 7: column 'a' holds .* not a list"):
        row(a=cell).pages("a", first=1)


def test_names_keep_slashes_spaces_and_quotes():
    assert row(a="""['x/y z.pdf', "Men's.pdf", 'x/y z.pdf']""").names("a") == ("x/y z.pdf", "Men's.pdf")
    assert row(a="Table").names("a") == ("Table",) and row(a=["Table"]).names("a") == ("Table",)
    for cell in ([3], [""], "[None]"):
        with pytest.raises(BenchmarkError, match=r"column 'a' holds .* not a name"):
            row(a=cell).names("a")


@given(st.lists(st.text() | st.integers()))
def test_every_list_that_python_writes_is_read_back(items):
    assert python_list(repr(items)) == tuple(items)
    assert python_list(r"['\d']") == (r"\d",) and python_list("7") is None
