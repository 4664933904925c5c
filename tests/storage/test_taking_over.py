"""What one machine removed goes from the others: once, at their next contact, whatever is killed between."""

import shutil
from dataclasses import replace

import pytest

from storage import carrying_out, lease, shared_fetch, taking_over
from storage.answers import read_answers
from storage.asked_questions import AskedQuestions
from storage.call_cache import CallCache, questions_owner
from storage.current import read_current, snapshot_numbers, snapshot_path
from storage.in_use import KEEP_SECONDS
from storage.locations import calls_folder, shared_store
from storage.object_store import ObjectStore
from storage.records import identify
from storage.removals import Removal, keep_noted, noted_purges, removal_of, removals_elsewhere
from storage.shared_publish import take_up
from storage.shared_removals import announce, announce_whole, read_removals
from storage.snapshot import UnknownCorpusError, open_for_reading
from storage.taking_over import announce_removal, end_purge
from tests.object_server import copy_all, fresh_prefix
from tests.storage.removal_worlds import has_words, keep_answer, keep_words, remove
from tests.storage.shared_worlds import GOOD_SECONDS, asleep, copied, exports, machine, writing
from tests.storage.worlds import graph, publish, record

REPORT, PAPER, OTHER = graph("report"), graph("paper"), graph("other")
EVERYWHERE = 8
"""Places that hold words of a document, or of the catalog of it, on a machine that was used."""


@pytest.fixture(scope="module")
def used(original, tmp_path_factory):
    """Two machines with a report and a paper; the second was asked about both, and evaluated, and read them in itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLOWREADER_STORE", fresh_prefix())
        homes = tmp_path_factory.mktemp("used")
        places = [copied(original, homes / "one", shared_store()), machine(homes / "two", shared_store())]
        with writing(places[0]) as corpus:
            publish(corpus, PAPER)
        exports(places[1])
        for name in ("report", "paper"):
            keep_words(places[1], name, run=name)
        assert len(has_words(places[1], "paper")) >= EVERYWHERE
        yield places


@pytest.fixture
def two(used, shared, tmp_path, monkeypatch):
    """Those machines, to be changed."""
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD_SECONDS)
    places = [machine(tmp_path / name, shared) for name in ("one", "two")]
    copy_all(used[0].store.key, places[0].store.key)
    for before, place in zip(used, places, strict=True):
        shutil.copytree(before.home, place.home)
        place.store_note.write_text(place.store.uri)
    return places


def quotes(place):
    """The words that a machine's answers show."""
    current = read_current(place)
    kept = read_answers(place, present=taking_over._documents_of(place, current) if current else ())
    return {cited.quote for answer in kept for cited in answer.citations} - {""}


def note_again(place):
    """Have a removal of the paper due here, as one is that was hindered a minute ago."""
    keep_noted(place.removed_elsewhere, [replace(removal_of(record(PAPER), snapshot=3), moment=1.0)])


def ahead(monkeypatch, seconds):
    """Let the clock be so far ahead."""
    real = taking_over.time.time
    monkeypatch.setattr(taking_over.time, "time", lambda: real() + seconds)


def test_a_removal_takes_every_word_from_a_machine_that_did_not_remove_and_nothing_else(two):
    remove(two[0], PAPER)
    assert list(exports(two[1])) == [REPORT.document_id]
    assert has_words(two[1], "paper") == [] and not two[1].set_aside
    assert len(read_answers(two[1], present=())) == 2 and quotes(two[1]) == {"words of report"}
    left = has_words(two[1], "report")
    assert {path.split("/")[0] for path in left} == {"artifacts", "calls", "corpora", "mirrors", "reports", "words"}


def test_until_its_next_contact_a_machine_keeps_what_it_has(two):
    remove(two[0], PAPER)
    assert "words of paper" in quotes(two[1])


def test_a_machine_that_never_reads_and_begins_to_write_carries_removals_out_as_well(two):
    remove(two[0], PAPER)
    with writing(two[1]) as corpus:
        assert [document.id for document in corpus.documents()] == [REPORT.document_id]
    assert has_words(two[1], "paper") == []


