import pytest

from tasks.models.endpoints import Endpoint, EndpointError, embedding_endpoint


def test_without_variables_there_is_no_endpoint(monkeypatch):
    monkeypatch.delenv("FLOWREADER_EMBED_BASE_URL", raising=False)
    monkeypatch.delenv("FLOWREADER_EMBED_MODEL", raising=False)
    assert embedding_endpoint() is None


def test_both_variables_name_an_endpoint(monkeypatch):
    monkeypatch.setenv("FLOWREADER_EMBED_BASE_URL", "http://localhost:1/v1")
    monkeypatch.setenv("FLOWREADER_EMBED_MODEL", "some/model")
    assert embedding_endpoint() == Endpoint("http://localhost:1/v1", "some/model")


@pytest.mark.parametrize(
    ("present", "missing"),
    [
        ("FLOWREADER_EMBED_BASE_URL", "FLOWREADER_EMBED_MODEL"),
        ("FLOWREADER_EMBED_MODEL", "FLOWREADER_EMBED_BASE_URL"),
    ],
)
def test_half_an_endpoint_is_refused_by_the_missing_variable(monkeypatch, present, missing):
    monkeypatch.setenv(present, "x")
    monkeypatch.delenv(missing, raising=False)
    with pytest.raises(EndpointError, match=f"set {missing}"):
        embedding_endpoint()
