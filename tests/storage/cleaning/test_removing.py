"""Removing unpublishes at once, and leaves nothing when it is asked to."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest

from storage.catalog.removals import note_removals, read_removals
from storage.cleaning.garbage import collect
from storage.cleaning.removing import clean_up, forget_removed, purge_is_due, remove_corpus, remove_document
from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.errors import UnknownError
from storage.locations import calls_folder
from storage.records.answers import NamedDocument
from storage.records.documents import identify
from storage.records.evaluations import Asked
from storage.runs.answer_json import answer_json
from storage.runs.answers import read_answers
from storage.runs.asked_questions import AskedQuestions
from storage.runs.replies import CachedReply, CallCache, questions_owner
from storage.system import DiskFullError
from tasks.finding.mirror import discover_objects
from tasks.views.documents import view_receipt
from tests.storage import worlds
from tests.storage.answer_worlds import answer, asking_log, keep
from tests.storage.cleaning.removal_worlds import has_words, keep_words

REPORT, PAPER = worlds.graph("report"), worlds.graph("paper")
SUMMED_UP = replace(
    REPORT,
    pages=tuple(replace(page, summary="a page under the heading of report") for page in REPORT.pages),
    sections=tuple(replace(section, summary="the heading of report") for section in REPORT.sections),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = worlds.corpus_in(tmp_path_factory.mktemp("made"))
    with worlds.writing(place) as corpus:
        worlds.publish(corpus, SUMMED_UP, PAPER, cross_edges=worlds.link(REPORT, PAPER))
        corpus.index()
    return place


@pytest.fixture
def location(made, home):
    shutil.copytree(made.home, home)
    return worlds.corpus_in(home)


def killed(*_arguments, **_more):
    raise KeyboardInterrupt


def everything_in(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_now_leaves_no_word_of_the_document(location):
    keep(location, answer("report", "paper"), run="r1")
    keep(location, answer("report"), run="r2")
    assert b"of paper" in everything_in(location.folder) and b"path of paper" in everything_in(location.runs)
    receipt = remove_document(location, "paper.pdf", now=True)
    assert receipt.gone["answer_texts"] == 1 and len(read_answers(location, present=())) == 2
    assert (receipt.name, receipt.gone["nodes"]) == ("paper.pdf", 6) and "nothing" in receipt.later
    assert b"of paper" not in everything_in(location.folder) and not location.purge_due.exists()
    with open_for_reading(location) as snapshot:
        assert [record.id for record in snapshot.documents()] == [REPORT.document_id]
        assert all(edge.target_document == REPORT.document_id for edge in snapshot.edges(REPORT.document_id))


def test_the_receipt_says_what_went_in_words(location):
    keep(location, answer("report", "paper"), run="r1")
    keep(location, answer("report"), run="r2")
    said = view_receipt(remove_document(location, "report.pdf", now=False)).words
    assert said == "gone: its pages, the quotes in 2 answers; its file stays where it is"
    assert view_receipt(remove_document(location, "paper.pdf", now=True)).words == (
        "gone: its pages, the quotes in 1 answer; its file stays where it is"
    )


def test_a_part_of_a_name_removes_nothing(location):
    with pytest.raises(UnknownError, match="exact"):
        remove_document(location, "paper", now=False)


def test_without_now_readers_keep_what_they_pinned_and_the_rest_goes_later(location):
    with open_for_reading(location) as before:
        receipt = remove_document(location, PAPER.document_id[:8], now=False)
        assert len(before.documents()) == 2 and len(before.nodes(PAPER.document_id)) == 6
    assert "--now" in receipt.later and location.purge_due.exists()
    with open_for_reading(location) as after, pytest.raises(UnknownError):
        after.find("paper.pdf")


@pytest.mark.parametrize("named", ["paper.pdf", PAPER.document_id[:8]])
def test_now_finishes_a_removal_that_did_not_wait(location, named):
    note_removals(location, {"0" * 64: ["/files/slides.pdf"]})
    remove_document(location, "paper.pdf", now=False)
    receipt = remove_document(location, named, now=True)
    assert receipt.document_id == PAPER.document_id and receipt.later.startswith("nothing of it is left")
    assert b"of paper" not in everything_in(location.folder) and not location.purge_due.exists()
    for again in (named, "letter.pdf"):
        with pytest.raises(UnknownError):
            remove_document(location, again, now=True)


def test_now_says_that_it_is_still_being_read(location, monkeypatch):
    monkeypatch.setattr("storage.cleaning.removing.WAIT_SECONDS", 0.2)
    with open_for_reading(location):
        assert "still being read" in remove_document(location, "paper.pdf", now=True).later
    assert location.purge_due.exists()


def test_answers_lose_their_quotes_at_once_and_those_given_meanwhile_when_the_last_reader_is_gone(location):
    keep(location, answer("paper"), run="before")
    with ThreadPoolExecutor() as pool:
        with open_for_reading(location):
            removing = pool.submit(remove_document, location, "paper.pdf", now=True)
            while asking_log(location, "before").path.read_bytes().count(b"of paper"):
                assert not removing.done()
            keep(location, answer("paper", "report"), run="meanwhile")
            keep_asked(location, "paper")
            with pytest.raises(TimeoutError):
                removing.result(0.2)
        assert removing.result(60).gone["answer_texts"] == 2
    assert b"of paper" not in everything_in(location.folder)
    assert [kept.question for kept in read_answers(location, present=())] == ["How many?"] * 2


def read_again(location, before, name):
    """Publish another content of a document's file, as an ingest of the changed file does."""
    after = worlds.graph(name)
    with worlds.writing(location) as corpus:
        corpus.publish(graphs=[after], records=[worlds.record(after, f"/files/{before.title}.pdf")], removed=[before.document_id])
        forget_removed(corpus)


