"""`python -m tests.bench.table_cells --corpus NAME`: how many labelled cells of tables a corpus has by row and column.

The corpus, in `FLOWREADER_HOME`, holds the documents that table_cells.jsonl names. Each of its lines is a cell that answers a
question (`asks` is cell), or whose row's label does (row), or that an answer is worked out from (part): its physical page, the
words of its row and of its column as they are printed, each the outermost first, and what stands in it.
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
SPARE_DIGITS = 2
"""What a cell may have besides its value: a deviation in brackets, not the next row's number."""


@dataclass(frozen=True, slots=True)
class Label:
    id: str
    document: str
    page: int
    row: Sequence[str]
    column: Sequence[str]
    value: str
    asks: str


@dataclass(frozen=True, slots=True)
class Found:
    whole: bool
    """The value, under all its heads, after the label of its row, in the groups that the row belongs to."""
    innermost: bool
    """The same by the row's own label and the innermost head."""
    in_row: bool
    on_page: bool
    table: bool
    scanned: bool


def look_for(label: Label, snapshot: Snapshot) -> Found:
    document = snapshot.find(label.document, exact=True).id
    nodes = snapshot.nodes_on(document, label.page)
    rows = [row for row in snapshot.rows(document) if row.page == label.page and not row.is_header]
    places = [place for row in rows for place in places_in(row, label)]
    texts = [text for node in nodes for text in (node.content, node.caption, node.picture_text)]
    return Found(
        whole=(True, True) in places,
        innermost=any(innermost for _, innermost in places),
        in_row=bool(places),
        on_page=any(find_words(text, label.value) for text in texts),
        table=any(node.modality is Modality.TABLE for node in nodes),
        scanned=snapshot.pages(document)[label.page - 1].parser is PageParser.OCR,
    )


def places_in(row: TableRow, label: Label) -> Iterator[tuple[bool, bool]]:
    """Yield, for each cell with the value after the row's label, whether all words stand where they should, and the innermost."""
    cells = read_row(row.text, row.cells)
    around = row.text[: row.text.find(": ".join(filter(None, cells[0])))] if cells else ""
    for place, (header, cell) in enumerate(cells):
        before = " ".join(text for _, text in cells[:place])
        if is_value(cell, label.value) and holds(before, label.row[-1:]):
            innermost = holds(header, label.column[-1:])
            yield innermost and holds(header, label.column) and holds(f"{around} {before}", label.row), innermost


def is_value(cell: str, value: str) -> bool:
    digits = [sum(map(str.isdigit, text)) for text in (cell, value)]
    return find_words(cell, value) is not None and digits[0] <= digits[1] + SPARE_DIGITS


def holds(text: str, words: Sequence[str]) -> bool:
    return stems_in(" ".join(words)) <= stems_in(text)


GROUPS: dict[str, Callable[[Label, Found], bool]] = {
    "the answer is the cell": lambda label, _: label.asks == "cell",
    "the answer is its row's label": lambda label, _: label.asks == "row",
    "the answer is worked out from it": lambda label, _: label.asks == "part",
    "on a page with a text layer": lambda _, found: not found.scanned,
    "on a page read by OCR": lambda _, found: found.scanned,
    "all": lambda *_: True,
}
COLUMNS = ("whole", "innermost", "in_row", "on_page", "table")
HEADS = ("groups, label, all heads", "label, innermost head", "label alone", "value on its page", "a table on its page")


def main() -> None:
    parser = argparse.ArgumentParser(prog="table-cells", description=__doc__)
    parser.add_argument("--corpus", required=True)
    with open_for_reading(corpus_location(parser.parse_args().corpus)) as snapshot:
        labels = [Label(**json.loads(line)) for line in CELLS.read_text("utf-8").splitlines()]
        looked = [(label, look_for(label, snapshot)) for label in labels]
    lines = [["cells", "of", *HEADS], ["---", "--:", *["--:" for _ in HEADS]]]
    for name, is_in in GROUPS.items():
        group = [found for label, found in looked if is_in(label, found)]
        counts = [sum(getattr(found, column) for found in group) for column in COLUMNS]
        lines.append([name, f"{len(group)}", *(f"{count} ({count / max(1, len(group)):.0%})" for count in counts)])
    for line in lines:
        CONSOLE.print(f"| {' | '.join(line)} |", markup=False, soft_wrap=True)
    for label, found in looked:
        if not found.innermost:
            missing = "head" if found.in_row else "row" if found.on_page else "value"
            CONSOLE.print(f"{label.id} page {label.page}, {label.row[-1]}: no {missing}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