STEPS = (
    (taking_over, "keep_noted"),
    (taking_over, "carry_out"),
    (carrying_out, "drop_copies"),
    (carrying_out, "forget_questions"),
    (carrying_out, "forget_told"),
    (carrying_out, "forget_unshown_copies"),
    (carrying_out, "forget_files"),
    (taking_over, "_note_carried_out"),
    (shared_fetch, "write_durably"),
)


def test_a_kill_at_any_step_loses_no_removal(two, monkeypatch, tmp_path):
    def killed(*_arguments, **_more):
        raise KeyboardInterrupt

    remove(two[0], PAPER)
    shutil.copytree(two[1].home, tmp_path / "before")
    for module, name in STEPS:
        with monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
            dying.setattr(module, name, killed)
            exports(two[1])
        assert list(exports(two[1])) == [REPORT.document_id], name
        assert has_words(two[1], "paper") == [] and quotes(two[1]) == {"words of report"}, name
        shutil.rmtree(two[1].home)
        shutil.copytree(tmp_path / "before", two[1].home)


def test_a_removal_that_was_killed_before_it_was_published_takes_nothing_until_one_is(two):
    remove(two[0], PAPER, publish=False)
    with writing(two[1]) as corpus:
        publish(corpus, OTHER)
    assert quotes(two[1]) == {"words of report", "words of paper"}
    remove(two[0], PAPER)
    exports(two[1])
    assert has_words(two[1], "paper") == []


def test_a_removal_whose_snapshot_is_still_the_published_one_is_carried_out_with_the_next(two):
    """It is listed and on its way: who comes for the first time then must not take it for done."""
    with writing(two[0]) as corpus:
        publish(corpus, OTHER)
    remove(two[0], PAPER, publish=False)
    exports(two[1])
    assert "words of paper" in quotes(two[1])
    with writing(two[0]) as corpus:
        corpus.publish(removed=[PAPER.document_id])
    exports(two[1])
    assert has_words(two[1], "paper") == []


def test_a_document_that_was_read_in_again_is_not_purged_for_its_older_removal(two):
    remove(two[0], PAPER)
    with writing(two[0]) as corpus:
        publish(corpus, PAPER)
    exports(two[1])
    assert "words of paper" in quotes(two[1]) and not removals_elsewhere(two[1])
    with writing(two[0]) as corpus:
        corpus.publish(graphs=[OTHER], records=[record(OTHER)], removed=[PAPER.document_id])
    exports(two[1])
    assert "words of paper" in quotes(two[1]), "it was replaced, not removed, since this machine took over the removal"


def test_a_document_that_is_back_while_its_removal_is_still_looked_after_is_let_alone(two):
    remove(two[0], PAPER)
    exports(two[1])
    with writing(two[0]) as corpus:
        publish(corpus, PAPER)
    keep_words(two[1], "paper", run="later")
    remove(two[0], REPORT)
    exports(two[1])
    assert quotes(two[1]) == {"words of paper"}
    assert [removal.document_id for removal in removals_elsewhere(two[1])] == [REPORT.document_id]


def test_words_of_a_question_that_began_before_are_shown_by_nobody_and_go_when_its_time_is_over(two, monkeypatch):
    with open_for_reading(two[1]):
        remove(two[0], PAPER)
        exports(two[1])
        keep_answer(two[1], "paper", run="late")
        assert quotes(two[1]) == {"words of report"} and has_words(two[1], "paper")
    ahead(monkeypatch, KEEP_SECONDS + 1)
    exports(two[1])
    assert has_words(two[1], "paper") == [] and not two[1].removed_elsewhere.exists()


def test_a_writer_that_waits_here_keeps_files_until_the_next_contact_but_no_answer(two, monkeypatch):
    remove(two[0], PAPER)
    with carrying_out.quiet(two[1]) as free:
        assert free
        exports(two[1])
        assert quotes(two[1]) == {"words of report"} and has_words(two[1], "paper")
    exports(two[1])
    assert has_words(two[1], "paper"), "not with each question"
    ahead(monkeypatch, 61)
    exports(two[1])
    assert has_words(two[1], "paper") == []


