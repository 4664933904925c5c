"""The bench of the local model counts what comes of a dataset: which answers are right, what is lost, and what it takes."""

import pytest

from tasks.evaluation.benchmarks.opening import open_benchmark
from tasks.models.local import of_file
from tests.asking_worlds import COAST, TORQUE
from tests.bench.local_model import FLOW, PAGE, RULES, corpus_questions, measure_of
from tests.chat_server import chat_server
from tests.evaluation_plans import small_benchmark
from tests.local_models import announced, write_gguf


def reply(request):
    """Say a number of the coast whatever is asked, nothing in a form where nobody won, and what is of no form about a torque."""
    if not request.form:
        return "It is 1,150."
    answer = "" if "Nobel" in request.text else "1,150"
    return "no JSON" if TORQUE in request.text else {"answer": answer, "quotes": []}


@pytest.fixture
def measured(own_home, tmp_path, monkeypatch):
    """The figures, and the readings by their questions."""
    gguf = write_gguf(tmp_path / "model.gguf")
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", str(gguf))
    questions = [one for one in open_benchmark(small_benchmark(tmp_path / "reports")).questions if one.judgeable]
    served = {"models": (of_file(gguf).model,), "api_key": "key", "max_model_len": 8192}
    with chat_server(reply, **served) as server, announced(server.base_url, gguf, own_home):
        figures, found = measure_of("small", questions)
    return {figure.what: figure.value for figure in figures}, {one["question"]: one for one in found["questions"]}


@pytest.mark.torture
def test_a_dataset_is_asked_three_ways_and_counted(measured):
    figures, found = measured
    assert figures["calls without a usable reply"] == 25.0
    assert found[COAST]["right"] == {FLOW: True, PAGE: True, RULES: False} and found[COAST]["shown and right"][RULES]
    assert figures["3 answerable: right, FlowReader"] == figures["3 answerable: right, best page"] == pytest.approx(100 / 3)
    assert figures["all 4: right, FlowReader less best page"] == 25 and figures["all 4: answered, best page"] == 100
    for name in (FLOW, PAGE):
        assert figures[f"{name}: tokens read, mean"] > 0 and 0 < found[COAST][name]["first"] <= found[COAST][name]["seconds"]


def test_the_forty_questions_are_asked_of_the_whole_corpus():
    questions = corpus_questions()
    assert len(questions) == 40 and sum(question.answerable for question in questions) == 38
    assert not any(question.documents for question in questions)
