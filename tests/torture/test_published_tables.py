"""Every table of the papers that has a name runs to its end by a scripted model; each cell is filled, or a note says why not."""

import json

import pytest

from tasks.evaluation.scoring import GATE_OPENED, REFUSED_RIGHTLY, RIGHT_REFLECTED
from tasks.evaluation.tables.published import ALL, find_table, table_names
from tests.chat_server import chat_server
from tests.evaluation_plans import small_benchmark
from tests.program import flowreader

SOME = {RIGHT_REFLECTED, GATE_OPENED, REFUSED_RIGHTLY, "calls", "seconds"}
"""Metrics of some questions alone: looked at twice, without an answer, or read with no reply of an earlier table."""
pytestmark = pytest.mark.torture


def fill_in(schema, whole=None):
    """Return the least value that a JSON schema takes: a model that obeys and knows nothing."""
    whole = whole or schema
    if "$ref" in schema:
        return fill_in(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "anyOf" in schema:
        return fill_in(schema["anyOf"][-1], whole)
    match schema.get("type"):
        case "object":
            return {name: fill_in(part, whole) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [fill_in(schema["items"], whole) for _ in range(schema.get("minItems", 0))]
        case "string":
            return "x" * schema.get("minLength", 0)
        case "boolean":
            return True
    return schema.get("minimum", 0)


def obeys(request):
    return fill_in(request.body["response_format"]["json_schema"]["schema"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with chat_server(obeys) as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("FLOWREADER_CHAT_BASE_URL", server.base_url)
        yield server


def run_table(name, folder, home, *more):
    dataset = folder / find_table(name).datasets[0]
    if not dataset.exists():
        small_benchmark(dataset)
    return json.loads(flowreader("evaluate", "table", name, dataset, "--limit", "1", "--json", *more, home=home, check=0).stdout)


@pytest.mark.parametrize("name", table_names())
def test_a_table_ends_with_every_cell_filled_or_explained(asked_home, folder, served, name):
    table, found = find_table(name), run_table(name, folder, asked_home)
    measured = {(one["arm"], one["metric"]) for one in found["figures"] if one["group"] == ALL}
    here = {column.metric for column in table.columns if column.of == ALL} - SOME
    assert {(row, metric) for row in table.own_rows for metric in here} <= measured
    assert all(row.name in str(found["notes"]) for row in table.rows if row.absent)


def test_a_table_goes_on_where_it_was_and_pays_for_nothing_twice(asked_home, folder, served):
    first, calls = run_table("g2-3", folder, asked_home), served.calls
    again = run_table("g2-3", folder, asked_home)
    assert again["figures"] == first["figures"] and served.calls == calls > 0
