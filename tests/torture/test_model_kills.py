"""An ingest by a model, killed or stopped in the middle: what was answered is not asked again, and the graph comes out the same."""

import random
import time

import pytest

from tests.chat_server import chat_server
from tests.scripted_reader import reads_well
from tests.torture.lab import check_oracle, copies, export, ingest

IN_FLIGHT = 3
SETTINGS = f"""
[reading.analysis]
by = "model"
[reading.evolution]
mode = "model"
[models.limits]
in_flight = {IN_FLIGHT}
"""
NAMES = ("maintenance_manual.docx", "product_page.html", "strategy.pptx")
KILLS, SECONDS = 3, 0.3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_MODEL", "scripted")
    (tmp_path / "model.toml").write_text(SETTINGS)
    return tmp_path


@pytest.fixture
def reference(folder, server, monkeypatch):
    """The calls and the export of an uninterrupted ingest."""
    with chat_server(reads_well) as model:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", model.base_url)
        run = ingest(copies(folder / "in", NAMES), home=folder / "whole", settings=folder / "model.toml", server=server)
        run.ended(0)
        return model.calls, export(folder / "whole")


def wait_for(model, replies, run):
    while model.replied < replies:
        assert run.process.poll() is None, f"it ended before {replies} replies: {run.words[-2000:]}"
        time.sleep(0.02)


def test_after_kills_at_most_the_calls_in_flight_are_made_again(folder, reference, server, monkeypatch, tell):
    calls, expected = reference
    moments = sorted(random.Random(5).sample(range(2, calls - 4), KILLS))
    with chat_server(reads_well, seconds=SECONDS) as model:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", model.base_url)
        begin = {"home": folder / "killed", "settings": folder / "model.toml", "server": server}
        for moment in moments:
            run = ingest(folder / "in", **begin)
            wait_for(model, moment, run)
            run.kill()
            assert run.survivors() == []
        ingest(folder / "in", **begin).ended(0)
        made = model.calls
    tell(f"{calls} calls without a kill, {made} with {KILLS}; {IN_FLIGHT} in flight")
    assert made <= calls + KILLS * IN_FLIGHT
    check_oracle(folder / "killed", expected)
