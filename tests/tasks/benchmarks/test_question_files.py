"""Question files are read row by row, and a broken one is told with its line."""

import json

import pytest

from tasks.benchmarks.question_files import columns_of, read_rows
from tasks.benchmarks.rows import BenchmarkError


def written(tmp_path, name, text):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path / name


@pytest.mark.parametrize("separator", [",", "|"])
def test_cells_may_hold_separators_quotes_and_new_lines(tmp_path, separator):
    text = f'a{separator}b\n1{separator}"x{separator}\n""y"""\n\n2{separator}z\n'
    first, second = read_rows(written(tmp_path, "q.csv", text))
    assert first.cells == {"a": "1", "b": f'x{separator}\n"y"'} and second.cells == {"a": "2", "b": "z"}
    assert (first.number, second.number) == (1, 2)
    assert first.place.endswith("q.csv, line 2") and second.place.endswith("q.csv, line 5")


def test_a_byte_order_mark_is_no_part_of_a_column(tmp_path):
    file = written(tmp_path, "q.csv", "\ufeffa,b\n1,2\n")
    assert columns_of(file) == {"a", "b"} and read_rows(file)[0].cells == {"a": "1", "b": "2"}


@pytest.mark.parametrize("broken", ["1\n", "1,2,3\n"])
def test_a_row_with_a_cell_too_few_or_too_many_is_named(tmp_path, broken):
    with pytest.raises(BenchmarkError, match=r"q\.csv, line 4 has \d cells, the header 2"):
        read_rows(written(tmp_path, "q.csv", f'a,b\n1,"x\ny"\n{broken}5,6\n'))


def test_a_quote_that_is_not_closed_is_told_where_it_opens(tmp_path):
    with pytest.raises(BenchmarkError, match=r"q\.csv, line 3: .*quote"):
        read_rows(written(tmp_path, "q.csv", 'a,b\n1,2\n3,"4\n5,6\n'))


def test_objects_are_read_from_lines_and_from_an_array(tmp_path):
    records = [{"a": 1, "b": "line\u2028break"}, {"a": [2]}]
    text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    rows = read_rows(written(tmp_path, "q.jsonl", "\n" + text.replace("\n", "\n\n") + "\n"))
    assert [row.cells for row in rows] == records and rows[1].place.endswith("q.jsonl, line 4")
    rows = read_rows(written(tmp_path, "q.json", json.dumps(records)))
    assert [row.cells for row in rows] == records and rows[1].place.endswith("q.json, record 2")
    assert [row.cells for row in read_rows(written(tmp_path, "lines.json", text))] == records


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("q.jsonl", '{"a": 1}\n{"a": \n', r"q\.jsonl, line 2 is no JSON"),
        ("q.jsonl", '{"a": 1}\n3\n', r"q\.jsonl, line 2 is no JSON object"),
        ("q.json", '[{"a": 1},\n{"a" 2}]', r"q\.json is no JSON: .*line 2 column"),
        ("q.json", '[{"a": 1}, "b"]', r"q\.json, record 2 is no JSON object"),
        ("q.json", "[]", r"q\.json' holds no questions"),
        ("q.jsonl", "\n \n", r"q\.jsonl' holds no questions"),
        ("q.csv", "a,b\n", r"q\.csv' holds no questions"),
        ("q.csv", "", r"q\.csv' holds no questions"),
        ("q.csv", b"a,b\n1,caf\xe9\n", r"q\.csv' is not UTF-8 at byte 9"),
        ("q.json", "[" * 100_000, r"q\.json is no JSON"),
    ],
)
def test_a_broken_file_is_told_with_its_line(tmp_path, name, text, told):
    with pytest.raises(BenchmarkError, match=told):
        read_rows(written(tmp_path, name, text))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(BenchmarkError, match=r"gone\.csv' cannot be read: No such file"):
        read_rows(tmp_path / "gone.csv")


def test_columns_are_those_of_the_first_row(tmp_path):
    assert columns_of(written(tmp_path, "q.csv", "a|b,c\n")) == {"a", "b,c"}
    assert columns_of(written(tmp_path, "q.json", '[\n {"a": 1, "b": {}}, {"c": broken')) == {"a", "b"}
    assert columns_of(written(tmp_path, "q.jsonl", '{"a": 1}\n{"c": 1}')) == {"a"}
    assert columns_of(written(tmp_path, "empty.csv", "")) == frozenset()


@pytest.mark.parametrize("text", ["", "[]", "no JSON", '{"a" 1}', '{"a":' * 100_000])
def test_a_file_without_a_first_row_is_named(tmp_path, text):
    with pytest.raises(BenchmarkError, match=r"q\.json' does not begin with a row"):
        columns_of(written(tmp_path, "q.json", text))
