"""The figures of an answer: candidate pages, what the gate saw, what it cost, under which settings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storage.answer_records import Answer, GateReport, RankedPage, Usage
from tasks.judging import told_money
from tasks.report.evidence import Evidence, PageKey
from tasks.report.markup import Markup, escape, join, tag
from tasks.report.wording import bar, cut, figure, numbers_line, place_line

EDITS_SHOWN = 20
PAGES_UNFOLDED = 10
VALUE_LETTERS = 400


def list_pages(answer: Answer, evidence: Evidence, most: int) -> Markup:
    """Return the candidate pages, ranked; those where paths stand and those that are cited say so."""
    cited: dict[PageKey, list[int]] = {}
    for number, citation in enumerate(answer.citations, 1):
        cited.setdefault((citation.document.id, citation.page), []).append(number)
    on_path = {(place.document.id, place.page) for place in answer.evidence_pages}
    best = max((page.score for page in answer.pages), default=0.0)
    rows = [_page(page, evidence, best, cited, on_path) for page in answer.pages[:most]]
    more = len(answer.pages) - most
    said = "1 more page was a candidate and is" if more == 1 else f"{more:,} more pages were candidates and are"
    note = [tag("p", f"{said} not listed.", class_="remark")] if more > 0 else []
    first, others = rows[:PAGES_UNFOLDED], rows[PAGES_UNFOLDED:]
    if others:
        listed = tag("ol", *others, class_="ranking", start=PAGES_UNFOLDED + 1)
        note = [tag("details", tag("summary", f"The next {len(others)}" if len(others) > 1 else "One more"), listed, *note)]
    return tag("div", tag("ol", *first, class_="ranking"), *note)


def _page(
    page: RankedPage, evidence: Evidence, best: float, cited: Mapping[PageKey, Sequence[int]], on_path: set[PageKey]
) -> Markup:
    key = (page.document.id, page.page)
    says = []
    if key in cited:
        says.append(tag("span", f"cited {numbers_line(cited[key])}", class_="tag cited"))
    if key in on_path:
        says.append(tag("span", "on a path", class_="tag"))
    share = page.score / best if best > 0 else 0.0
    where = tag("span", place_line(evidence, page.document.id, page.document.name, page.page), " ", join(says, " "), class_="where")
    return tag(
        "li",
        where,
        tag("span", bar(share, f"score {figure(page.score)}"), tag("span", f"{page.score:.3f}", class_="amount"), class_="score"),
    )


def show_gate(gate: GateReport | None, settings: Mapping[str, Any]) -> Markup:
    """Return what the gate saw, against the thresholds that the settings name, and what was done about it."""
    if gate is None:
        return tag("p", "This reader has no gate.", class_="remark")
    thresholds = settings.get("gate", {})
    known = thresholds if isinstance(thresholds, Mapping) else {}
    rows = [
        _measure("Consistency", "how far the answers of the paths agree", gate.consistency, known.get("consistency")),
        _measure("Saturation", "how much of the flow that was asked for fits", gate.saturation, known.get("saturation")),
    ]
    fired = f"It fired: {gate.triggered}." if gate.triggered else "It stayed quiet: the first pass is the answer."
    return join([tag("dl", *rows, class_="measures"), tag("p", fired), *_edits(gate)])


def _measure(name: str, means: str, value: float, threshold: object) -> Markup:
    fires = f"fires below {figure(threshold)}" if isinstance(threshold, int | float) else ""
    return tag(
        "div",
        tag("dt", name, " ", tag("small", means)),
        tag("dd", bar(value, f"{name} {figure(value)}"), tag("strong", figure(value)), " ", tag("small", fires)),
    )


def _edits(gate: GateReport) -> Iterator[Markup]:
    if not gate.edits:
        return
    items = [
        tag(
            "li",
            f"{edit.kind}: {edit.source[:8]}",
            f" to {edit.target[:8]}" if edit.target else "",
            f", {figure(edit.before)} became {figure(edit.after)}",
        )
        for edit in gate.edits[:EDITS_SHOWN]
    ]
    if len(gate.edits) > EDITS_SHOWN:
        items.append(tag("li", f"and {len(gate.edits) - EDITS_SHOWN} more"))
    yield tag("details", tag("summary", f"{len(gate.edits)} edits of the network"), tag("ul", *items, class_="edits"))


def show_cost(usage: Usage) -> Markup:
    """Return what the answer cost: calls, tokens, money, and the seconds of each step."""
    total = sum(usage.seconds.values())
    figures = (
        ("Seconds", figure(total)),
        ("Model calls", f"{usage.calls:,}"),
        *([("At most", f"{usage.most_calls:,}"), ("From the cache", f"{usage.cached:,}")] if usage.most_calls else []),
        ("Tokens in", f"{usage.input_tokens:,}"),
        ("Tokens out", f"{usage.output_tokens:,}"),
        ("Money", told_money(usage.cost)),
    )
    tiles = tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in figures), class_="tiles")
    steps = [
        tag(
            "li",
            tag("span", step),
            tag(
                "span",
                bar(seconds / total if total else 0.0, f"{figure(seconds)} s"),
                tag("span", f"{figure(seconds)} s", class_="amount"),
                class_="score",
            ),
        )
        for step, seconds in usage.seconds.items()
    ]
    return join([tiles, tag("ol", *steps, class_="steps")] if steps else [tiles])


def show_settings(answer: Answer) -> Markup:
    facts = {
        "answer": answer.answer_id,
        "asked": answer.asked,
        "reader": answer.reader,
        "corpus": answer.corpus,
        "snapshot": answer.snapshot,
    }
    parts: list[tuple[str, Mapping[str, Any]]] = [
        ("Answer", facts), ("Scope", answer.scope), ("Models", answer.models), ("Settings", answer.settings)
    ]  # fmt: skip
    return join(tag("section", tag("h3", title), _pairs(values), class_="facts") for title, values in parts if values)


def _pairs(values: Mapping[str, Any]) -> Markup:
    rows = (
        tag("div", tag("dt", cut(name, VALUE_LETTERS)), tag("dd", cut(value, VALUE_LETTERS), dir="auto"))
        for name, value in _flat(values, "")
    )
    return tag("dl", *rows, class_="pairs")


def _flat(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{name}", ", ".join(map(str, value)) or "all"
        elif value is not None:
            yield f"{prefix}{name}", str(value)


def show_notes(notes: Sequence[str], left_out: Sequence[str]) -> Markup:
    if not notes and not left_out:
        return escape("")
    shown = [*notes, *(f"Left out: {words}." for words in left_out)]
    return tag("ul", *(tag("li", note, dir="auto") for note in shown), class_="notes")
