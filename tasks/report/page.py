"""The page: the parts of the report put together, under a policy that lets nothing in from elsewhere."""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from storage.records.answers import Answer, AnswerStatus, Citation, EvidencePath
from tasks.reading.judging import STATUS_WORDS, money_in_words, words_of
from tasks.report import graph, sheets, wording
from tasks.report.evidence import PAGES_LISTED, PATHS_SHOWN, ReportEvidence, cited_pages

STYLE = Path(__file__).with_name("style.css")
STATUS_SIGNS = {
    AnswerStatus.ANSWERED: "✓",
    AnswerStatus.PARTIAL: "◐",
    AnswerStatus.EVIDENCE: "❝",
    AnswerStatus.NOT_FOUND: "○",
}
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    extensions=["jinja2.ext.do"],
    finalize=wording.shown,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
"""Whatever they are given is text, escaped as it enters the page."""
CITED_IN_TEXT = re.compile(r"\[([0-9]{1,4})\]")


def show_page(answer: Answer, evidence: ReportEvidence) -> str:
    style = Markup("\n".join([STYLE.read_text("utf-8"), sheets.box_rules(evidence.sheets), link_rules(len(answer.citations))]))
    return TEMPLATES.get_template("page.html").render(style=style, policy=_policy(style), **parts_of(answer, evidence))


def parts_of(answer: Answer, evidence: ReportEvidence) -> dict[str, Any]:
    """Return what the parts of the page are made of."""
    walked = [path for path in answer.paths if path.nodes]
    return {
        "answer": answer,
        "evidence": evidence,
        "paths": walked[:PATHS_SHOWN],
        "more_paths": len(walked[PATHS_SHOWN:]),
        "drawing": graph.drawing_of(walked[:PATHS_SHOWN], evidence, answer.citations),
        "pages_cited": {key: [number for number, _ in cited] for key, cited in cited_pages(answer.citations).items()},
        "pages_walked": {(place.document.id, place.page) for place in answer.evidence_pages},
        "best_score": max((page.score for page in answer.pages), default=0.0),
        "facts": _facts(answer),
    }


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


def _facts(answer: Answer) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    facts = {name: getattr(answer, name) for name in ("asked", "reader", "corpus", "snapshot")}
    return (
        ("Answer", {"answer": answer.answer_id} | facts),
        ("Scope", answer.scope),
        ("Models", answer.models),
        ("Settings", answer.settings),
    )


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{name}", ", ".join(map(str, value)) or "all"
        elif value is not None:
            yield f"{prefix}{name}", str(value)


def remark_on(citation: Citation, evidence: ReportEvidence, *, quoted: bool) -> str:
    """Say what is missing: the words, or in the corpus of today what they stand in."""
    if not evidence.holds(citation.document):
        return wording.why_gone(evidence, citation.document, quoted=quoted)
    if not quoted:
        return "No words are quoted here."
    return "" if citation.node_id in evidence.nodes else wording.GONE


def answer_of(path: EvidencePath, evidence: ReportEvidence) -> str:
    return wording.REMOVED if any(page.document.id in evidence.removed for page in path.pages) else path.answer


def why_lost(path: EvidencePath, place: int, evidence: ReportEvidence) -> str:
    lost = [page.document for page in path.pages[place : place + 1] if not evidence.holds(page.document)]
    return wording.why_gone(evidence, lost[0], quoted=bool(path.answer)) if lost else wording.GONE


TEMPLATES.globals |= {
    "CARD_HEIGHT": graph.CARD_HEIGHT,
    "CITED_IN_TEXT": CITED_IN_TEXT,
    "EDITS_SHOWN": 20,
    "GONE": wording.GONE,
    "LETTER": graph.LETTER,
    "PAGES_LISTED": PAGES_LISTED,
    "PAGES_UNFOLDED": 10,
    "REMOVED": wording.REMOVED,
    "SCREEN_WIDTH": graph.SCREEN_WIDTH,
    "STATUS_SIGNS": STATUS_SIGNS,
    "STATUS_WORDS": STATUS_WORDS,
    "TERMINAL_WIDTH": graph.TERMINAL_WIDTH,
    "VALUE_LETTERS": 400,
} | {
    use.__name__: use
    for use in (
        *(graph.curve_of, graph.draw_ribbons, graph.frame_of, graph.terminal),
        *(sheets.citation_targets, sheets.marked, sheets.place_badges, sheets.rows_shown, sheets.table_of, sheets.title_of),
        *(wording.cut, wording.few_words, wording.figure, wording.numbers_line, wording.percent, wording.wrap),
        *(answer_of, flat, money_in_words, remark_on, why_lost, words_of),
    )
}
