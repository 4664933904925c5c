import pytest

from tasks.models.endpoints import Endpoint, EndpointError, chat_endpoint, embedding_endpoint

READERS = {"FLOWREADER_CHAT": chat_endpoint, "FLOWREADER_EMBED": embedding_endpoint}


@pytest.fixture(params=READERS)
def variables(request):
    """What the names of the variables begin with."""
    return request.param


@pytest.fixture
def configured(monkeypatch, variables):
    """Sets these variables and no others of the kind, and reads them."""

    def configure(**values):
        for name in ("BASE_URL", "MODEL", "API_KEY"):
            monkeypatch.delenv(f"{variables}_{name}", raising=False)
            if name in values:
                monkeypatch.setenv(f"{variables}_{name}", values[name])
        return READERS[variables]()

    return configure


def test_without_variables_there_is_no_server(configured):
    assert configured() is None
    assert configured(BASE_URL="", MODEL="", API_KEY="") is None


def test_an_address_is_enough(configured):
    assert configured(BASE_URL=" http://localhost:8000/v1/ ") == Endpoint("http://localhost:8000/v1", "", "")
    found = configured(BASE_URL="https://[::1]/v1", MODEL="qwen", API_KEY="sk-secret")
    assert found == Endpoint("https://[::1]/v1", "qwen", "sk-secret") and "sk-secret" not in repr(found)


@pytest.mark.parametrize("half", [{"MODEL": "qwen"}, {"API_KEY": "sk-secret"}])
def test_half_a_server_is_refused_by_the_missing_variable(configured, variables, half):
    with pytest.raises(EndpointError, match=f"set {variables}_BASE_URL as well") as refused:
        configured(**half)
    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    ["localhost:8000", "ftp://host/v1", "http://", "http://host/v1?key=1", "http://hö.st/v1", "v1", "http://host:99999/v1",
     "http://host:x/v1", "http://[::1/v1", "http://ho st/v1"],
)  # fmt: skip
def test_what_is_no_address_is_refused(configured, variables, address):
    with pytest.raises(EndpointError, match=f"{variables}_BASE_URL=.* is not the address of a server; set it to something like"):
        configured(BASE_URL=address)


@pytest.mark.parametrize(
    "values",
    [
        {"BASE_URL": "http://name:sk-secret@host/v1"},
        {"BASE_URL": "http://host/v1", "API_KEY": "sk-secret\nX-Other: 1"},
        {"BASE_URL": "http://host/v1", "API_KEY": "sk-secret\u2026"},
    ],
)
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(configured, variables, values):
    with pytest.raises(EndpointError, match=f"{variables}_API_KEY") as refused:
        configured(**values)
    assert "sk-secret" not in str(refused.value)