def test_what_is_only_replaced_keeps_its_quotes_until_its_file_is_removed(location):
    keep(location, answer("paper", "report"), run="r1")
    keep(location, answer("report"), run="r2")
    keep_asked(location, "paper")
    read_again(location, PAPER, "second paper")
    assert b"words of paper" in everything_in(location.runs)
    assert list(AskedQuestions(location.evaluations).recall(identify("flow"))) == [identify("paper")]
    receipt = remove_document(location, "paper.pdf", now=True)
    assert (receipt.document_id, receipt.gone["answer_texts"]) == (worlds.document_id("second paper"), 1)
    assert receipt.later.startswith("nothing of it is left")
    assert b"of paper" not in everything_in(location.folder)
    quoting, untouched = sorted(read_answers(location, present=()), key=lambda kept: -len(kept.citations))
    assert [citation.quote for citation in quoting.citations] == ["", "words of report"]
    assert untouched == answer("report")


def test_a_file_that_is_read_in_after_its_removal_and_then_replaced_keeps_its_quotes(location):
    remove_document(location, "paper.pdf", now=False)
    again = worlds.graph("paper again")
    with worlds.writing(location) as corpus:
        corpus.publish(graphs=[again], records=[worlds.record(again, "/files/paper.pdf")])
    asked = replace(answer("paper again"), snapshot=corpus.snapshot)
    cited = replace(asked.citations[0], document=NamedDocument(again.document_id, "paper.pdf"))
    asked = replace(asked, citations=(cited,), paths=())
    asking_log(location, "r1").answer(answer_json(asked))
    read_again(location, replace(again, title="paper"), "paper at last")
    assert read_removals(location) and read_answers(location, present=()) == [asked]


def test_what_cannot_be_published_stays_and_keeps_its_quotes(location, monkeypatch):
    def full(*_arguments, **_more):
        raise DiskFullError("disk full")

    keep(location, answer("paper"))
    with monkeypatch.context() as patched, pytest.raises(DiskFullError):
        patched.setattr("storage.corpus.writer.CorpusWriter.publish", full)
        remove_document(location, "paper.pdf", now=True)
    assert remove_document(location, "report.pdf", now=False).gone["answer_texts"] == 0
    assert read_answers(location, present={PAPER.document_id}) == [answer("paper")]


@pytest.mark.parametrize("step", ["removing.without_readers", "owners.forget_replies", "owners.forget_reports", "removing.collect"])
def test_a_removal_of_a_corpus_that_was_killed_is_finished_by_the_same_command(location, monkeypatch, step):
    keep_words(location, "paper")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(f"storage.cleaning.{step}", killed)
        remove_corpus(location)
    with pytest.raises(UnknownCorpusError):
        open_for_reading(location).__enter__()
    assert has_words(location, "paper")
    remove_corpus(location)
    assert set(has_words(location, "paper")) == set() and not location.folder.exists()


