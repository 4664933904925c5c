"""Deleting what another machine removed, place by place; when it is done is in test_taking_over.py."""

import fcntl

from storage.at_work import at_work
from storage.carrying_out import carry_out, drop_catalog, forget_runs
from storage.current import Current, written
from storage.locations import mirrors_folder
from storage.mirrored_copies import LOCK
from storage.removals import removal_of
from tests.storage.answer_worlds import asking_log
from tests.storage.removal_worlds import has_words, keep_answer, keep_words
from tests.storage.worlds import corpus_in, graph, record

REMOVED = removal_of(record(graph("paper")), snapshot=3)
NOW = Current(1, 4, "0" * 64)


def test_words_go_from_every_place_and_another_documents_stay(tmp_path):
    place = corpus_in(tmp_path)
    for name in ("paper", "report"):
        keep_words(place, name, run=name)
    assert carry_out(place, [REMOVED], NOW, {graph("report").document_id}, writing=False, anew=True)
    assert has_words(place, "paper") == [] and len(has_words(place, "report")) >= 5


def test_copies_that_somebody_reads_stay_in_the_way(tmp_path):
    place = corpus_in(tmp_path)
    keep_words(place, "paper")
    with (mirrors_folder(tmp_path) / LOCK).open("w") as reader:
        fcntl.flock(reader, fcntl.LOCK_SH)
        assert not carry_out(place, [REMOVED], NOW, set(), writing=True, anew=True)
        assert [path.split("/")[0] for path in has_words(place, "paper")] == ["mirrors"]
    assert carry_out(place, [REMOVED], NOW, set(), writing=True, anew=False) and has_words(place, "paper") == []


def test_a_catalog_goes_unless_it_is_of_the_published_snapshot(tmp_path):
    place = corpus_in(tmp_path)
    for note, stays in ((written(NOW), True), (b"{}", False)):
        place.folder.mkdir(parents=True, exist_ok=True)
        place.catalog.touch()
        place.catalog_note.write_bytes(note)
        carry_out(place, [REMOVED], NOW, set(), writing=True, anew=True)
        assert place.catalog.exists() is place.catalog_note.exists() is stays
    drop_catalog(place)


def test_runs_of_a_removed_corpus_go_but_for_those_at_work(tmp_path):
    place = corpus_in(tmp_path)
    for run in ("done", "killed", "working"):
        keep_answer(place, "paper", run)
    with at_work(asking_log(place, "killed").path):
        pass
    with at_work(asking_log(place, "working").path):
        forget_runs(place)
        assert sorted(path.name for path in place.runs.iterdir()) == ["ask-working.at-work", "ask-working.jsonl"]
