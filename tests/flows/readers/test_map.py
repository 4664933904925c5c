"""`map` on worlds small enough to see: sections lead to pages, and what is not answered is looked for around them."""

from dataclasses import dataclass, replace

import pytest

from storage.records.answers import AnswerStatus, TraceKind
from storage.records.documents import NodeKind
from tasks.reading.rules import ExtractiveReader
from tests.asking_worlds import Passage, answer_at, at_place, steps_of, written
from tests.library import alone, asked_by, kinds, pages
from tests.storage.worlds import document_id

QUESTION = "Which Indian languages do they experiment with?"
SOME = [
    Passage(f"Indian speech is hard, the {axis} says.", page=page, section="Introduction")
    for page, axis in enumerate(("crew", "steel", "tide", "cable"), 1)
]
OTHERS = [
    Passage(f"Indian languages, Indian languages\n{axis}: {page} million", page=page, kind=NodeKind.TABLE, section="Related work")
    for page, axis in enumerate(("crew", "steel", "tide", "cable"), 5)
]
SETUP = [
    Passage(f"They experiment with {name}, the price is low.", page=9, section="Setup") for name in ("Hindi", "Telugu", "Tamil")
]
ALL = "Indian languages: Hindi, English, Kannada, Telugu, Assamese, Bengali, Malayalam"
TABLE = Passage(
    "\n".join(["Set: content", *(f"hours of set {number}: {number}" for number in range(40)), ALL]),
    page=10,
    kind=NodeKind.TABLE,
    section="Setup",
)
PAPER = written("paper", *SOME, *OTHERS, *SETUP, TABLE)

ABOUT_WORKS = "How high is the harbour wall, and what did the crew earn?"
WORKS = written(
    "works",
    Passage("The harbour wall is 14 metres high.", page=1, section="Works"),
    Passage("Storm and tide are told.", page=2, section="Works"),
    Passage("The crew earn 12 pounds.", page=3, section="Works"),
    Passage("Blades are of steel.", page=4, section="Blades"),
)
BARE = written(
    "bare", *(Passage(f"{axis} is told of on a page.", page=page) for page, axis in enumerate(("Crew", "Steel", "Tide"), 1))
)


WORLD = (PAPER, WORKS, BARE)


def mapped(context, text=QUESTION, scope=None, **method):
    return asked_by("map", context, text, scope, **method)


def test_a_section_leads_to_the_table_that_neither_the_text_nor_the_best_tables_do(context):
    answer = mapped(context)
    assert answer.reader == "map" and answer.status is AnswerStatus.EVIDENCE and answer.gate is None
    assert 10 in pages(answer.evidence_pages)
    assert ALL in [citation.quote for citation in answer.citations if citation.page == 10]
    without = mapped(context, paths=("text", "visual"))
    assert 10 not in pages(without.evidence_pages) and "widen" not in kinds(without)


def test_what_a_part_lacks_is_found_around_what_was_quoted(context):
    one = {"located": 1, "k": 1}
    narrow = mapped(context, ABOUT_WORKS, alone("works"), **one, rounds=0)
    assert pages(narrow.evidence_pages) == [1] and "reflect" not in kinds(narrow)
    answer = mapped(context, ABOUT_WORKS, alone("works"), **one)
    assert pages(answer.evidence_pages) == [1, 2, 3], "the section, not the document"
    assert {citation.page for citation in answer.citations} == {1, 3}
    assert kinds(answer) == ["locate", "search", "search", "read", "reflect", "widen", "read"]
    again = mapped(context, ABOUT_WORKS, alone("works"), **one, rounds=3)
    assert kinds(again)[-1] == "reflect" and pages(again.evidence_pages) == [1, 2, 3], "an answered question is not widened"
    assert pages(mapped(context, ABOUT_WORKS, alone("works"), **one, widen_pages=1).evidence_pages) == [1, 2]