def test_files_of_a_removed_corpus_wait_while_another_is_written_and_go_with_its_clean_up(home, location):
    keep_words(location, "paper")
    other = worlds.corpus_in(home, "other")
    with worlds.writing(other) as corpus:
        worlds.publish(corpus, REPORT)
        removed = remove_corpus(location)
        assert (removed.documents, removed.files, removed.postponed) == (2, 0, "corpus 'other' is being written")
        assert {path.split("/")[0] for path in has_words(location, "paper")} == {"artifacts", "words"}
        with worlds.writing(worlds.corpus_in(home, "third")) as third:
            worlds.publish(third, PAPER)
        assert "corpus 'other' is being written" in remove_document(third.location, "paper.pdf", now=True).later
        collect(other, keep_seconds=0)
    assert has_words(location, "paper") == []


@pytest.mark.parametrize("harm", ["", "current", "catalog", "lance", "snapshots"])
def test_a_corpus_goes_whole_with_all_that_is_kept_of_its_documents_be_it_damaged_or_half_removed(location, harm):
    keep_words(location, "earlier paper")
    others = questions_owner("another")
    cache = keep_replies(questions_owner(location.name), others, worlds.document_id("elsewhere"))
    if harm:
        part = getattr(location, harm)
        shutil.rmtree(part) if part.is_dir() else part.unlink()
    else:
        keep_replies(REPORT.document_id)
    removed = remove_corpus(location)
    assert harm or removed.documents == 2
    assert has_words(location, "earlier paper") == [] and not location.folder.exists()
    assert set(cache.subjects()) == {others, worlds.document_id("elsewhere")}
    with pytest.raises(UnknownCorpusError, match=f"FLOWREADER_HOME '{location.home}'; see them all with `flowreader corpora list`"):
        remove_corpus(location)


def test_where_nothing_says_what_a_removed_corpus_held_the_replies_about_what_no_corpus_has_go(location):
    keep_words(location, "paper")
    shutil.rmtree(location.snapshots)
    shutil.rmtree(location.runs)
    remove_corpus(location)
    assert CallCache(calls_folder()).subjects() == []


def test_the_readers_of_a_corpus_are_waited_for_before_it_goes(location):
    with ThreadPoolExecutor() as pool, open_for_reading(location) as snapshot:
        removing = pool.submit(remove_corpus, location)
        while location.current.exists():
            time.sleep(0.05)
        with pytest.raises(TimeoutError):
            removing.result(0.5)
        with pytest.raises(UnknownCorpusError):
            open_for_reading(location).__enter__()
        assert len(snapshot.nodes(REPORT.document_id)) == 6
    assert removing.result(20).documents == 2


def keep_replies(*subjects):
    cache = CallCache(calls_folder())
    for subject in subjects:
        cache.keep(subject, "0" * 64, CachedReply("{}", "scripted", 1, 1))
    return cache


def keep_asked(location, name):
    """Keep what an evaluation asked of a document: its answer quotes it."""
    pages = ((f"{name}.pdf", 2),)
    AskedQuestions(location.evaluations).keep(
        identify("flow"), [Asked(identify(name), "q1", "flow", pages, pages, 0.1, f"words of {name}", "answered")]
    )


@pytest.mark.parametrize("now", [True, False])
def test_a_removed_document_takes_the_replies_about_it_and_what_its_corpus_was_asked_along(home, location, now):
    mine, others = questions_owner(location.name), questions_owner("another")
    cache = keep_replies(REPORT.document_id, PAPER.document_id, mine, others)
    other = worlds.corpus_in(home, "other")
    other.folder.mkdir()
    for place in (location, other):
        keep_asked(place, "paper")
        keep_asked(place, "report")
    remove_document(location, "paper.pdf", now=now)
    assert set(cache.subjects()) == {REPORT.document_id, others}
    assert list(location.evaluations.iterdir()) == []
    assert len(AskedQuestions(other.evaluations).recall(identify("flow"))) == 2


