"""A corpus with a second embedder: made by an ingest that names it, asked with it, and not without it."""

import json

import pytest

from tests.embedding_server import embedding_server
from tests.flows.test_served_embedding import spread
from tests.program import CORPUS, flowreader
from tests.tasks.models.embedding.tiny_bert import WIDTH, write_tiny_bert

QUESTION = "What is the budget for travel?"


@pytest.fixture
def settings(tmp_path):
    def write(second):
        path = tmp_path / "settings.toml"
        path.write_text(f'[reading.embedding]\nsecond = "{second}"\n')
        return path

    return write


def test_a_folder_names_the_second_embedder_of_a_new_corpus(home, settings, tmp_path):
    folder = write_tiny_bert(tmp_path / "tiny-bert", seed=11)
    document, other = CORPUS / "budget.xlsx", CORPUS / "product_page.html"
    flowreader("ingest", document, "--settings", settings(folder), home=home, check=0)
    flowreader("ingest", other, home=home, check=0)
    (row,) = json.loads(flowreader("corpora", "list", "--json", home=home, check=0).stdout)["corpora"]
    assert " and tiny-bert@" in row["embedder"] and row["embedder"].endswith(f"/{WIDTH}") and row["documents"] == 2
    answer = json.loads(flowreader("ask", QUESTION, "--json", home=home, check=0).stdout)
    assert answer["models"]["embedder"] == row["embedder"]
    assert answer["pages"][0]["document"]["name"] == document.name and "second-look" in answer["usage"]["seconds"]
    assert answer["pages"][0]["probability"] is None, "the shipped weights are of one embedder"
    assert "nothing is wrong" in flowreader("doctor", home=home, check=0).stdout

    refused = flowreader("ingest", document, "--settings", settings(write_tiny_bert(tmp_path / "b", seed=12)), home=home, check=2)
    assert "ingest into a new corpus with --corpus NAME" in refused.stderr


def test_a_server_embeds_a_second_time_and_a_corpus_of_one_embedder_asks_it_nothing(home, settings, monkeypatch):
    document = CORPUS / "budget.xlsx"
    with embedding_server(spread(8)) as server:
        monkeypatch.setenv("FLOWREADER_SECOND_BASE_URL", server.base_url)
        flowreader("ingest", document, home=home, check=0)
        flowreader("ask", QUESTION, home=home, check=0)
        assert server.requests == []
        flowreader("ingest", document, "--corpus", "both", "--settings", settings("m"), home=home, check=0)
        made = len(server.requests)
        assert made >= 2 and {request["model"] for request in server.requests} == {"m"}
        flowreader("ask", QUESTION, "--corpus", "both", home=home, check=0)
        assert [request["input"] for request in server.requests[made:]] == [[QUESTION]]
    monkeypatch.delenv("FLOWREADER_SECOND_BASE_URL")
    refused = flowreader("ask", QUESTION, "--corpus", "both", "--fresh", home=home, check=2)
    assert "set FLOWREADER_SECOND_BASE_URL to where it is served" in refused.stderr
    flowreader("ask", QUESTION, "--fresh", home=home, check=0)