def test_its_way_is_told_step_by_step_and_counted(context):
    before = len(steps_of(context.snapshot.location))
    answer = mapped(context, ABOUT_WORKS, located=1, k=1)
    assert steps_of(context.snapshot.location)[before:] == [
        *("keywords", "candidates", "score", "locate", "three-paths", "fetch", "read", "reflect", "widen", "fetch", "read"),
        *("synthesize", "record"),
    ]
    assert [step.needs for step in answer.trace] == [(), (), (), (1, 2, 3), (4,), (5,), (6,)]
    assert answer.trace[0].found == 'section "Works" on page 1 of works.pdf'
    assert answer.trace[4].found == 'not yet: "what did the crew earn"'
    assert answer.usage.counts["pages located"] == 1 and answer.usage.counts["pages around"] == len(answer.trace[5].pages)
    assert answer.usage.counts["pages read"] == len(answer.evidence_pages)
    assert [place for step in answer.trace if step.kind is TraceKind.READ for place in step.pages] == list(answer.evidence_pages)


@pytest.mark.parametrize("question", [QUESTION, ABOUT_WORKS, "What does the note say of cables in 1999?"])
def test_no_more_pages_are_read_than_may_be(context, question):
    for located, k, widen in ((4, 4, 10), (2, 3, 2), (1, 1, 0)):
        answer = mapped(context, question, located=located, k=k, widen_pages=widen)
        assert len(answer.evidence_pages) <= located + 2 * k + widen


def test_a_place_that_the_question_names_comes_before_all_sections(context):
    answer = mapped(context, "What is on page 7 of the paper?", alone("paper"), k=1)
    assert answer.trace[0].found.startswith("what the question names on page 7; ") and pages(answer.trace[0].pages)[0] == 7
    assert answer.citations[0].page == 7
    many = mapped(context, "What is on pages 2 to 8?", alone("paper"))
    assert set(pages(many.trace[0].pages)) <= set(range(2, 9)) and len(many.trace[0].pages) == 4


def test_without_an_outline_the_pages_beside_are_those_around(context):
    answer = mapped(context, "Which crew has a blade?", alone("bare"), located=1, k=1)
    assert answer.trace[0].found == "text under no title on page 1"
    assert pages(answer.evidence_pages) == [1, 2]
    single = mapped(context, "What is told of the crew?", alone("bare", first_page=1, last_page=1))
    assert pages(single.evidence_pages) == [1]


def test_of_a_large_corpus_its_best_documents_are_mapped_whole_or_as_far_as_they_are_at_hand(context):
    few = {"by_vector": 2, "by_text": 3, "hops": 0}
    method = context.settings.map.model_dump()
    large = at_place(context, candidates=few | {"whole_limit": 12}, map=method)
    answer = answer_at(large, QUESTION, reader="map")
    assert {page.document.id for page in answer.pages} == {document_id("paper")} and len(answer.pages) == 10
    assert 10 in pages(answer.evidence_pages)
    larger = answer_at(at_place(large, candidates=few | {"whole_limit": 3}, map=method), QUESTION, reader="map")
    assert larger.trace[0].kind is TraceKind.LOCATE and len(larger.pages) <= 5
    assert {(page.document.id, page.page) for page in larger.pages} >= {
        (place.document.id, place.page) for place in larger.evidence_pages
    }


def test_only_the_best_documents_have_a_map(context):
    answer = mapped(context, QUESTION, documents=1)
    assert {place.document.id for place in answer.trace[0].pages} == {document_id("paper")}
    both = mapped(context, "Which languages has the wall?")
    assert len({place.document.id for place in both.trace[0].pages}) == 2


def test_the_map_of_a_document_is_made_once(context, monkeypatch):
    mapped(context)
    monkeypatch.setattr("tasks.readers.section_maps.map_document", None)
    assert mapped(context).trace[0].found


@dataclass(frozen=True, slots=True)
class HalfReader(ExtractiveReader):
    """Stands for a model that never answers all that is asked, or always."""

    model: str = "half"
    whole: bool = False

    def read(self, question, paths):
        # super() would look for the class before it had slots
        return tuple(replace(reading, whole=self.whole) for reading in ExtractiveReader.read(self, question, paths))


def test_where_a_model_reads_its_own_word_says_whether_something_is_open(context):
    half, whole = (replace(context, reader=HalfReader(context.settings.reading, whole=each)) for each in (False, True))
    assert "widen" in kinds(mapped(half, "How high is the harbour wall?", alone("works"), located=1, k=1))
    assert kinds(mapped(whole, ABOUT_WORKS, alone("works"), located=1, k=1))[-1] == "reflect"
