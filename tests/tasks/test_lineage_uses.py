"""Which answers used a document: those that cite it or for which a page of it was read, and no others."""

from dataclasses import replace

import pytest

from storage.answer_records import NamedDocument
from storage.corpus import open_for_writing
from storage.snapshot import open_for_reading
from tasks.lineage_names import Shelf
from tasks.lineage_records import AnswerLine, AnswerUse, Damage
from tasks.lineage_uses import uses_of
from tests.lineage_worlds import asking_run
from tests.storage import worlds
from tests.storage.answer_worlds import answer, named

REPORT, PAPER, OTHER = (worlds.document_id(name) for name in ("report", "paper", "other"))
EARLIER = NamedDocument(worlds.document_id("report before"), "report.pdf")


@pytest.fixture
def location(tmp_path):
    place = worlds.corpus_in(tmp_path)
    with open_for_writing(place, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, worlds.graph("report"), worlds.graph("paper"))
    return place


def uses(location, document_id=REPORT):
    with open_for_reading(location) as snapshot:
        return uses_of(Shelf(snapshot), document_id)


def of_earlier(kept):
    """The same answer, of what the report's file held before."""
    cited = replace(kept.citations[0], document=EARLIER, page=7)
    return replace(kept, citations=(cited,), paths=(), evidence_pages=(), answer_id="e" * 32)


def test_an_answer_that_cites_or_read_a_document_is_told_with_the_pages_the_newest_first(location):
    both = answer("report", "paper")
    read = replace(answer("report", asked="2027"), citations=())
    ranked = replace(answer("paper"), pages=both.pages)
    asking_run(location, "aa00bb", [both, read, ranked])
    found = uses(location)
    assert found.document == named("report") and (found.earlier, found.damaged) == ((), ())
    assert found.answers == (
        AnswerUse(AnswerLine(read.answer_id, "ask-aa00bb", "2027", "How many?", "answered"), REPORT, (), (2,)),
        AnswerUse(AnswerLine(both.answer_id, "ask-aa00bb", both.asked, "How many?", "answered"), REPORT, (2,), (2,)),
    )
    assert {use.answer.answer_id for use in uses(location, PAPER).answers} == {ranked.answer_id, both.answer_id}
    assert uses(location, OTHER).answers == () and uses(location, OTHER).document == NamedDocument(OTHER, "")


def test_answers_of_what_the_file_held_before_are_told_with_its_id(location):
    asking_run(location, "aa00bb", [of_earlier(answer("report")), answer("report", "paper")])
    found = uses(location)
    assert found.earlier == (EARLIER,) and {use.document_id for use in found.answers} == {REPORT, EARLIER.id}
    earlier = uses(location, EARLIER.id)
    assert (earlier.document, earlier.earlier) == (EARLIER, ())
    assert [(use.document_id, use.cited_pages) for use in earlier.answers] == [(EARLIER.id, (7,))]


def test_another_published_document_of_the_same_name_is_no_earlier_content(location):
    copy = replace(worlds.record(worlds.graph("copy")), paths=("/elsewhere/report.pdf",))
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        corpus.publish(graphs=[worlds.graph("copy")], records=[copy])
    kept = of_earlier(answer("report"))
    cited = replace(kept.citations[0], document=NamedDocument(copy.id, "report.pdf"))
    asking_run(location, "aa00bb", [replace(kept, citations=(cited,))])
    assert uses(location).answers == () and len(uses(location, copy.id).answers) == 1


def test_damaged_files_of_asking_are_told_whether_or_not_they_name_the_document(location):
    asking_run(location, "aa00bb", [answer("report")])
    for name, kept in (("bb", answer("paper")), ("cc", answer("report"))):
        path = asking_run(location, name, [kept])
        path.write_bytes(path.read_bytes()[:-9])
    (location.runs / "ask-dd.jsonl").mkdir()
    found = uses(location)
    assert found.damaged == (Damage("ask-bb", 1, ""), Damage("ask-cc", 1, ""), Damage("ask-dd", 0, "Is a directory"))
    assert sorted(use.answer.run_id for use in found.answers) == ["ask-aa00bb", "ask-cc"]
