"""The page as a whole: one document, a policy that lets nothing in, every link leading somewhere, what it says of what is gone."""

import base64
import hashlib
import math
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from storage.records.answers import (
    AnswerStatus,
    GateReport,
    GraphEdit,
    NamedDocument,
    PagePlace,
    RankedPage,
    TraceKind,
    TraceStep,
    Usage,
)
from tasks.report.graph import few_words
from tasks.report.pictures import Picture
from tasks.report.sheets import Exhibit, Mark, Sheet
from tasks.views.render import HTML
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import (
    BOX,
    a_node,
    a_path,
    a_record,
    a_table,
    an_answer,
    cite,
    evidence_of,
    named,
    render,
)

PAPER = a_record(document_id("paper"), "paper.pdf")
FIRST = a_node(PAPER.id, 0, "the first words", section_path=("One", "Two"))
TABLE, THIRD = a_table(PAPER.id, 1), a_node(PAPER.id, 2, "more")
GONE, REPLACED = NamedDocument("f" * 64, "gone.pdf"), NamedDocument("e" * 64, "paper.pdf")
EVIDENCE = evidence_of(FIRST, TABLE, THIRD, records=(PAPER,))
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


def read(page):
    reader = Outline()
    reader.feed(f"{page}")
    reader.close()
    assert reader.open == []
    return reader


def whole(**more):
    citations = (
        cite(FIRST, PAPER),
        cite(TABLE, PAPER),
        cite(FIRST, PAPER, "", document=GONE),
        cite(FIRST, PAPER, "earlier words", document=REPLACED),
        cite(FIRST, PAPER, "", document=REPLACED),
        cite(FIRST, PAPER, ""),
        cite(FIRST, PAPER, node_id="d" * 64),
    )
    table = Exhibit(TABLE, (2,), ("Gearbox 6 months",), None)
    sheet = Sheet(named(PAPER), 1, Picture(b"x", 10, 20), (Mark(BOX, (1,)),), (table,), "")
    evidence = replace(EVIDENCE, sheets=(sheet,), left_out=("the picture of page 2",))
    edits = (GraphEdit("bridge", "a" * 64, "b" * 64, 0.0, 0.5), *(GraphEdit("source", "c" * 64, "", 0.1, 0.2),) * 20)
    given = {
        "answer": "So [1], not [12] or [0].\n\nAnd <b>so</b>.",
        "gate": GateReport(0.75, 0.5, "saturation", edits),
        "usage": Usage(7, 1234, 56, 0.0123, {"route": 0.25, "read": 0.75}, cached=3, most_calls=48),
        "pages": tuple(RankedPage(named(PAPER), number, 0.8 / number) for number in range(1, 13)),
        "settings": {"gate": {"consistency": 0.65, "saturation": 0.6}, "routing": {"demand": 6.0, "kinds": [], "of": ["a", "<b>"]}},
        "notes": ("extractive",),
    }
    gone = a_path(0.1, a_node(GONE.id, 0), answer="", names={GONE.id: GONE.name})
    paths = (a_path(0.5, FIRST, TABLE), a_path(0.2, FIRST, THIRD, answer=""), gone, a_path(0.1, a_node(REPLACED.id, 0)))
    return render(an_answer(citations, paths, **(given | more)), evidence)


def test_the_page_says_what_is_missing_of_each_citation_and_is_the_same_each_time():
    page = whole()
    remarks = re.findall(r'<li id="citation-(\d)">(?:(?!</li>).)*<p class="remark">(.*?)</p>', page, re.S)
    assert [(number, words.split()[-1]) for number, words in remarks] == [
        *(("3", "answered."), ("4", "more."), ("5", "answered."), ("6", "here."), ("7", "settings."))
    ]
    assert "So <a" in page and ", not [12] or [0].</p>" in page and "And &lt;b&gt;so&lt;/b&gt;." in page
    assert "21 edits" in page and "and 1 more</li>" in page and '<dt>routing.of</dt><dd dir="auto">a, &lt;b&gt;</dd>' in page
    assert page == whole()