def test_what_is_hindered_takes_the_questions_of_an_evaluation_at_first_and_at_its_end_but_not_in_between(two, monkeypatch):
    questions, replies = AskedQuestions(two[1].evaluations), CallCache(calls_folder(two[1].home))
    with open_for_reading(two[1]):
        remove(two[0], PAPER)
        exports(two[1])
        assert questions.recall(identify("flow")) == {}
        keep_words(two[1], "report", run="later")
        ahead(monkeypatch, 61)
        exports(two[1])
        assert questions.recall(identify("flow")) and replies.path(questions_owner("default")).exists()
    ahead(monkeypatch, 61)
    exports(two[1])
    assert questions.recall(identify("flow")) == {} and not replies.path(questions_owner("default")).exists()


def test_who_writes_here_loses_no_arcs_and_nothing_that_it_is_about_to_publish(two, monkeypatch):
    with open_for_reading(two[1]):
        remove(two[0], PAPER)
        exports(two[1])
    with writing(two[1]) as corpus:
        corpus.index()
        arcs = two[1].lance / "adjacency"
        kept = [arcs / ".partial-1", *arcs.iterdir(), snapshot_path(two[1], 99)]
        kept[0].mkdir()
        kept[-1].touch()
        for _ in range(2):
            note_again(two[1])
            exports(two[1])
            assert len(kept) == 3 and all(path.exists() for path in kept)
    note_again(two[1])
    exports(two[1])
    assert kept[1].exists() and not kept[-1].exists(), "the arcs are of the published snapshot"


def test_arcs_that_were_derived_before_another_machine_wrote_go_and_those_being_written_stay(two):
    with writing(two[1]) as corpus:
        corpus.index()
    (derived,) = (two[1].lance / "adjacency").iterdir()
    (derived.parent / ".partial-1").mkdir()
    remove(two[0], PAPER)
    exports(two[1])
    assert [path.name for path in derived.parent.iterdir()] == [".partial-1"]


def test_after_many_removals_who_missed_some_keeps_only_what_is_published(two, monkeypatch):
    monkeypatch.setattr("storage.shared_removals.KEPT", 1)
    remove(two[0], PAPER)
    remove(two[0], REPORT)
    assert len(read_removals(ObjectStore(two[0].store)).listed) == 1
    exports(two[1])
    assert has_words(two[1], "paper") == has_words(two[1], "report") == []


def test_a_list_that_began_anew_is_carried_out_from_its_beginning(two):
    two[1].removals_note.write_text("7")
    remove(two[0], PAPER)
    exports(two[1])
    assert has_words(two[1], "paper") == []


def test_an_opening_reads_the_list_only_when_current_moved(two, monkeypatch):
    remove(two[0], PAPER)
    exports(two[1])
    monkeypatch.setattr(taking_over, "read_removals", lambda _store: pytest.fail("it was read"))
    assert list(exports(two[1])) == [REPORT.document_id]


def test_a_removed_corpus_takes_its_answers_reports_and_copies_from_every_machine(two):
    store = ObjectStore(two[0].store)
    store.delete(["CURRENT"])
    announce_whole(store, [])
    for _ in range(2):
        with pytest.raises(UnknownCorpusError, match=r"FLOWREADER_STORE 's3://.*' holds none"):
            exports(two[1])
    assert has_words(two[1], "paper") == has_words(two[1], "report") == []
    assert read_answers(two[1], present=()) == [] and not list(two[1].runs.iterdir())


def test_a_corpus_that_was_made_again_meanwhile_begins_without_the_old_answers(two):
    store = ObjectStore(two[0].store)
    store.delete(["CURRENT"])
    announce_whole(store, [])
    with writing(two[0]) as corpus:
        publish(corpus, PAPER)
    assert list(exports(two[1])) == [PAPER.document_id]
    assert read_answers(two[1], present=()) == [] and has_words(two[1], "report") == []
    keep_answer(two[1], "paper", run="new")
    exports(two[1])
    assert quotes(two[1]) == {"words of paper"}


def test_a_corpus_that_was_made_again_and_came_as_far_takes_all_of_the_old_one_too(two):
    store = ObjectStore(two[0].store)
    store.delete(["CURRENT"])
    announce_whole(store, [])
    with writing(two[0]) as corpus:
        for name in ("paper", "other"):
            publish(corpus, graph(name))
    assert corpus.snapshot == read_current(two[1]).snapshot
    exports(two[1])
    assert has_words(two[1], "report") == [] and snapshot_numbers(two[1]) == [corpus.snapshot]


