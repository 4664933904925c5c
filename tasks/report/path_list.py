"""The evidence paths in words: what each carried, where it leads, what its reader said."""

from __future__ import annotations

from collections.abc import Sequence

from storage.answer_records import EvidencePath
from storage.records import Modality
from tasks.report.evidence import Evidence
from tasks.report.markup import Markup, join, tag
from tasks.report.wording import GONE, REMOVED, cut, few_words, figure, place_line, why_gone

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
