"""Summary, keywords and search text of nodes and pages, by rules (eq. 11 without a model; A.1 and A.2)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from storage.records.documents import Modality, Node, NodeKind, Page, TableRow
from tasks.algorithms.layout.boxes import FURNITURE_KINDS
from tasks.algorithms.text.keywords import document_phrases, keywords_of
from tasks.algorithms.text.summaries import is_meaningless_text, summarize
from tasks.algorithms.text.words import first_words, sentences_of, tokens_of, word_rarity
from tasks.settings.ingest import AnalysisSettings

NO_MEANING = "No meaningful information"
"""The summary of a node without meaning, word for word what the papers' prompt asks for."""

SIGNS_EXPECTED = frozenset({NodeKind.FORMULA, NodeKind.CODE, NodeKind.TABLE, NodeKind.FIGURE})
INDEX = re.compile(
    r"\W{0,3}((?:figure|fig\.?|table|tab\.?|chart|exhibit|box|map|plate|graph|diagram|scheme|abbildung|abb\.?|tabelle|tableau|figura|tabla|图|表)"
    r"\s*[A-Z]?\d+(?:[.\-]\d+)*[a-z]?)(?![A-Za-z0-9])[\s.:|\u2013\u2014-]*",
    re.IGNORECASE,
)
EMBEDDED_WORDS = 200
"""The embedder reads about 256 word pieces; what comes later would be cut unseen."""

LABELLED_ROWS = 40
"""Row labels taken up in the keywords and the vector of a table."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """The cells of a table: the header's, and the other rows'."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The first filled cell of each of the first rows."""
        firsts = (next((cell for cell in row if cell), "") for row in self.rows[:LABELLED_ROWS])
        return tuple(dict.fromkeys(filter(None, firsts)))


def analyze_nodes(*, nodes: Sequence[Node], rows: Sequence[TableRow], settings: AnalysisSettings) -> tuple[Node, ...]:
    """Fill summary, keywords, search text and `meaningless` of all nodes of one document; everything else stays.

    The rarity of a word is counted over them; a table without `rows` is read from its Markdown.
    """
    grids = _grids(nodes, rows)
    texts = [_keyword_text(node, grids.get(node.id)) for node in nodes]
    tokens = [tokens_of(text) for text in texts]
    rarity = word_rarity([frozenset(token.lower() for token in part) for part in tokens])
    phrases = document_phrases(tokens)
    analyzed: list[Node] = []
    for node, node_tokens in zip(nodes, tokens, strict=True):
        search_text = "\n".join(_distinct([*node.section_path, node.caption, node.content, node.picture_text]))
        if _is_meaningless(node):
            analyzed.append(replace(node, summary=NO_MEANING, keywords=(), search_text=search_text, meaningless=True))
            continue
        titles = frozenset(token.lower() for title in node.section_path for token in tokens_of(title) if token.isalnum())
        keywords = keywords_of(tokens=node_tokens, rarity=rarity, phrases=phrases, title_words=titles, limit=settings.keywords)
        summary = _summary(node, grids.get(node.id), rarity, titles, settings.summary_words)
        analyzed.append(replace(node, summary=summary, keywords=keywords, search_text=search_text, meaningless=False))
    return tuple(analyzed)


def summarize_pages(*, pages: Sequence[Page], nodes: Sequence[Node], settings: AnalysisSettings) -> tuple[Page, ...]:
    """Fill the summary of every page: its titles, then the best of its nodes' summaries; nodes must be analyzed.

    A page without a meaningful node says so in the words of `NO_MEANING`.
    """
    by_page: dict[int, list[Node]] = {}
    for node in nodes:
        if not node.meaningless:
            by_page.setdefault(node.page, []).append(node)
    rarity = word_rarity([frozenset(token.lower() for token in tokens_of(node.summary)) for node in nodes])
    return tuple(
        replace(page, summary=_page_summary(by_page.get(page.number, []), rarity, settings.summary_words)) for page in pages
    )


def embedding_text(node: Node, mode: Literal["content", "paper"]) -> str:
    """Return what is embedded of an analyzed node, no longer than the embedder reads.

    "paper" is eq. 12, the summary and the keywords. "content" is the last two section titles, the caption, the content and the
    words in the picture; a table gives its header, row labels and first rows. Never empty: at worst it is the summary.
    """
    if mode == "paper":
        return f"{node.summary} keywords: {', '.join(node.keywords)}"
    content = [_table_text(_markdown_grid(node.content))] if node.modality is Modality.TABLE else [node.content, node.picture_text]
    return first_words("\n".join(_distinct([*node.section_path[-2:], node.caption, *content])), EMBEDDED_WORDS) or node.summary


def with_index(summary: str, node: Node) -> str:
    """Return the summary, that of a figure or table beginning with its index where it has one (A.2)."""
    if node.modality is Modality.TEXT:
        return summary
    match = INDEX.match(node.caption)
    index = match[1] if match else node.label
    return summary if summary.casefold().startswith(index.casefold()) else f"{index} - {summary}"


