"""After a removal no report shows the document, and the answers that lost words are known."""

from dataclasses import replace

from storage.answer_json import answer_json
from storage.answer_records import NamedDocument
from storage.corpus import open_for_writing
from storage.locations import reports_folder
from storage.removals import hash_name
from tasks.forgetting_reports import (
    answers_of_what_is_gone,
    answers_without_words,
    names_one_of,
    published_ids,
    tells_of_what_is_gone,
)
from tasks.ingest_report import as_code
from tasks.markdown import as_text
from tasks.removing import remove_document
from tests.storage import worlds
from tests.storage.answer_worlds import answer, asking_log, citation

REPORT, PAPER = worlds.graph("report"), worlds.graph("paper")


def test_a_removal_takes_the_reports_and_names_the_answers(home):
    location = worlds.corpus_in(home)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, REPORT, PAPER)
        corpus.index()
    kept, lost = answer("report"), answer("report", "paper")
    for run, told in {"r1": kept, "r2": lost}.items():
        asking_log(location, run).answer(answer_json(told))
    reports_folder().mkdir()
    (reports_folder() / "lost.html").write_text(PAPER.document_id)
    assert answers_without_words(location) == []
    remove_document(location, "paper.pdf", now=False)
    assert answers_without_words(location) == [lost.answer_id] and not (reports_folder() / "lost.html").exists()


def test_lineage_of_a_removed_document_is_known_and_that_of_a_changed_file_stays(home):
    location = worlds.corpus_in(home)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, REPORT, PAPER)
        corpus.index()
    before = replace(citation("report"), document=NamedDocument(worlds.document_id("before"), "report.pdf"))
    kept, lost = replace(answer("report"), citations=(before,)), answer("paper")
    for run, told in {"r1": kept, "r2": lost}.items():
        asking_log(location, run).answer(answer_json(told))
    pages = [f"sha256 {graph.document_id}" for graph in (REPORT, PAPER)]
    assert answers_of_what_is_gone(location) == [] and not any(
        tells_of_what_is_gone(page, present=published_ids(location)) for page in pages
    )
    remove_document(location, "paper.pdf", now=False)
    assert answers_of_what_is_gone(location) == [lost.answer_id]
    assert [tells_of_what_is_gone(page, present=published_ids(location)) for page in pages] == [False, True]


def test_a_page_names_a_file_of_which_there_is_a_hash_as_code_or_as_text():
    for name in ("report.pdf", "[x](y) *z*.pdf", "two words, and more.pdf"):
        names = {hash_name("else.pdf"), hash_name(name)}
        for page in (f"| {as_code(name)} | failed |", as_code(f"/in/{name}: it is gone"), f"now {as_text(name)} page 3",
                     as_text(f"the ingest of /in/{name} was killed"), as_text(f"artifact 1f of {name!r} is missing")):  # fmt: skip
            assert names_one_of(names, page), (name, page)
    assert not names_one_of({hash_name("report.pdf")}, "paper\\.pdf") and not names_one_of((), "report.pdf")
