"""A folder to be read in by a model, and the model behind a real socket."""

import pytest

from tests.chat_server import chat_server
from tests.program import CORPUS
from tests.scripted_reader import reads_well


@pytest.fixture
def folder(tmp_path, home, monkeypatch):
    """A folder of documents, with a settings file beside it; the environment names a model at no address yet."""
    # Not above: this file may be loaded before Prefect knows its address, which it keeps as it first finds it.
    from tests.flows.ingest_by_model.worlds import MANUAL, METHOD, SETTINGS, by_method

    monkeypatch.setenv("FLOWREADER_CHAT_MODEL", "scripted")
    by_method(monkeypatch, METHOD)
    made = tmp_path / "in"
    made.mkdir()
    (made / MANUAL).write_bytes((CORPUS / MANUAL).read_bytes())
    (tmp_path / "model.toml").write_text(SETTINGS)
    return made


@pytest.fixture
def server(monkeypatch):
    with chat_server(reads_well) as serving:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", serving.base_url)
        yield serving
