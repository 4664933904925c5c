"""A page is named as people name it."""

from storage.answer_records import NamedDocument
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import DOCX, PPTX, a_record, evidence_of

PAPER, DECK, LETTER = document_id("paper"), document_id("deck"), document_id("letter")
EVIDENCE = evidence_of(
    records=(
        a_record(PAPER, "paper.pdf"),
        a_record(DECK, "deck.pptx", media_type=PPTX),
        a_record(LETTER, "letter.docx", media_type=DOCX),
    ),
    labels={(PAPER, 3): "iii", (PAPER, 4): "4"},
)


def test_pages_slides_and_documents_without_pages_are_named():
    assert EVIDENCE.place(PAPER, 3) == "page 3 (printed iii)"
    assert EVIDENCE.place(PAPER, 4) == "page 4"
    assert EVIDENCE.place(DECK, 2) == "slide 2"
    assert EVIDENCE.place(LETTER, 1) == ""


def test_a_removed_document_is_known_by_the_beginning_of_its_id():
    assert EVIDENCE.name("f" * 64) == "f" * 12
    assert EVIDENCE.place("f" * 64, 2) == "page 2"
    assert not EVIDENCE.holds(NamedDocument("f" * 64, "gone.pdf"))
    assert EVIDENCE.holds(NamedDocument(PAPER, "paper.pdf"))
    assert EVIDENCE.name(PAPER) == "paper.pdf"
