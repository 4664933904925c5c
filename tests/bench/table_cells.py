"""`python -m tests.bench.table_cells --corpus mm`: how many labelled cells of tables a corpus has, by row and column.

The corpus, of `FLOWREADER_HOME`, holds the documents that table_cells.jsonl names. Each of its lines is a cell that answers a question
(`asks` is cell), or whose row's label does (row), or that an answer is worked out from (part): its physical page, the words of its row
and of its column as they are printed, each the outermost first, and what stands in it. The documents belong to their publishers.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.locations import corpus_location
from storage.records.documents import Modality, PageParser, TableRow
from tasks.algorithms.quotes import read_row
from tasks.algorithms.text.standing import find_words
from tasks.algorithms.text.stems import stems_in
from tests.bench.measuring import CONSOLE

CELLS = Path(__file__).with_suffix(".jsonl")


@dataclass(frozen=True, slots=True)
class Label:
    id: str
    document: str
    page: int
    row: tuple[str, ...]
    column: tuple[str, ...]
    value: str
    asks: str


@dataclass(frozen=True, slots=True)
class Found:
    """What the corpus has of a labelled cell; each of the first three includes the next."""

    whole: bool
    """The value, under all heads, in a row with the label and the groups that it stands in."""
    lowest: bool
    """The same with the innermost head and the row's own label alone."""
    in_row: bool
    on_page: bool
    table: bool
    scanned: bool


def labels() -> list[Label]:
    lines = map(json.loads, CELLS.read_text("utf-8").splitlines())
    return [Label(**{**line, "row": tuple(line["row"]), "column": tuple(line["column"])}) for line in lines]


def look_for(label: Label, snapshot: Snapshot) -> Found:
    document = snapshot.find(label.document, exact=True).id
    nodes = snapshot.nodes_on(document, label.page)
    parser = snapshot.pages(document)[label.page - 1].parser
    rows = [row for row in snapshot.rows(document) if row.page == label.page and not row.is_header]
    places = [place for row in rows for place in places_in(row, label)]
    texts = [text for node in nodes for text in (node.content, node.caption, node.picture_text)]
    return Found(
        whole=(True, True) in places,
        lowest=any(headed for _, headed in places),
        in_row=bool(places),
        on_page=any(find_words(text, label.value) for text in texts),
        table=any(node.modality is Modality.TABLE for node in nodes),
        scanned=parser is PageParser.OCR,
    )


def places_in(row: TableRow, label: Label) -> Iterator[tuple[bool, bool]]:
    """Yield, for each cell with the value after the row's label, whether all words stand where they should, and the innermost."""
    cells = read_row(row.text, row.cells)
    around = row.text[: row.text.find(": ".join(filter(None, cells[0])))] if cells else ""
    for place, (header, cell) in enumerate(cells):
        before = " ".join(text for _, text in cells[:place])
        if find_words(cell, label.value) and holds(before, label.row[-1:]):
            headed = holds(header, label.column[-1:])
            yield headed and holds(header, label.column) and holds(f"{around} {before}", label.row), headed


def holds(text: str, words: Sequence[str]) -> bool:
    return stems_in(" ".join(words)) <= stems_in(text)


GROUPS: dict[str, Callable[[Label, Found], bool]] = {
    "the answer is the cell": lambda label, _: label.asks == "cell",
    "the answer is its row's label": lambda label, _: label.asks == "row",
    "the answer is worked out from it": lambda label, _: label.asks == "part",
    "on a page with a text layer": lambda _, found: not found.scanned,
    "on a scanned page": lambda _, found: found.scanned,
    "all": lambda *_: True,
}
COLUMNS = {
    "row, groups, all heads": "whole",
    "label, innermost head": "lowest",
    "label alone": "in_row",
    "value on the page": "on_page",
    "a table on the page": "table",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="table-cells", description=__doc__)
    parser.add_argument("--corpus", required=True)
    with open_for_reading(corpus_location(parser.parse_args().corpus)) as snapshot:
        looked = [(label, look_for(label, snapshot)) for label in labels()]
    lines = [["cells", "", *COLUMNS], ["---", "--:", *["--:" for _ in COLUMNS]]]
    for name, is_in in GROUPS.items():
        group = [found for label, found in looked if is_in(label, found)]
        counts = [sum(getattr(found, what) for found in group) for what in COLUMNS.values()]
        lines.append([name, f"{len(group)}", *(f"{count} ({count / max(1, len(group)):.0%})" for count in counts)])
    missed = [
        f"{label.id} page {label.page}, {' / '.join(label.row)}: {'no head' if found.in_row else 'no row'}"
        for label, found in looked
        if not found.lowest
    ]
    for line in (*(f"| {' | '.join(line)} |" for line in lines), "", *missed):
        CONSOLE.print(line, markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
