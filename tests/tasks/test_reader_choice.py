"""Rules read unless the settings name the model, and then its server must be named."""

import subprocess
import sys

import pytest

from storage.kept_replies import CallCache, questions_owner
from storage.locations import calls_folder
from tasks.ask_settings import AskSettings
from tasks.extractive_reader import ExtractiveReader
from tasks.models.chat_errors import ChatServerDownError
from tasks.models.endpoints import ChatEndpoint, EndpointError
from tasks.reader_choice import chat_server_of, open_reader
from tests.asking_worlds import Passage, at_desk, published, written
from tests.scripted_answers import Reader, booked, model_settings, read_by


@pytest.fixture
def desk(tmp_path, home):
    with at_desk(published(tmp_path, written("report", Passage("the tide")))) as desk:
        yield desk


def test_rules_need_no_server_and_the_model_one_that_is_named(monkeypatch):
    monkeypatch.delenv("FLOWREADER_CHAT_BASE_URL", raising=False)
    assert chat_server_of(AskSettings()) is None
    with pytest.raises(EndpointError, match=r"reading\.by = \"model\".* FLOWREADER_CHAT_BASE_URL is not set; set it to"):
        chat_server_of(model_settings())
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", "http://localhost:8000/v1")
    assert chat_server_of(model_settings()) == ChatEndpoint("http://localhost:8000/v1") and chat_server_of(AskSettings()) is None


def test_rules_read_where_no_server_is_given(desk):
    with open_reader(None, AskSettings(), desk.snapshot) as reader:
        assert reader == ExtractiveReader(AskSettings().reading)


def test_the_model_knows_the_documents_by_name_and_title_and_its_replies_belong_to_the_corpus(desk):
    with read_by(desk, Reader({})) as (place, server):
        assert list(place.reader.desk.titles.values()) == ["report.pdf, report"]
        with booked(place):
            place.reader.keywords("the tide")
    assert CallCache(calls_folder()).subjects() == [questions_owner(desk.snapshot.location.name)]
    assert server.calls == 1


def test_a_server_that_is_not_there_is_said_at_once(desk):
    with (
        pytest.raises(ChatServerDownError, match="no chat server"),
        open_reader(ChatEndpoint("http://127.0.0.1:9/v1"), model_settings(), desk.snapshot),
    ):
        pass


def test_who_asks_by_rules_loads_nothing_that_speaks_to_servers():
    code = "import sys, flows.ask; print([name for name in sys.modules if name in ('httpx', 'openai', 'tasks.models.chat')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
