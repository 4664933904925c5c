import pytest

from storage.records import Page, PageParser
from tasks.document_steps import UnansweredError, may_be_mended, noted_pages, require_enough_replies
from tasks.models.chat_errors import ChatError, InvalidReplyError, RefusedReplyError
from tests.tasks.describing_worlds import node

LOST, WRONG, DECLINED = ChatError("node 3 of a.pdf: no reply"), InvalidReplyError("wrong twice"), RefusedReplyError("no")


def page(number, note=""):
    return Page(str(number), "d", "v", number, None, 1, 1, PageParser.MINERU, note, "", None)


def test_a_few_failures_are_borne_and_many_are_not():
    require_enough_replies({3: LOST}, asked=2, share=0.2)
    require_enough_replies({3: LOST, 4: LOST}, asked=10, share=0.2)
    with pytest.raises(UnansweredError, match=r"3 of 10 nodes .* node 3 of a\.pdf.* next ingest"):
        require_enough_replies({3: LOST, 4: LOST, 5: WRONG}, asked=10, share=0.2)
    require_enough_replies({}, asked=0, share=0.0)


def test_only_what_no_reply_came_for_may_be_mended_by_asking_again():
    assert may_be_mended({1: WRONG, 2: LOST})
    assert not may_be_mended({1: WRONG, 2: DECLINED}) and not may_be_mended({})


def test_a_page_says_how_many_of_its_nodes_have_no_description_and_why():
    nodes = [node(0), node(1, page=2), node(2, page=2), node(3, page=2)]
    pages = [page(1), page(2, "text layer read by pdfium"), page(3)]
    noted = noted_pages(pages, nodes, {1: WRONG, 2: LOST, 3: WRONG}, "described by rules")
    assert noted[0] == pages[0] and noted[2] == pages[2]
    assert noted[1].note == (
        "text layer read by pdfium; 3 elements described by rules, "
        "for want of a usable reply of the model (failed, invalid 2 times)"
    )
    (alone,) = noted_pages([page(1)], nodes, {0: DECLINED}, "described by rules")
    assert alone.note.startswith("1 element described by rules") and alone.note.endswith("(refused)")
