"""The page: the parts of the report put together, under a policy that lets nothing in from elsewhere."""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from storage.answer_records import Answer, AnswerStatus, Citation, EvidencePath
from storage.records import Modality
from tasks.judging import STATUS_WORDS, head_of, words_of
from tasks.report.accounts import list_pages, show_cost, show_gate, show_notes, show_settings
from tasks.report.evidence import Evidence
from tasks.report.evidence_graph import draw_graph, draw_lying, numbers_by_node
from tasks.report.markup import Markup, fill, join, tag
from tasks.report.report_settings import ReportSettings
from tasks.report.sheets import box_rules, citation_targets, show_sheets
from tasks.report.wording import GONE, REMOVED, cut, few_words, figure, place_line, why_gone

PAGE = Path(__file__).with_name("page.html")
STYLE = Path(__file__).with_name("style.css")
TITLE_LETTERS = 80
LONG_QUESTION = 280


def show_page(answer: Answer, evidence: Evidence, settings: ReportSettings) -> Markup:
    """Return the whole HTML page."""
    style = Markup("\n".join([STYLE.read_text("utf-8"), box_rules(evidence.sheets), link_rules(len(answer.citations))]))
    stamp = join(
        [tag("time", answer.asked[:16].replace("T", " "), datetime=answer.asked), tag("span", f"corpus {answer.corpus}")], " · "
    )
    return fill(
        PAGE,
        policy=_policy(style),
        title=f"{cut(answer.question, TITLE_LETTERS)} · FlowReader",
        style=style,
        stamp=stamp,
        question=tag(
            "h1", answer.question, id="question", dir="auto", class_="long" if len(answer.question) > LONG_QUESTION else None
        ),
        answer=show_answer(answer),
        verdict=show_verdict(answer),
        notes=show_notes(answer.notes, evidence.left_out),
        sections=join(_sections(answer, evidence, settings)),
        settings=show_settings(answer),
    )


def _policy(style: str) -> str:
    """Return the content security policy: pictures inside the page, this one style, no script, no address."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def link_rules(citations: int) -> str:
    """Return the rules that light up a citation's box while the pointer is on the citation, and the other way round."""
    return "\n".join(
        f"main:has(#citation-{number}:hover) [data-citations~='{number}']{{--wash:var(--lit-wash)}}"
        f"main:has([data-citations~='{number}']:hover) #citation-{number}{{background:var(--card)}}"
        for number in range(1, citations + 1)
    )


def _sections(answer: Answer, evidence: Evidence, settings: ReportSettings) -> Iterator[Markup]:
    if answer.citations:
        citations = show_citations(answer.citations, evidence, citation_targets(evidence.sheets))
        sheets = tag("div", show_sheets(evidence, answer.citations, settings), class_="sheets")
        yield _section("evidence", "Evidence", tag("div", citations, *([sheets] if evidence.sheets else []), class_="desk"))
    if any(path.nodes for path in answer.paths):
        yield _section("routing", "How the evidence was routed", *_routing(answer, evidence, settings))
    if answer.pages:
        yield _section("pages", "Candidate pages", list_pages(answer, evidence, settings.candidate_pages))
    gate = tag("section", tag("h2", "Gate", id="gate-title"), show_gate(answer.gate, answer.settings), aria_labelledby="gate-title")
    cost = tag("section", tag("h2", "Cost", id="cost-title"), show_cost(answer.usage), aria_labelledby="cost-title")
    yield tag("div", gate, cost, class_="pair")


def _section(name: str, title: str, *content: str) -> Markup:
    return tag("section", tag("h2", title, id=f"{name}-title"), *content, class_=f"part {name}", aria_labelledby=f"{name}-title")


def _routing(answer: Answer, evidence: Evidence, settings: ReportSettings) -> Iterator[Markup]:
    """Yield the graph with a line that tells how to read it, and the paths in words."""
    walked = [path for path in answer.paths if path.nodes]
    paths = walked[: settings.paths]
    yield tag(
        "p",
        "Evidence flows from what is nearest to the question to what is most likely to hold the answer. The wider the line, "
        "the more flow; a dashed line supports no answer. Numbers are citations.",
        class_="lead",
    )
    yield draw_graph(paths, evidence, numbers_by_node(answer.citations))
    more = len(walked) - len(paths)
    words = f"{len(paths)} paths in words" if len(paths) > 1 else "The path in words"
    note = [tag("p", f"{more} weaker paths are not shown.", class_="remark")] if more else []
    yield tag("details", tag("summary", words), list_paths(paths, evidence), *note)


STATUS_SIGNS = {
    AnswerStatus.ANSWERED: "✓",
    AnswerStatus.PARTIAL: "◐",
    AnswerStatus.EVIDENCE: "❝",
    AnswerStatus.NOT_FOUND: "○",
}
QUOTE_LETTERS = 1500
CITED_IN_TEXT = re.compile(r"\[([0-9]{1,4})\]")


def show_verdict(answer: Answer) -> Markup:
    """Return the status, and why it is so."""
    sign, words = STATUS_SIGNS[answer.status], STATUS_WORDS[answer.status].capitalize()
    return tag(
        "div",
        tag("p", tag("span", sign, aria_hidden="true"), f" {words}", class_=f"status {answer.status.value}"),
        tag("p", answer.why, class_="why", dir="auto"),
        class_="verdict",
    )


