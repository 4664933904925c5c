"""The head of the report: the answer, its status and why, and the numbered citations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from storage.answer_records import Answer, AnswerStatus, Citation
from tasks.report.evidence import Evidence
from tasks.report.markup import Markup, join, tag
from tasks.report.wording import GONE, cut, place_line, why_gone
from tasks.verdict import STATUS_WORDS, head_of, words_of

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
