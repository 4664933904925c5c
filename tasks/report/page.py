"""The page: the parts of the report put together, under a policy that lets nothing in from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path

from storage.answer_records import Answer
from tasks.report.accounts import list_pages, show_cost, show_gate, show_notes, show_settings
from tasks.report.answer_part import show_answer, show_citations, show_verdict
from tasks.report.evidence import Evidence
from tasks.report.evidence_graph import draw_graph, numbers_by_node
from tasks.report.markup import Markup, fill, join, tag
from tasks.report.path_list import list_paths
from tasks.report.report_settings import ReportSettings
from tasks.report.sheets import box_rules, citation_targets, show_sheets
from tasks.report.wording import cut

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
