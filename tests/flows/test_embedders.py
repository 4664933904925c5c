"""A corpus whose vectors come from a folder, a server, or from a second embedder beside the first."""

import hashlib
import json

import pytest

from tests.embedding_server import altered, embedding_server
from tests.program import CORPUS, flowreader
from tests.tasks.models.embedding.tiny_bert import WIDTH, write_tiny_bert

QUESTION = "What is the budget for travel?"


def spread(numbers):
    """Vectors of so many numbers that differ as the texts do."""

    def change(data):
        hashes = [hashlib.sha256(repr(entry["embedding"]).encode()).digest() for entry in data]
        return [
            entry | {"embedding": [byte / 255 - 0.4 for byte in digest[:numbers]]}
            for entry, digest in zip(data, hashes, strict=True)
        ]

    return altered(change)


def spoilt_but_for_the_first(spoilt):
    """Answers one text well, as when the dimension is asked for, and spoils what comes in one request with others."""
    return lambda request: (spread(8) if len(request["input"]) == 1 else spoilt)(request)


@pytest.fixture
def served(home, monkeypatch):
    """Runs the program before a server that behaves as is said."""

    def run(behave, *arguments, check):
        with embedding_server(behave) as server:
            monkeypatch.setenv("FLOWREADER_EMBED_BASE_URL", server.base_url)
            return flowreader(*arguments, home=home, check=check), server

    return run


def test_nothing_of_a_server_that_errs_is_stored_and_the_same_command_goes_on_with_one_that_is_well(served):
    document = CORPUS / "budget.xlsx"
    reordered = spoilt_but_for_the_first(altered(lambda data: data[::-1]))
    told, _ = served(reordered, "ingest", document, check=2)
    assert "not in that of the texts" in told.stderr and "Traceback" not in told.stderr
    status, _ = served(spread(8), "status", "--json", check=0)
    assert json.loads(status.stdout)["documents"] == []

    _, server = served(spread(8), "ingest", document, check=0)
    assert len(server.requests) >= 2 and server.requests[0]["model"] == "m"
    answer, _ = served(spread(8), "ask", QUESTION, "--json", check=0)
    assert json.loads(answer.stdout)["status"] != "not_found"
    refused, _ = served(spread(5), "ask", QUESTION, "--fresh", check=2)
    assert "shape (5,) where 8 numbers were expected" in refused.stderr
    healthy, _ = served(spread(8), "doctor", check=0)
    assert "nothing is wrong" in healthy.stdout


@pytest.mark.torture
def test_a_model_of_another_dimension_makes_a_corpus_of_its_own(home, monkeypatch, tmp_path):
    monkeypatch.setenv("FLOWREADER_EMBED_MODEL", str(write_tiny_bert(tmp_path / "tiny-bert", seed=1)))
    document = CORPUS / "budget.xlsx"
    flowreader("ingest", document, home=home, check=0)
    answer = json.loads(flowreader("ask", QUESTION, "--json", home=home, check=0).stdout)
    assert answer["models"]["embedder"].startswith("tiny-bert@") and answer["models"]["embedder"].endswith(f"/{WIDTH}")
    assert answer["pages"][0]["document"]["name"] == document.name

    monkeypatch.setenv("FLOWREADER_EMBED_MODEL", str(write_tiny_bert(tmp_path / "other" / "tiny-bert", seed=2)))
    refused = flowreader("ask", QUESTION, "--fresh", home=home, check=2)
    assert "embedded by tiny-bert@" in refused.stderr and "FLOWREADER_EMBED_MODEL is tiny-bert@" in refused.stderr
    refused = flowreader("ingest", document, home=home, check=2)
    assert "ingest into a new corpus with --corpus NAME" in refused.stderr and "Traceback" not in refused.stderr
    flowreader("ingest", document, "--corpus", "another", home=home, check=0)
    assert json.loads(flowreader("ask", QUESTION, "--corpus", "another", "--json", home=home, check=0).stdout)["pages"]


@pytest.fixture
def settings(tmp_path):
    def write(second):
        path = tmp_path / "settings.toml"
        path.write_text(f'[reading.embedding]\nsecond = "{second}"\n')
        return path

    return write


@pytest.mark.torture
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


@pytest.mark.torture
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
