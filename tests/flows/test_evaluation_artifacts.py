"""An evaluation leaves with its run a page, pictures in it, and a table, under a key that Prefect takes.

Prefect learns its server's address once in a process, so it is asked in a process of its own.
"""

import base64
import json
import os
import subprocess
import sys

import pytest

SHOW = """
import asyncio, json, pathlib, sys
from flows.prefect_environment import prefect_server
from storage.evaluation_records import Figure
from tests.storage.evaluation_worlds import evaluation

figures = (Figure("flow", "all", "recall@5", 2 / 3, 0.5, 1.0, 4, 4), Figure("top-k", "all", "seconds", 0.25, 0.125, 0.5, 4, 4))
measured = evaluation("0a63db1e", what="retrieval", benchmark="Tide & [Time]_2\\u00e9", figures=figures)

async def show_and_look():
    from prefect import flow
    from prefect.client.orchestration import get_client
    from flows.evaluation_artifacts import show_in_prefect

    @flow(persist_result=False)
    async def measuring():
        await show_in_prefect(measured, [pathlib.Path(path) for path in sys.argv[1:]])

    await measuring()
    async with get_client() as client:
        (run,), left = await client.read_flow_runs(), await client.read_artifacts()
    return [
        {"key": one.key, "type": one.type, "data": one.data, "told": one.description, "of_run": one.flow_run_id == run.id}
        for one in left
        if one.key
    ]

with prefect_server() as wait_until_ready:
    wait_until_ready()
    print(json.dumps(asyncio.run(show_and_look())))
"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    for name in ("perfect-recall", "recall-5"):
        (folder / f"{name}.png").write_bytes(b"\x89PNG " + name.encode())
    return [folder / "perfect-recall.png", folder / "recall-5.png"]


@pytest.fixture(scope="module")
def left(tmp_path_factory, pictures):
    environment = {**os.environ, "FLOWREADER_HOME": str(tmp_path_factory.mktemp("showing") / "home")}
    done = subprocess.run(
        [sys.executable, "-c", SHOW, *map(str, pictures)], env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    return {artifact["type"]: artifact for artifact in json.loads(done.stdout.splitlines()[-1])}


def test_a_page_and_a_table_are_left_with_the_run_under_keys_of_the_benchmark(left):
    assert {kind: one["key"] for kind, one in left.items()} == {
        "markdown": "evaluate-retrieval-tide----time--2-",
        "table": "evaluate-retrieval-tide----time--2--figures",
    }
    assert all(one["of_run"] and "retrieval: Tide & [Time]_2é" in one["told"] for one in left.values())


def test_the_page_holds_the_tables_and_every_picture_in_itself(left, pictures):
    page = left["markdown"]["data"]
    assert page.startswith("# Evaluation of retrieval") and "66.7 (50.0-100.0)" in page
    for path in pictures:
        assert f"![{path.stem}](data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()})" in page


def test_the_table_holds_every_figure_with_its_interval(left):
    rows = left["table"]["data"]
    rows = json.loads(rows) if isinstance(rows, str) else rows
    assert [row["metric"].split(" (")[0] for row in rows] == ["recall@5", "seconds"]
    assert [[row[name] for name in ("arm", "questions", "mean", "from", "to")] for row in rows] == [
        ["flow", "all (4)", 0.6667, 0.5, 1.0],
        ["top-k", "all (4)", 0.25, 0.125, 0.5],
    ]
