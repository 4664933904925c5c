"""A corpus whose vectors come from a server: made, asked, and kept clean of what the server gets wrong."""

import hashlib
import json

import pytest

from tests.embedding_server import altered, embedding_server
from tests.program import CORPUS, flowreader


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

    monkeypatch.delenv("FLOWREADER_EMBED_MODEL", raising=False)
    monkeypatch.delenv("FLOWREADER_EMBED_API_KEY", raising=False)
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
    answer, _ = served(spread(8), "ask", "What is the budget for travel?", "--json", check=0)
    assert json.loads(answer.stdout)["status"] != "not_found"
    refused, _ = served(spread(5), "ask", "What is the budget for travel?", "--fresh", check=2)
    assert "shape (5,) where 8 numbers were expected" in refused.stderr
    healthy, _ = served(spread(8), "doctor", check=0)
    assert "nothing is wrong" in healthy.stdout