def test_a_removal_of_all_that_was_killed_before_it_was_told_is_told_by_the_next_writer(two):
    remove(two[0], PAPER)
    store = ObjectStore(two[0].store)
    store.delete(["CURRENT"])
    with writing(two[0]) as corpus:
        assert read_removals(store).whole == 2
        publish(corpus, OTHER)
        publish(corpus, PAPER)
    exports(two[1])
    assert has_words(two[1], "report") == [] and read_answers(two[1], present=()) == []
    remove(two[0], OTHER)
    exports(two[1])
    assert OTHER.document_id in {removal.document_id for removal in removals_elsewhere(two[1])}


@pytest.mark.parametrize("due", [False, True])
def test_who_comes_before_a_removal_of_all_is_told_takes_over_no_less_afterwards(two, due):
    keep_noted(two[1].removed_elsewhere, [Removal(OTHER.document_id, 1.0)] if due else [])
    for run in two[1].runs.iterdir():
        run.unlink()
    store = ObjectStore(two[0].store)
    store.delete(["CURRENT"])
    with pytest.raises(UnknownCorpusError):
        exports(two[1])
    assert has_words(two[1], "report")
    announce_whole(store, [])
    with pytest.raises(UnknownCorpusError):
        exports(two[1])
    assert has_words(two[1], "paper") == has_words(two[1], "report") == [] and snapshot_numbers(two[1]) == []


def test_who_reads_where_a_removed_corpus_is_being_made_again_takes_nothing_from_its_writer(two):
    store = ObjectStore(two[0].store)
    store.delete(["CURRENT"])
    announce_whole(store, [])
    take_up(two[1], two[1].store, 99)
    made = snapshot_path(two[1], 1)
    made.touch()
    with pytest.raises(UnknownCorpusError):
        exports(two[1])
    assert made.exists()


def test_a_store_that_lost_its_current_takes_no_answer(two):
    ObjectStore(two[0].store).delete(["CURRENT"])
    with pytest.raises(UnknownCorpusError):
        exports(two[1])
    assert quotes(two[1]) == {"words of report", "words of paper"}


def test_what_a_machine_that_never_returns_did_not_purge_is_left_to_the_next_writer(two):
    remove(two[0], PAPER)
    with writing(two[1]):
        assert [removal.document_id for removal in noted_purges(two[1])] == [PAPER.document_id]
        end_purge(two[1])
    for place in two:
        with writing(place):
            assert noted_purges(place) == ()


def test_a_purge_says_nothing_of_what_others_announced_since_its_writer_began(two):
    remove(two[0], PAPER)
    store = ObjectStore(two[0].store)
    with writing(two[1]):
        announce(store, removal_of(record(REPORT), snapshot=4))
        end_purge(two[1])
    assert read_removals(store).purged == 1
    with asleep(two[1]):
        with writing(two[0]):
            pass
        end_purge(two[1])
    assert read_removals(store).purged == 1


def test_a_store_that_cannot_be_told_of_a_purge_fails_no_writer_and_is_told_by_the_next(two, monkeypatch, caplog):
    remove(two[0], PAPER)
    for told, purged in ((False, 0), (True, 1)):
        with writing(two[1]), monkeypatch.context() as refusing:
            assert two[1].purge_due.exists()
            if not told:
                refusing.setattr(ObjectStore, "put", lambda *_arguments, **_more: None)
            end_purge(two[1])
        assert read_removals(ObjectStore(two[0].store)).purged == purged
    assert "the store was not told of a clean-up of corpus 'default'" in caplog.text


def test_who_removes_itself_has_nothing_to_take_over_from_itself(two):
    remove(two[0], PAPER)
    keep_words(two[0], "paper")
    remove(two[1], REPORT)
    exports(two[0])
    assert quotes(two[0]) == {"words of paper"}, "its own removals are its own clean-up's"
    assert [removal.document_id for removal in removals_elsewhere(two[0])] == [REPORT.document_id]


def test_an_announcement_takes_nothing_for_carried_out_that_another_machine_announced_before(two):
    store, removal = ObjectStore(two[0].store), removal_of(record(PAPER), snapshot=3)
    announce_removal(two[1], store, removal)
    announce_removal(two[0], store, removal)
    assert (two[1].removals_note.read_text(), two[0].removals_note.exists()) == ("1", False)
