"""The page as a whole: one document, a policy that lets nothing in, every link leading somewhere."""

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

from storage.answer_records import AnswerStatus
from tasks.report.evidence import Exhibit, Mark, Sheet
from tasks.report.page import show_page
from tasks.report.pictures import Picture
from tasks.report.report_settings import ReportSettings
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import BOX, a_node, a_path, a_record, a_table, an_answer, cite, evidence_of, named

PAPER = a_record(document_id("paper"), "paper.pdf")
FIRST, TABLE, THIRD = a_node(PAPER.id, 0, "the first words"), a_table(PAPER.id, 1), a_node(PAPER.id, 2, "more")
VOID = {"meta", "link", "img", "br"}


class Outline(HTMLParser):
    """The elements, checked to be closed in their order."""

    def __init__(self):
        super().__init__()
        self.elements, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(page):
    reader = Outline()
    reader.feed(f"{page}")
    reader.close()
    assert reader.open == []
    return reader.elements


def whole(**more):
    citations = (cite(FIRST, PAPER), cite(TABLE, PAPER))
    sheet = Sheet(
        named(PAPER), 1, Picture(b"x", 10, 20), (Mark(BOX, (1,)),), (Exhibit(TABLE, (2,), ("Gearbox 6 months",), None),), ""
    )
    evidence = evidence_of(FIRST, TABLE, THIRD, records=(PAPER,), sheets=(sheet,))
    answer = an_answer(citations, (a_path(0.5, FIRST, TABLE), a_path(0.2, THIRD, answer="")), **more)
    return show_page(answer, evidence, ReportSettings())


def test_every_link_stays_on_the_page_and_leads_to_something():
    elements = outline(whole())
    ids = Counter(attributes["id"] for _, attributes in elements if "id" in attributes)
    assert max(ids.values()) == 1
    links = [attributes["href"] for tag, attributes in elements if tag == "a"]
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)


def test_the_policy_allows_this_style_and_pictures_in_the_page_and_nothing_else():
    page = whole()
    style = re.search("<style>(.*?)</style>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(
        attributes["content"] for tag, attributes in outline(page) if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy == f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "style=" not in page
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", page)
    assert "url(" not in style and "@import" not in style


def test_the_page_has_landmarks_one_title_and_named_sections():
    elements = outline(whole())
    tags = Counter(tag for tag, _ in elements)
    assert [tags[name] for name in ("header", "main", "footer", "h1", "style")] == [1] * 5
    ids = {attributes.get("id") for _, attributes in elements}
    assert all(
        attributes["aria-labelledby"] in ids for tag, attributes in elements if tag == "section" and "aria-labelledby" in attributes
    )
    assert all(attributes.get("alt") for tag, attributes in elements if tag == "img")


def test_the_same_answer_gives_the_same_bytes():
    assert whole() == whole()


def test_an_answer_with_nothing_to_show_is_a_page_all_the_same():
    answer = an_answer(status=AnswerStatus.NOT_FOUND, answer="", gate=None, pages=(), evidence_pages=())
    page = show_page(answer, evidence_of(), ReportSettings())
    outline(page)
    assert "</span> Not found<" in page and "Nothing in these documents" in page
    assert "Candidate pages" not in page and "routed" not in page and "Evidence<" not in page


def test_paths_without_nodes_are_no_paths_and_too_many_are_counted():
    evidence = evidence_of(FIRST, records=(PAPER,))
    assert "routed" not in show_page(an_answer(paths=(a_path(0.5),)), evidence, ReportSettings())
    page = show_page(an_answer(paths=(a_path(0.5, FIRST),) * 20), evidence, ReportSettings(paths=3))
    assert "17 weaker paths are not shown" in page
    assert "The path in words" in show_page(an_answer(paths=(a_path(0.5, FIRST),)), evidence, ReportSettings())


def test_citations_without_pages_to_show_stand_alone():
    page = show_page(an_answer((cite(FIRST, PAPER),)), evidence_of(removed=frozenset({PAPER.id})), ReportSettings())
    assert 'class="sheets"' not in page
    assert "The document was removed." in page


def test_a_long_question_is_set_smaller():
    assert 'class="long"' in whole(question="why " * 100)
    assert 'class="long"' not in whole()
