"""The bench of the local model counts what comes of a dataset: which answers are right, what is lost, and what it takes."""

import json

import pytest

from tasks.evaluation.benchmarks.opening import open_benchmark
from tasks.models.local import local_model, of_file, reachable
from tests.asking_worlds import TORQUE
from tests.bench.local_model import measure_reader
from tests.chat_server import chat_server
from tests.evaluation_plans import small_benchmark
from tests.local_models import announced, write_gguf


def reply(request):
    """Say a number of the coast whatever is asked, and what is of no form where it is about a torque."""
    if not request.form:
        return "It is 1,150."
    return "no JSON" if TORQUE in request.prompt else json.dumps("1,150")


@pytest.mark.torture
def test_a_dataset_is_asked_by_rules_and_by_the_model_and_counted(own_home, tmp_path, monkeypatch):
    gguf = write_gguf(tmp_path / "model.gguf")
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", str(gguf))
    questions = [one for one in open_benchmark(small_benchmark(tmp_path / "reports")).questions if one.judgeable]
    served = {"models": (of_file(gguf).model,), "api_key": "key", "max_model_len": 8192}
    with chat_server(reply, **served) as server, announced(server.base_url, gguf, own_home), reachable(local_model()):
        rows, found = measure_reader("small", questions, "flow")
    figures = {row.what: row.value for row in rows}
    assert figures["flow: calls without a usable reply"] == 25.0 and figures["flow: right"] == 50.0
    assert figures["flow: tokens read, mean"] > 0 and len(found["said"]) == 4
