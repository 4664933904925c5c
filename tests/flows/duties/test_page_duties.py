"""What the calls of LAD-RAG, DMAP and MoLoRAG are sent of a question: outlines and looks as text, the right pages as pictures."""

import re

import pytest

from storage.records.documents import Modality
from tests.flows.duties.worlds import FACT, FIGURES, PAGES, SCAN, fact_of, forms_of, quote_first
from tests.flows.readers.lengths import turn
from tests.scripted_answers import Reader, passages_of, pieces_of, question_of, whole_answer

pytestmark = pytest.mark.torture
MOST = 3
"""Pages that `walk` reads, K."""


def pieces(request):
    return dict(pieces_of(request))


def pages_of(papers, request):
    return {f"page {node.page}" for node in papers.passages(request)}


def in_full(request):
    return quote_first(request, whole=True)


LOOKS = (
    {"tool": "query", "where": [{"field": "kind", "op": "is", "value": "figure"}]},
    {"tool": "search", "words": "sick leave, orders"},
)
CHARTS = "What do the charts show, and how much was delivered?"


def lines_of_looks(request):
    """Return the lines of all looks of a turn, by the ids that may be kept."""
    looks = [text for heading, text in pieces_of(request) if heading.startswith("look ")]
    return {line.partition(":")[0]: line for text in looks for line in text.splitlines() if re.match(r"n\d+: ", line)}


@pytest.fixture(scope="module")
def turns(papers):
    """Two looks; then one chart and what was scanned are kept, and what was seen of other pages is not."""

    def choose(request):
        taken = sum(heading.startswith("look ") for heading in pieces(request)) - 1
        if taken < len(LOOKS):
            return turn(**LOOKS[taken])
        lines = lines_of_looks(request)
        chart = next(name for name, line in lines.items() if line.startswith(f"{name}: figure"))
        scanned = [name for name, line in lines.items() if f", {SCAN}" in line]
        return turn(keep=[chart, *scanned]) if pieces(request)["kept so far"] == "nothing" else turn()

    sent, answer = papers.ask("lad", CHARTS, Reader({}, instead={"Turn": choose, "PathAnswer": in_full}))
    return forms_of(sent, "Turn"), forms_of(sent, "PathAnswer"), answer


def test_a_turn_is_shown_the_outline_all_looks_so_far_as_summaries_and_what_is_kept(papers, turns):
    taken, _read, _answer = turns
    titles = {node.content for node in papers.nodes if node.kind == "title"}
    for place, request in enumerate(taken):
        assert question_of(request) == CHARTS and not request.images and FACT not in request.text
        outline = pieces(request)["the documents"]
        assert "mixed.pdf, 5 pages" in outline and all(title in outline for title in titles)
        assert sum(heading.startswith("look ") for heading in pieces(request)) == place + 1
        assert pieces(request)["kept so far"] == "nothing"
    first, queried, searched, *_ = taken
    assert CHARTS in pieces(first)["look 1"] and "look 2" not in pieces(first)
    figures = [node for node in papers.nodes if node.modality is Modality.FIGURE]
    assert [line.count(": figure, ") for line in [pieces(queried)["look 2"]]] == [len(figures)] == [3]
    assert all(figure.label in pieces(queried)["look 2"] for figure in figures)
    assert f", {SCAN}" in pieces(searched)["look 3"] and pieces(searched)["look 2"] == pieces(queried)["look 2"]


def test_what_was_kept_is_read_in_one_call_by_the_pictures_of_its_pages_and_of_no_other(papers, turns):
    taken, (read,), answer = turns
    seen = {page for line in lines_of_looks(taken[-1]).values() for page in PAGES if f", {page}" in line}
    assert seen > {FIGURES, SCAN} == pages_of(papers, read), "more was looked at than kept"
    assert sorted(papers.pictures_of(read)) == [FIGURES, SCAN] and question_of(read) == CHARTS
    assert {f"page {place['page']}" for place in answer["evidence_pages"]} == {FIGURES, SCAN}
    assert sum(node.modality is Modality.FIGURE for node in papers.passages(read)) == 1, "and the passages are those that were kept"
    assert answer["answer"]


ABOUT = "What does Figure 3 say of the error of FOULCAST?"


def lines_of(request, piece):
    """Return the lines of a map, by their ids."""
    return {line.partition(":")[0].strip(): line for line in pieces(request)[piece].splitlines()}


def ids_of_looks(request):
    return pieces(request)["looked at already"].split(", ")


@pytest.fixture(scope="module")
def search(papers):
    """The page of the charts is located; nothing is answered yet, and the model looks where nobody did."""

    def elsewhere(request):
        left = [name for name in lines_of(request, "pages") if name not in ids_of_looks(request)]
        return {"reason": "", "answered": False, "look_at": left[:1]}

    model = Reader(
        {},
        instead={
            "Located": {"thought": "", "places": ["p1"]},
            "PathAnswer": quote_first,
            "Reflected": elsewhere,
            "WholeAnswer": whole_answer("", kind="none"),
        },
    )
    sent, answer = papers.ask("dmap", ABOUT, model)
    (reflected,) = forms_of(sent, "Reflected")
    before = [request for request in forms_of(sent, "PathAnswer") if request.number < reflected.number]
    after = [request for request in forms_of(sent, "PathAnswer") if request.number > reflected.number]
    assert sent[0].form == "Located" and all(question_of(request) == ABOUT for request in sent)
    return {"map": sent[0], "before": before, "reflected": reflected, "after": after, "last": sent[-1], "answer": answer}


