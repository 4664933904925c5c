"""A removal on one machine, as the commands do it, and what another one has of it afterwards."""

from dataclasses import replace

import pytest

from storage import lease
from storage.answers import read_answers
from storage.artifacts import ArtifactStore
from storage.call_cache import CallCache
from storage.garbage import collect
from storage.in_use import KEEP_SECONDS
from storage.locations import artifacts_folder, calls_folder, shared_store, steps_folder
from storage.memo import StepMemo
from storage.object_store import ObjectStore
from storage.shared_removals import read_removals
from storage.snapshot import UnknownCorpusError
from tasks import removing
from tasks.removing import remove_corpus, remove_document
from tests.storage.removal_worlds import has_words, keep_words
from tests.storage.shared_worlds import GOOD_SECONDS, exports, machine, writing
from tests.storage.worlds import graph, publish

REPORT, PAPER = graph("report"), graph("paper")


@pytest.fixture
def two(shared, tmp_path, monkeypatch):
    """Two machines with a report and a paper; this process is the first, and the second was asked about both."""
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD_SECONDS)
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path / "one"))
    places = [machine(tmp_path / name, shared) for name in ("one", "two")]
    with writing(places[0]) as corpus:
        publish(corpus, REPORT, PAPER)
    exports(places[1])
    for name in ("report", "paper"):
        keep_words(places[1], name, run=name)
    return places


def memo_of(place):
    """The notes of a machine, which others find in the store."""
    return StepMemo(steps_folder(place.home), ArtifactStore(artifacts_folder(place.home), ObjectStore(shared_store())))


def finish(memo, document, said):
    """Leave what a step made of a document: its words, and a note that names them."""
    memo.remember(document, "parse", document, {"text": memo.artifacts.put(said.encode())})


def parsed():
    """Return what the store holds of steps and what they made."""
    return [name for name in ObjectStore(shared_store()).names("") if name.startswith(("artifacts/", "steps/"))]


@pytest.mark.parametrize("now", [True, False])
def test_an_acknowledged_removal_reaches_the_other_machine(two, now):
    receipt = remove_document(two[0], "paper.pdf", now=now)
    assert list(exports(two[1])) == [REPORT.document_id] and receipt.document_id == PAPER.document_id
    assert has_words(two[1], "paper") == [] and len(read_answers(two[1], present=())) == 2
    assert has_words(two[1], "report")
    told = read_removals(ObjectStore(two[0].store))
    assert [entry.removal.document_id for entry in told.listed] == [PAPER.document_id]
    assert told.purged == (told.last if now else 0)


def test_no_removal_is_published_before_the_others_can_know_of_it(two, monkeypatch):
    def killed(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
        dying.setattr(removing, "announce_removal", killed)
        remove_document(two[0], "paper.pdf", now=False)
    assert set(exports(two[1])) == {REPORT.document_id, PAPER.document_id} and has_words(two[1], "paper")
    remove_document(two[0], "paper.pdf", now=False)
    exports(two[1])
    assert has_words(two[1], "paper") == []


def test_a_removed_corpus_goes_from_the_other_machine(two):
    assert remove_corpus(two[0]).documents == 2
    with pytest.raises(UnknownCorpusError):
        exports(two[1])
    assert has_words(two[1], "paper") == has_words(two[1], "report") == []
    assert read_answers(two[1], present=()) == []


def test_a_removal_of_a_shared_corpus_that_was_killed_is_finished_by_the_same_command(two, monkeypatch):
    finish(memo_of(two[0]), PAPER.document_id, "words of paper")

    def killed(*_arguments, **_more):
        raise KeyboardInterrupt

    with monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
        dying.setattr(removing, "collect_garbage", killed)
        remove_corpus(two[0])
    assert parsed()
    remove_corpus(two[0])
    assert parsed() == [] and not two[0].folder.exists()


def test_what_a_removed_corpus_left_while_another_was_written_is_told_and_goes_later_from_any_machine(two):
    finish(memo_of(two[0]), PAPER.document_id, "words of paper")
    other = replace(two[1], name="other", folder=two[1].folder.with_name("other"), store=shared_store().below("corpora/other"))
    with writing(other) as corpus:
        publish(corpus, REPORT)
        removed = remove_corpus(two[0])
        assert (removed.postponed, removed.files) == ("corpus 'other' is being written on another machine", 0)
    assert parsed()
    memo, calls = memo_of(other), CallCache(calls_folder(other.home))
    collect(other.home / "corpora", memo, calls, keep_seconds=KEEP_SECONDS, own=other)
    assert parsed() == [] and has_words(two[1], "paper") == []
    assert read_removals(ObjectStore(two[0].store)).left == (REPORT.document_id,), "the other corpus has it"
