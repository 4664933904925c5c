"""A step is called as it is, remembers what is dear, and always leaves its lineage."""

import errno

import pytest

from storage.artifacts import ArtifactStore
from storage.locations import corpus_location
from storage.memo import StepMemo
from storage.records.documents import identify
from storage.runs.log import RunLog
from storage.runs.views import read_run
from tasks.progress import forget_stop, request_stop
from tasks.step import Codec, StepKey, Workplace, step, workplace

DOCUMENT = identify("a document")
TEXT = Codec(encode=lambda text: [text.encode()], decode=lambda parts: bytes(parts[0]).decode())


@pytest.fixture
def place(home):
    artifacts = ArtifactStore(home / "artifacts")
    log = RunLog(corpus_location("small").runs / "run.jsonl")
    made = Workplace(artifacts=artifacts, memo=StepMemo(home / "steps", artifacts), log=log, run_id="run")
    token = workplace.set(made)
    yield made
    workplace.reset(token)


def test_what_breaks_after_the_user_asked_for_the_end_was_stopped(place):
    request_stop()
    try:
        with pytest.raises(ValueError, match="too bad"):
            shouting([])("bad")
    finally:
        forget_stop()
    assert [record.error for record in read_run(place.log.path).steps()] == ["StoppedError: too bad"]


def shouting(calls, version="1", codec=TEXT):
    @step("shout", version=version, retries=1, cache_key=lambda text: StepKey(DOCUMENT, text, text), codec=codec)
    def shout(text):
        """Raise the voice."""
        calls.append(text)
        if text == "bad":
            raise ValueError("too bad")
        return text.upper()

    return shout


def test_a_result_is_made_once_and_remembered_after(place):
    calls = []
    assert [shouting(calls)("hello"), shouting(calls)("hello"), shouting(calls)("world")] == ["HELLO", "HELLO", "WORLD"]
    assert calls == ["hello", "world"]
    assert [record.cache_hit for record in read_run(place.log.path).steps()] == [False, True, False]


def test_a_new_version_of_the_step_does_it_again(place):
    calls = []
    shouting(calls)("hello")
    shouting(calls, version="2")("hello")
    assert calls == ["hello", "hello"]


def test_a_damaged_artifact_is_made_again(place):
    calls = []
    shouting(calls)("hello")
    for path in place.artifacts.folder.glob("*/*"):
        path.write_bytes(b"torn")
    assert shouting(calls)("hello") == "HELLO" and calls == ["hello", "hello"]
    assert all(place.artifacts.intact(path.name) for path in place.artifacts.folder.glob("*/*"))


def test_without_a_codec_nothing_is_remembered_and_lineage_is_left_all_the_same(place):
    calls = []
    cheap = shouting(calls, codec=None)
    assert cheap("hello") == cheap("hello") == "HELLO" and len(calls) == 2
    assert len(read_run(place.log.path).steps()) == 2


def test_recall_finds_what_was_made_and_nothing_else(place):
    shout = shouting([])
    key = StepKey(DOCUMENT, "hello", "hello")
    assert shout.recall(key) is None
    shout("hello")
    assert shout.recall(key) == "HELLO"
    made, recalled = read_run(place.log.path).steps()
    assert (made.cache_hit, recalled.cache_hit) == (False, True)
    assert made.outputs == recalled.outputs and recalled.subject == DOCUMENT


def test_the_lineage_records_a_result_that_is_not_kept(place):
    @step("count", version="1", retries=0, cache_key=lambda n: StepKey(DOCUMENT, str(n), "n"), summary=lambda n: {"0": str(n)})
    def count(number):
        """Count on."""
        return number + 1

    count(1)
    (record,) = read_run(place.log.path).steps()
    assert record.outputs == {"0": "2"}


def test_an_error_is_raised_and_stands_in_the_lineage(place):
    with pytest.raises(ValueError, match="too bad"):
        shouting([])("bad")
    (record,) = read_run(place.log.path).steps()
    assert record.error == "ValueError: too bad" and record.seconds >= 0 and not record.outputs


def test_outside_a_prefect_run_too_what_passes_is_tried_again_and_each_attempt_recorded(place, monkeypatch):
    monkeypatch.setattr("tasks.step.RETRY_SECONDS", 0.0)
    errors = [ConnectionResetError("away"), ConnectionResetError("away"), OSError(errno.ENOSPC, "full")]

    @step("shaky", version="1", retries=1, cache_key=lambda: StepKey(DOCUMENT, "", "shaky"))
    def shaky():
        """Break as often as there are errors."""
        if errors:
            raise errors.pop(0)

    with pytest.raises(ConnectionResetError):
        shaky()
    with pytest.raises(OSError, match="full"):
        shaky()
    shaky()
    records = read_run(place.log.path).steps()
    assert [(record.attempts, record.error[:5]) for record in records] == [(1, "Conne"), (2, "Conne"), (1, "OSErr"), (1, "")]
