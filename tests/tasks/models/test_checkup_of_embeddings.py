import numpy as np
import pytest

from tasks.models.checkup_of_embeddings import check_embeddings
from tasks.models.endpoints import Endpoint
from tests.embedding_server import Answer, altered, embedding_server, vector, well

CHECKS = ["answers", "model", "dimension", "length", "other texts", "same text twice", "order"]


def look(server, **endpoint):
    return check_embeddings(Endpoint(server.base_url, **endpoint))


def far_apart(data):
    """Vectors that differ as those of a model do."""
    for entry in data:
        entry["embedding"] = list(np.random.default_rng(int(sum(entry["embedding"]))).normal(size=16))
    return data


WELL = altered(far_apart)


def found_at(behave):
    with embedding_server(behave) as server:
        return {check.check: check for check in look(server).checks}


def test_a_server_that_is_well_is_said_to_be_with_all_that_was_found():
    with embedding_server(WELL) as server:
        checkup = look(server)
    found = {check.check: check.found for check in checkup.checks}
    assert list(found) == CHECKS and not checkup.wrong
    assert (checkup.server, checkup.address) == ("embeddings", server.base_url)
    assert (found["model"], found["dimension"]) == ("m, reads 2,048 tokens", "16 numbers a text")
    assert "brought to 1" in found["length"] and found["order"] == "kept" and len(server.requests) == 2


def test_unit_vectors_are_told():
    def unit(data):
        return [
            entry | {"embedding": list(np.array(entry["embedding"]) / np.linalg.norm(entry["embedding"]))}
            for entry in far_apart(data)
        ]

    assert found_at(altered(unit))["length"].found == "1"


@pytest.mark.parametrize(
    ("change", "ill"),
    [
        (lambda data: [entry | {"embedding": vector("always the same")} for entry in data], "other texts"),
        (lambda data: [entry | {"index": i} for i, entry in enumerate(far_apart(data)[::-1])], "order"),
        (
            lambda data: [entry | {"embedding": [float(i == j) for j in range(4)]} for i, entry in enumerate(data)],
            "same text twice",
        ),
    ],
)
def test_vectors_that_mix_up_texts_are_found(change, ill):
    assert found_at(altered(change))[ill].remedy


@pytest.mark.parametrize(
    "behave",
    [
        altered(lambda data: data[1:]),
        altered(lambda data: [entry | {"embedding": [0.0, 0.0]} for entry in data]),
        altered(lambda data: [entry | {"embedding": [float("nan"), 0.0]} for entry in data]),
        altered(lambda data: [entry | {"embedding": [1.0] * (1 + i)} for i, entry in enumerate(data)]),
        altered(lambda data: data, model="another"),
        lambda _request: Answer(400, {"error": "not an embeddings model"}),
        lambda _request: Answer(500, {}),
    ],
)
def test_vectors_that_would_be_refused_are_one_finding(behave):
    found = found_at(behave)
    assert list(found) == ["answers", "model", "vectors"] and found["vectors"].remedy


def test_nobody_there_is_one_finding_that_names_the_address():
    with embedding_server() as server:
        pass
    (check,) = look(server).checks
    assert check.check == "answers" and server.base_url in check.found and check.remedy


def test_the_key_is_never_shown():
    with embedding_server(WELL, api_key="sk-right") as server:
        assert not look(server, api_key="sk-right").wrong
        (check,) = look(server, api_key="sk-wrong").checks
    assert "FLOWREADER_EMBED_API_KEY" in check.remedy and "sk-wrong" not in repr(check)


def test_a_named_model_is_looked_for():
    with embedding_server(well) as server:
        assert "FLOWREADER_EMBED_MODEL" in look(server, model="other").wrong[0].remedy