def show_answer(answer: Answer) -> Markup:
    """Return the answer's paragraphs; "[2]" in it leads to the second citation, where there is one."""
    head = [tag("p", found, class_="head")] if (found := head_of(answer)) else []
    paragraphs = [part.strip() for part in words_of(answer).split("\n\n") if part.strip()]
    return join([*head, *(tag("p", *_linked(part, len(answer.citations)), dir="auto") for part in paragraphs)])


def _linked(text: str, citations: int) -> Iterator[str]:
    at = 0
    for found in CITED_IN_TEXT.finditer(text):
        if 1 <= int(found[1]) <= citations:
            yield text[at : found.start()]
            yield tag("a", found[1], class_="number", href=f"#citation-{int(found[1])}", aria_label=f"Citation {int(found[1])}")
            at = found.end()
    yield text[at:]


def show_citations(citations: Sequence[Citation], evidence: Evidence, targets: Mapping[int, str]) -> Markup:
    """Return the numbered citations: the quoted words and where they stand."""
    return tag(
        "ol", *(_citation(number, cited, evidence, targets) for number, cited in enumerate(citations, 1)), class_="citations"
    )


def _citation(number: int, citation: Citation, evidence: Evidence, targets: Mapping[int, str]) -> Markup:
    target = targets.get(number)
    badge = (
        tag("a", str(number), class_="number", href=f"#{target}", aria_label=f"Show citation {number} in its place")
        if target
        else tag("span", str(number), class_="number")
    )
    quote = "" if citation.document.id in evidence.removed else citation.quote
    remark = _remark(citation, evidence, quoted=bool(quote))
    where = place_line(evidence, citation.document.id, citation.document.name, citation.page, citation.section)
    place, told = tag("p", where, class_="place"), [tag("p", remark, class_="remark")] if remark else []
    shown = [tag("blockquote", cut(quote, QUOTE_LETTERS), dir="auto"), place, *told] if quote else [*told, place]
    return tag("li", badge, tag("div", *shown), id=f"citation-{number}")


def _remark(citation: Citation, evidence: Evidence, *, quoted: bool) -> str:
    """Say what is missing: the words, or in the corpus of today what they stand in."""
    if not evidence.holds(citation.document):
        return why_gone(evidence, citation.document, quoted=quoted)
    if not quoted:
        return "No words are quoted here."
    return "" if citation.node_id in evidence.nodes else GONE


WORDS_OF_A_NODE = 220
WORDS_OF_A_READER = 600


def list_paths(paths: Sequence[EvidencePath], evidence: Evidence) -> Markup:
    """Return the paths as a list; the first place where a node is named carries its id."""
    ids = list(dict.fromkeys(node for path in paths for node in path.nodes))
    named: set[str] = set()
    return tag("ol", *(_path(path, evidence, ids, named) for path in paths), class_="paths")


def _path(path: EvidencePath, evidence: Evidence, ids: Sequence[str], named: set[str]) -> Markup:
    nodes = []
    for place, node in enumerate(path.nodes):
        mark = None if node in named else f"node-{ids.index(node) + 1}"
        named.add(node)
        nodes.append(tag("li", _node(path, place, evidence), id=mark))
    figures = tag("p", f"flow {figure(path.flow)} · quality {figure(path.quality)} · share {figure(path.share)}", class_="figures")
    said = REMOVED if any(page.document.id in evidence.removed for page in path.pages) else path.answer
    verdict = (
        tag("p", tag("strong", "Read: "), cut(said, WORDS_OF_A_READER), class_="said-by-reader", dir="auto")
        if said
        else tag("p", "Supports no answer.", class_="remark")
    )
    return tag("li", figures, tag("ol", *nodes, class_="chain"), verdict)


def _node(path: EvidencePath, place: int, evidence: Evidence) -> Markup:
    node = evidence.nodes.get(path.nodes[place])
    if node is None:
        lost = [page.document for page in path.pages[place : place + 1] if not evidence.holds(page.document)]
        said = why_gone(evidence, lost[0], quoted=bool(path.answer)) if lost else GONE
        return tag("span", said, class_="remark")
    kind = "" if node.modality is Modality.TEXT else f"{node.label or node.modality.value.capitalize()} · "
    where = place_line(evidence, node.document_id, evidence.name(node.document_id), node.page)
    words = tag("bdi", cut(few_words(node), WORDS_OF_A_NODE) or "without words", class_="node-words")
    return join([tag("span", kind, where, class_="place"), words], " ")


OPENING = "<svg "
# What a page says of its own size hides one of its two drawings; the picture has but one, on a ground of its own.
ALONE = "svg.lying{display:block;background:var(--ground);font:400 16px/1.5 var(--sans);color:var(--ink)}"


def draw_picture(answer: Answer, evidence: Evidence, settings: ReportSettings) -> str:
    """Return the graph of the strongest paths as an SVG file's text, "" where no path was walked."""
    paths = [path for path in answer.paths if path.nodes][: settings.paths]
    if not paths:
        return ""
    drawing = draw_lying(paths, evidence, numbers_by_node(answer.citations)).removeprefix(OPENING)
    opening, rest = drawing.split(">", 1)
    style = STYLE.read_text("utf-8").replace("<", "")
    return f'{OPENING}xmlns="http://www.w3.org/2000/svg" {opening}><style><![CDATA[{style}\n{ALONE}]]></style>{rest}'