def _page_summary(nodes: Sequence[Node], rarity: Mapping[str, float], words: int) -> str:
    if not nodes:
        return NO_MEANING
    titles = _distinct(node.content for node in nodes if node.kind is NodeKind.TITLE)
    sentences = [node.summary for node in nodes if node.kind is not NodeKind.TITLE]
    heading = first_words("; ".join(titles), words // 2)
    title_words = frozenset(token.lower() for token in tokens_of(heading))
    body = summarize(sentences=sentences, rarity=rarity, title_words=title_words, words=words - len(heading.split()))
    return ": ".join(filter(None, (heading, body)))


def _is_meaningless(node: Node) -> bool:
    if node.kind in FURNITURE_KINDS:
        return True
    title = node.section_path[-1] if node.section_path and node.kind is not NodeKind.TITLE else ""
    text = " ".join(filter(None, (node.caption, node.content, node.picture_text)))
    return is_meaningless_text(text=text, title=title, is_prose=node.kind not in SIGNS_EXPECTED)


def _summary(node: Node, grid: _Grid | None, rarity: Mapping[str, float], titles: frozenset[str], words: int) -> str:
    if node.kind is NodeKind.TITLE and node.content.strip():
        return first_words(node.content, words)
    if grid is not None:
        return _visual_summary(node, [", ".join(filter(None, grid.header)), ", ".join(grid.labels)], words)
    if node.modality is not Modality.TEXT:
        return _visual_summary(node, _distinct([node.content, node.picture_text]), words)
    text = "\n\n".join(_distinct([node.caption, node.content, node.picture_text]))
    return summarize(sentences=sentences_of(text), rarity=rarity, title_words=titles, words=words)


def _visual_summary(node: Node, parts: Sequence[str], words: int) -> str:
    """Begin with the index where there is one (A.2): "Figure 3 - caption; words in it"."""
    match = INDEX.match(node.caption)
    index, caption = (match[1], node.caption[match.end() :]) if match else (node.label, node.caption)
    # Three quarters at most for the caption: a long one must leave room for what stands in the picture.
    body = "; ".join(filter(None, (first_words(caption, max(1, words * 3 // 4)), *(" ".join(part.split()) for part in parts))))
    return first_words(" - ".join(filter(None, (index, body))), words)


def _grids(nodes: Sequence[Node], rows: Sequence[TableRow]) -> dict[str, _Grid]:
    by_node: dict[str, list[TableRow]] = {}
    for row in sorted(rows, key=lambda row: row.row):
        by_node.setdefault(row.node_id, []).append(row)
    grids: dict[str, _Grid] = {}
    for node in nodes:
        if node.id in by_node:
            own = by_node[node.id]
            header = tuple(dict.fromkeys(cell.strip() for row in own if row.is_header for cell in row.cells))
            grids[node.id] = _Grid(header, tuple(tuple(map(str.strip, row.cells)) for row in own if not row.is_header))
        elif node.modality is Modality.TABLE:
            grids[node.id] = _markdown_grid(node.content)
    return grids


def _markdown_grid(content: str) -> _Grid:
    """Read a table's Markdown; a line without bars is a row of one cell."""
    lines = [line.strip() for line in content.splitlines() if line.strip() and not re.fullmatch(r"[\s|:-]+", line)]
    cells = [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))) for line in lines]
    return _Grid(cells[0] if cells else (), tuple(cells[1:]))


def _table_text(grid: _Grid) -> str:
    """Put header and row labels before the values, which are many and say little to an embedder."""
    labels = set(grid.labels)
    values = (" ".join(cell for cell in row if cell and cell not in labels) for row in grid.rows[:LABELLED_ROWS])
    return "\n".join(filter(None, (" ".join(filter(None, grid.header)), ", ".join(grid.labels), *values)))


def _keyword_text(node: Node, grid: _Grid | None) -> str:
    """Return what keywords are drawn from; cells and lines in a picture are parted, so that no term spans two of them."""
    if grid is not None:
        return " ; ".join((node.caption, *grid.header, *grid.labels))
    if node.modality is Modality.FIGURE:
        return " ; ".join(_distinct([node.caption, *node.content.splitlines(), *node.picture_text.splitlines()]))
    return "\n\n".join(_distinct([node.caption, node.content, node.picture_text]))


def _distinct(parts: Iterable[str]) -> list[str]:
    """Drop empty parts and those that stand whole in another one; the order stays."""
    kept = list(dict.fromkeys(part.strip() for part in parts if part.strip()))
    framed = [f" {' '.join(part.split())} " for part in kept]
    return [
        part
        for place, (part, frame) in enumerate(zip(kept, framed, strict=True))
        if not any(
            frame in other and (other != frame or earlier < place) for earlier, other in enumerate(framed) if earlier != place
        )
    ]