def test_every_link_stays_on_the_page_and_leads_to_something():
    elements = read(whole()).elements
    ids = Counter(attributes["id"] for _, attributes in elements if "id" in attributes)
    assert max(ids.values()) == 1
    links = [attributes["href"] for tag, attributes in elements if tag == "a" and "href" in attributes]
    assert {"#citation-1", "#box-1"} <= set(links)
    assert all(link.startswith("#") and link[1:] in ids for link in links)


def test_the_policy_allows_this_style_and_pictures_in_the_page_and_nothing_else():
    page = whole()
    style = re.search("<style>(.*?)</style>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(
        attributes["content"]
        for tag, attributes in read(page).elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy == f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "style=" not in page
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", page)
    assert "url(" not in style and "@import" not in style


def test_the_page_has_landmarks_one_title_and_named_sections():
    elements = read(whole()).elements
    tags = Counter(tag for tag, _ in elements)
    assert [tags[name] for name in ("header", "main", "footer", "h1", "style")] == [1] * 5
    ids = {attributes.get("id") for _, attributes in elements}
    assert all(
        attributes["aria-labelledby"] in ids for tag, attributes in elements if tag == "section" and "aria-labelledby" in attributes
    )
    assert all(attributes.get("alt") for tag, attributes in elements if tag == "img")


def page_of(citations=(), paths=(), *, evidence=EVIDENCE, **more):
    return render(an_answer(citations, paths, **more), evidence)


def test_an_answer_with_nothing_to_show_is_a_page_all_the_same():
    nothing = {"status": AnswerStatus.NOT_FOUND, "answer": "", "gate": None, "pages": (), "scope": {}, "settings": {"gate": 3}}
    page = page_of(usage=Usage(0, 0, 0, 0.0, {}), evidence=evidence_of(), **nothing)
    read(page)
    assert "</span> Not found<" in page and "Nothing in these documents" in page and "No gate checked" in page
    for absent in ("Candidate pages", "way-title", "Evidence<", "Scope", "cache", "At most", 'class="steps"', "Left out"):
        assert absent not in page
    plain = replace(a_path(0.5, FIRST), quality=None, share=None)
    page = page_of(paths=(plain,), gate=GateReport(1.0, None, "", ()))
    assert "flow 0.5</p>" in page and "Consistency" in page and "Saturation" not in page
    assert "stayed quiet" in page_of(settings={"gate": 3}) and "fires below" not in page_of(settings={"gate": 3})


def test_paths_without_nodes_are_no_paths_and_too_many_are_counted():
    assert "way-title" not in page_of(paths=(a_path(0.5),))
    assert "4 weaker paths not shown" in page_of(paths=(a_path(0.5, FIRST),) * 20)


def test_above_evidence_stands_that_no_model_read_it_and_an_answer_without_words_says_why():
    head = "Evidence found, not read by a model:"
    page = page_of((cite(FIRST, PAPER, "the words"),), status=AnswerStatus.EVIDENCE, answer="")
    assert head in page and "❝</span> Evidence<" in page
    assert head not in page_of()
    assert "document that was removed" in page_of(answer=" ")


def test_evidence_is_quoted_at_once_with_its_page_and_the_way_to_its_box():
    def said(**answer):
        page = page_of((cite(FIRST, PAPER, ""), cite(FIRST, PAPER, "the words", probability=0.618)), **answer)
        return str(page).split('class="said"')[1].split('class="verdict"')[0]

    unread = said(status=AnswerStatus.EVIDENCE, answer="")
    assert unread.count("<blockquote") == 1 and ">the words</blockquote>" in unread
    assert 'href="#citation-2"' in unread and "page 1" in unread and "Here it is 0.62." in unread
    assert "<blockquote" not in said()


def test_of_a_path_whose_node_or_document_is_gone_the_readers_words_stay_only_where_it_was_replaced():
    lost = page_of(paths=(a_path(0.5, a_node(PAPER.id, 7), names={PAPER.id: PAPER.name}),))
    replaced = page_of(paths=(a_path(0.5, a_node(REPLACED.id, 0), answer="so it was"),))
    silent = page_of(paths=(a_path(0.5, a_node(REPLACED.id, 0), answer=""),))
    assert "read again with other settings" in lost and "removed or replaced since" in silent
    assert "so it was" in replaced and "earlier words are not" in replaced and "Supports no answer." not in silent


def test_where_nothing_was_found_no_path_is_shown_as_if_it_led_to_an_answer():
    routed = {"paths": (a_path(0.5, FIRST, answer="so it is"),)}
    assert "so it is" in page_of(**routed) and "0.5, supports no answer" not in page_of(**routed)
    refused = page_of(**routed, status=AnswerStatus.NOT_FOUND, answer="")
    assert "so it is" not in refused and "0.5, supports no answer" in refused and "Supports no answer." in refused


def test_a_trace_names_a_document_that_is_gone_by_its_id():
    steps = tuple(
        TraceStep(number, TraceKind.SEARCH, "", "", pages=(PagePlace(place, 2),))
        for number, place in enumerate((named(PAPER), GONE))
    )
    way = page_of(trace=steps).split('id="step-0"')[1]
    assert "paper.pdf" in way and f"{GONE.id[:12]} · page 2" in way and "gone.pdf" not in way


def test_candidates_are_folded_after_ten_counted_where_they_do_not_fit_and_bars_have_bounds():
    def listed(count, score=0.5):
        return page_of(pages=(RankedPage(named(PAPER), 1, score),) * count).split('class="ranking"', 1)[1].split("Gate")[0]

    assert "<details>" not in listed(10) and listed(10).count("<li>") == 10
    assert "<summary>1 more</summary>" in listed(11) and 'start="11"' in listed(30)
    assert "and 1 page more, not listed" in listed(41).split("<details>")[1]
    assert "and 1,020 pages more, not listed" in listed(1060)
    assert all('class="level" width="0"' in listed(1, score=score) for score in (-1.0, math.nan))


def escaped(text):
    return HTML.from_string('<p title="{{ text }}">{{ text }}</p>').render(text=text)


def test_text_becomes_html_in_one_place_and_hidden_signs_are_written_out():
    assert escaped("<b a=\"1\" c='2'>&amp;").endswith("&lt;b a=&#34;1&#34; c=&#39;2&#39;&gt;&amp;amp;</p>")
    assert ">\\x1b[31m \\x00 \\u202egnp \\ud800 \\x9b\n<" in escaped("\x1b[31m \x00 \u202egnp \ud800 \x9b\r\n")
    text = "a\tb\nc\u200dd שלום 日本語 é"
    assert f">{text}<" in escaped(text)


@given(st.text())
def test_whatever_is_written_no_element_and_no_attribute_comes_of_it(text):
    ((name, attributes),) = read(escaped(text)).elements
    assert name == "p" and set(attributes) == {"title"}


def test_a_figure_or_table_is_known_by_its_caption_and_text_by_itself():
    assert few_words(a_table(PAPER.id, 0)) == "Table 1: Intervals"
    assert few_words(a_node(PAPER.id, 0, "some\n  words \x1b[0m")) == "some words [0m"


def test_a_table_without_a_caption_is_known_by_its_cells_in_plain_words():
    table = a_table(PAPER.id, 0, caption="")
    markdown = "| Budget | Budget | Budget |\n| :--- | ---: | --- |\n| Crew \\| cook | 820 |  |\n| Fuel | -145 | 145 |"
    assert few_words(replace(table, content=markdown)) == "Budget, Crew | cook, 820, Fuel, -145, 145"
    assert few_words(replace(table, content="Item 7\nItem 8")) == "Item 7, Item 8"
    assert few_words(replace(table, content="| --- |", summary="what it costs")) == "what it costs"
    assert few_words(a_node(PAPER.id, 0, "text | with | pipes")) == "text | with | pipes"


def test_numbers_have_three_decimals_at_most_small_ones_six_and_never_powers_of_ten():
    shown = {0.0: "0", 0.5: "0.5", 0.12345: "0.123", 12345.6: "12345.6", 0.00004: "0.00004", 3: "3"}
    assert {value: HTML.from_string("{{ value }}").render(value=value) for value in shown} == shown