def test_the_locator_sees_the_outline_and_the_summary_of_every_page_with_its_figures_and_tables(papers, search):
    request = search["map"]
    sections, pages = lines_of(request, "sections"), lines_of(request, "pages")
    titles = [node for node in papers.nodes if node.kind == "title"]
    for title in titles:
        assert any(f"{title.content}, page" in line for line in sections.values())
    assert list(pages) == ["p1", "p2", "p3", "p4", "p5"] and all(len(line) > len("p1: page 1: ") for line in pages.values())
    for node in papers.nodes:
        if node.modality is not Modality.TEXT:
            holding = [name for name, line in pages.items() for _ in re.findall(rf"\be\d+ {node.label}\b", line)]
            assert holding == [f"p{node.page}"], "each once, though its caption has its label, too"
    assert not request.images and FACT not in request.text


def test_the_text_agent_reads_the_words_of_the_located_page_and_the_image_agent_sees_it(papers, search):
    of_page = {node.ordinal for node in papers.nodes if f"page {node.page}" == FIGURES and node.modality is Modality.TEXT}
    reading = [{node.ordinal for node in papers.passages(request)} for request in search["before"]]
    seeing = [FIGURES in papers.pictures_of(request) for request in search["before"]]
    assert seeing.count(True) == 1 and seeing.count(False) >= 1
    assert of_page <= {node for nodes, sees in zip(reading, seeing, strict=True) for node in nodes if not sees}
    (image,) = [nodes for nodes, sees in zip(reading, seeing, strict=True) if sees]
    figures = {node.ordinal for node in papers.nodes if f"page {node.page}" == FIGURES and node.modality is not Modality.TEXT}
    assert figures <= image
    read = {page for request in search["before"] for page in pages_of(papers, request)}
    for request in search["before"]:
        shown = papers.pictures_of(request)
        assert {*shown} <= read < {*PAGES} and len({*shown}) == len(shown) and FACT not in request.text


def test_who_reflects_sees_the_answers_with_their_quotes_and_the_map_but_none_of_the_passages(papers, search):
    request = search["reflected"]
    readers = [text for heading, text in pieces_of(request) if heading.startswith("reader ")]
    assert [
        f"Answer: {quote_first(reading)['answer']}" in text for reading, text in zip(search["before"], readers, strict=True)
    ] == [True] * len(search["before"])
    assert not request.images and not passages_of(request) and not papers.nodes_in("\n".join(readers))
    assert lines_of(request, "pages") == lines_of(search["map"], "pages")
    read = {page for reading in search["before"] for page in pages_of(papers, reading)}
    assert {f"page {name[1:]}" for name in ids_of_looks(request) if name.startswith("p")} == read


def test_what_it_looks_at_next_is_the_page_that_it_names_alone(papers, search):
    read = {page for reading in search["before"] for page in pages_of(papers, reading)}
    (left,) = {*PAGES} - read
    assert search["after"]
    for request in search["after"]:
        assert pages_of(papers, request) == {left} and {*papers.pictures_of(request)} <= {left} and FACT not in request.text


def test_the_summarizer_has_the_answers_of_all_agents(search):
    reports = [text for heading, text in pieces_of(search["last"]) if heading.startswith("path ")]
    readings = [*search["before"], *search["after"]]
    for reading, text in zip(readings, reports, strict=True):
        assert f"Answer: {quote_first(reading)['answer']}" in text and fact_of(reading) in text


PARAMETERS = "What do the references and the highlights of the quarter have in common?"
RATED = {"page 4": 5, SCAN: 5}
"""All other pages are rated 1."""


@pytest.fixture(scope="module")
def walk(papers):
    def rate(request):
        ((heading, _text),) = pieces_of(request)
        return {"needed": "", "relevance": RATED.get(heading, 1)}

    sent, answer = papers.ask("molorag", PARAMETERS, Reader({}, instead={"RatedPage": rate, "PathAnswer": in_full}))
    return forms_of(sent, "RatedPage"), sent[-1], answer


def test_a_page_is_rated_by_its_own_picture_and_its_own_text_each_once(papers, walk):
    rated, _read, answer = walk
    names = [heading for request in rated for heading, _text in pieces_of(request)]
    assert len(names) == len({*names}) == len(rated) == answer["usage"]["counts"]["pages rated"] > MOST
    for request, name in zip(rated, names, strict=True):
        assert papers.pictures_of(request) == [name] and question_of(request) == PARAMETERS
        inside = papers.nodes_in(request.text)
        assert inside and {f"page {papers.nodes[node].page}" for node in inside} == {name}, "nothing of a neighbour"
        assert {node.ordinal for node in papers.nodes if f"page {node.page}" == name} >= inside


def test_the_best_pages_are_read_in_one_call_by_their_pictures_and_none_beyond_them(papers, walk):
    rated, read, answer = walk
    assert read.form == "PathAnswer" and read.number == len(rated) + 1
    shown = papers.pictures_of(read)
    assert len(shown) == len({*shown}) == MOST and {*RATED} < {*shown} == pages_of(papers, read)
    assert shown == [f"page {place['page']}" for place in answer["evidence_pages"]]
    beyond = {node.ordinal for node in papers.nodes if f"page {node.page}" not in shown}
    assert beyond and not papers.nodes_in(read.text) & beyond and question_of(read) == PARAMETERS