def test_what_evaluations_asked_goes_with_the_purge_where_a_removal_was_killed_before_it_did(location, monkeypatch):
    keep_asked(location, "paper")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(AskedQuestions, "forget", killed)
        remove_document(location, "paper.pdf", now=False)
    assert b"words of paper" in everything_in(location.evaluations) and location.purge_due.exists()
    with worlds.writing(location) as corpus:
        clean_up(corpus, now=True)
    assert b"of paper" not in everything_in(location.folder)


def read_in(home, store, graph, content):
    """Read an object in, of which a copy is with us then."""
    store.put("report.pdf", content)
    discover_objects([store.address()], include=(), exclude=(), file_megabytes=1)
    place = worlds.corpus_in(home)
    with worlds.writing(place) as corpus:
        corpus.publish(graphs=[graph], records=[replace(worlds.record(graph), paths=(store.address("report.pdf"),))])
    return place


@pytest.mark.torture
@pytest.mark.parametrize("now", [True, False])
def test_removing_a_document_deletes_our_copy_of_its_object_before_the_long_clean_up(home, store, monkeypatch, now):
    place = read_in(home, store, REPORT, b"what the report says")
    assert b"what the report says" in everything_in(home)
    for cleaning in ("purge", "tidy"):
        monkeypatch.setattr(f"storage.corpus.writer.CorpusWriter.{cleaning}", killed)
    with pytest.raises(KeyboardInterrupt):
        remove_document(place, "report.pdf", now=now)
    assert b"what the report says" not in everything_in(home)


@pytest.mark.torture
def test_our_copy_of_a_removed_object_goes_with_the_next_clean_up_where_a_kill_left_it(home, store, monkeypatch):
    place = read_in(home, store, REPORT, b"what the report says")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("storage.cleaning.owners.forget_copies", killed)
        remove_document(place, "report.pdf", now=False)
    assert b"what the report says" in everything_in(home)
    with worlds.writing(place) as corpus:
        clean_up(corpus)
    assert b"what the report says" not in everything_in(home)


@pytest.mark.torture
def test_our_copy_of_what_is_published_at_a_removed_address_stays(home, store):
    place = read_in(home, store, REPORT, b"what the report says")
    remove_document(place, "report.pdf", now=False)
    read_in(home, store, PAPER, b"what the paper says")
    with worlds.writing(place) as corpus:
        clean_up(corpus)
    assert place.purge_due.exists() and b"what the paper says" in everything_in(home)


def test_a_document_that_is_back_keeps_its_quotes(location):
    keep(location, answer("report"))
    with worlds.writing(location) as corpus:
        note_removals(location, {REPORT.document_id: ()})
        corpus.publish(removed=[REPORT.document_id])
        worlds.publish(corpus, REPORT)
        assert clean_up(corpus).answers_erased == 0
    assert read_answers(location, present={REPORT.document_id}) == [answer("report")]


def set_clock(monkeypatch, seconds):
    """Let the clock that removals are noted and judged by be so far ahead."""
    now = time.time
    for module in ("storage.catalog.removals", "storage.cleaning.removing"):
        monkeypatch.setattr(f"{module}.time", SimpleNamespace(time=lambda: now() + seconds))


def test_a_removal_noted_in_the_future_is_due_at_once(location, monkeypatch):
    with monkeypatch.context() as ahead:
        set_clock(ahead, 1_000_000)
        note_removals(location, {PAPER.document_id: ()})
        assert not purge_is_due(location)
    assert purge_is_due(location)


def test_a_later_removal_does_not_put_off_the_purge_of_an_earlier_one(location, monkeypatch):
    remove_document(location, "paper.pdf", now=False)
    keep(location, answer("paper", "report"), run="late")
    assert not purge_is_due(location)
    set_clock(monkeypatch, 3500)
    assert not purge_is_due(location)
    note_removals(location, {worlds.document_id("slides"): ()})
    set_clock(monkeypatch, 3700)
    assert purge_is_due(location)
    with worlds.writing(location) as corpus:
        clean_up(corpus)
    assert not location.purge_due.exists()
    assert b"of report" in everything_in(location.folder) and b"of paper" not in everything_in(location.folder)
