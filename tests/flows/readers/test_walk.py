"""`walk` on worlds small enough to see: from the nearest pages to pages like them, each rated by what stands on it."""

from storage.records.answers import AnswerStatus, TraceKind
from tests.asking_worlds import Passage, answer_at, at_place, steps_of, written
from tests.library import CREW, asked_by, pages
from tests.storage.worlds import document_id

QUESTION = "How deep is the harbour in a storm?"
NEAR = [Passage(f"The harbour of Aldre has a storm wall, {word}.", page=page) for page, word in enumerate("abc", 1)]
AWAY = [Passage(f"The price of a cable is {page} pounds.", page=page) for page in range(4, 9)]
DEPTH = Passage("Storm depth of the harbour: it is 14 metres deep. Tide, blade, cable, price, crew and steel are listed.", page=9)
ALDRE = written("aldre", *NEAR, *AWAY, DEPTH)


WORLD = (ALDRE, CREW)
SETTINGS = {"walk": {"near": "cosine", "theta": 0.3}}


def walked(context, text=QUESTION, **method):
    return asked_by("walk", context, text, **method)


def test_a_page_that_is_far_from_the_question_is_walked_to_rated_read_and_cited(context):
    answer = walked(context)
    assert answer.reader == "walk" and answer.status is AnswerStatus.EVIDENCE and answer.gate is None
    assert answer.evidence_pages[0].page == 9 and answer.citations[0].page == 9
    still = walked(context, hops=0)
    assert sorted(pages(still.evidence_pages)) == [1, 2, 3]


def test_its_way_is_told_step_by_step_and_counted(context):
    before = len(steps_of(context.snapshot.location))
    answer = walked(context)
    steps = steps_of(context.snapshot.location)[before:]
    rated = steps.count("rate-pages")
    assert [step for step in steps if step != "rate-pages"] == [
        *("keywords", "candidates", "score", "page-graph", "choose-pages", "fetch", "read", "synthesize", "record")
    ]
    assert [step.kind for step in answer.trace] == [TraceKind.SEARCH, *[TraceKind.RATE] * rated, TraceKind.READ]
    seen = len({*pages(place for step in answer.trace[1:-1] for place in step.pages)})
    assert answer.usage.counts == {"pages rated": seen, "share of pages rated": seen / len(answer.pages), "hops": rated - 1}
    assert answer.trace[-1].pages == answer.evidence_pages
    assert {len(path.nodes) for path in answer.paths} == {1}, "of a page that is read whole the best node is shown"


def test_never_more_pages_are_rated_than_may_be_and_all_of_them_where_that_is_asked(context):
    assert walked(context, rated=4).usage.counts["pages rated"] == 4
    assert walked(context, everything=True).usage.counts == {"pages rated": 10, "share of pages rated": 1, "hops": 0}
    assert len(walked(context, everything=True, keep_above=0.0, pages=5).evidence_pages) == 5


def test_of_a_large_corpus_whole_documents_are_walked_those_of_its_best_pages(context):
    large = at_place(
        context, candidates={"whole_limit": 9, "by_vector": 2, "by_text": 2, "hops": 0}, walk=context.settings.walk.model_dump()
    )
    answer = answer_at(large, QUESTION, reader="walk")
    assert "documents" in steps_of(context.snapshot.location)
    assert {page.document.id for page in answer.pages} == {document_id("aldre")} and len(answer.pages) == 9
    larger = at_place(large, candidates={"whole_limit": 8, "by_vector": 2, "by_text": 2, "hops": 0})
    assert len(answer_at(larger, QUESTION, reader="walk").pages) < 9, "a document that is too large is not taken whole"


def test_a_page_that_is_named_is_read_first_where_the_score_says_what_is_near(context):
    assert walked(context, "what is on page 2?", near="score").evidence_pages[0].page == 2
