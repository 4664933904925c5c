"""Tables found by where words stand: what makes one, what its heads are, and what is none."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.records.documents import Block, NodeKind
from tasks.algorithms.layout.grids import find_grids
from tasks.algorithms.layout.table_blocks import may_have_tables, put_tables
from tasks.algorithms.layout.tables import read_html

ASPECT = 0.7
HEIGHT = 0.012
LETTER = 0.009


def lay(*lines, top=0.1, pitch=0.018):
    """Words of lines on a page: each line has texts with the share of the width where they begin ("x") or end (">x")."""
    words = []
    for number, line in enumerate(lines):
        y = top + number * pitch
        for place, text in line:
            x = float(str(place).strip(">"))
            if str(place).startswith(">"):
                x -= LETTER * (len(text) - text.count(" ") / 2)
            for word in text.split():
                words.append(((x, y, x + LETTER * len(word), y + HEIGHT), word))
                x += LETTER * (len(word) + 0.5)
    return words


def row(label, *values):
    return [(0.05, label), *((f">{0.6 + 0.15 * place}", value) for place, value in enumerate(values))]


SHEET = [
    [(0.594, "MAY 31,")],
    [(0.05, "(In millions)"), (">0.58", "2021"), (">0.73", "2020")],
    [(0.05, "Current assets:")],
    [(0.05, "Cash and equivalents"), (0.5, "$"), (">0.6", "9,889"), (0.65, "$"), (">0.75", "8,348")],
    row("Short-term", "3,587", "439"),
    row("Loss", "(12)", "—"),
    [(0.05, "Prepaid expenses and")],
    row("other assets", "1,498", "1,653"),
    row("", "14,962", "10,440"),
]


def test_lines_of_numbers_in_columns_are_a_table_with_the_heads_above_them():
    (grid,) = find_grids(lay([(0.05, "Consolidated balance sheet")], [], *SHEET), aspect=ASPECT)
    assert grid.rows == (
        ("(In millions)", "MAY 31, 2021", "MAY 31, 2020"),
        ("Current assets:", "", ""),
        ("Cash and equivalents", "$ 9,889", "$ 8,348"),
        ("Short-term", "3,587", "439"),
        ("Loss", "(12)", "—"),
        ("Prepaid expenses and other assets", "1,498", "1,653"),
        ("", "14,962", "10,440"),
    )
    table = read_html(grid.html)
    assert table.rows == grid.rows and table.header_rows == 1


def test_a_head_stands_over_all_columns_in_whose_middle_it_is():
    lines = [
        [(0.62, "2022"), (0.92, "2021")],
        [(">0.57", "Units"), (">0.72", "Value"), (">0.87", "Units"), (">1.0", "Value")],
        *(row(f"Plant {letter}", "11", "2,022", "33", "4,044") for letter in "ABC"),
    ]
    (grid,) = find_grids(lay(*lines), aspect=ASPECT)
    assert grid.rows[0] == ("", "2022 Units", "2022 Value", "2021 Units", "2021 Value")


def test_cells_of_several_lines_are_whole_and_a_second_head_begins_a_second_table():
    lines = [
        [(0.05, "Director"), (0.3, "Role"), (0.6, "Meetings"), (0.8, "Boards")],
        [(0.6, "attended")],
        *([(0.05, name), (0.3, "Non-Executive"), (0.6, "7"), (0.8, "14")] for name in ("Mr. Shah",)),
        [(0.3, "& Independent")],
        *([(0.05, name), (0.3, "Executive"), (0.6, "5"), (0.8, "2")] for name in ("Mr. Modi", "Mr. Vaish")),
        [],
        [(0.6, "Shares"), (0.8, "Options")],
        *([(0.05, name), (0.6, "700"), (0.8, "30")] for name in ("Mr. Shah", "Mr. Modi", "Mr. Vaish")),
    ]
    first, second = find_grids(lay(*lines, pitch=0.013), aspect=ASPECT)
    assert first.rows[:2] == (
        ("Director", "Role", "Meetings attended", "Boards"),
        ("Mr. Shah", "Non-Executive & Independent", "7", "14"),
    )
    assert second.rows[0] == ("", "Shares", "Options")


PROSE = "the tide rose by 3 metres in 1998 and the harbour of the town was closed for 12 days until the water fell"


def column_of_text(x, *, seed):
    rng = random.Random(seed)
    return [[(x, " ".join(rng.choices(PROSE.split(), k=8)))] for _ in range(30)]


NO_TABLES = {
    "text in two columns": [
        one + other for one, other in zip(column_of_text(0.05, seed=1), column_of_text(0.52, seed=2), strict=True)
    ],
    "contents": [[(0.05, f"Chapter {n} of the report"), (">0.9", str(3 + 7 * n))] for n in range(9)],
    "contents with numbers of items": [[(0.05, f"Item {n}."), (0.2, "Risk factors"), (">0.9", str(4 + n))] for n in range(9)],
    "references": [
        [(0.05, f"[{n}]"), (0.12, f"A. Author, B. Writer: On tides. Journal {n}, {1990 + n}, pp. 1-9")] for n in range(9)
    ],
    "equations": [[(0.3, "E = m c"), (0.9, f"({n})")] for n in range(6)],
    "code": [[(0.05, str(n)), (0.1, f"total = total + {n}")] for n in range(9)],
    "axis": [[(0.05, str(value))] for value in (100, 80, 60)] + [[(x / 10, str(20 * x)) for x in range(1, 6)]],
    "signatures": [
        [(0.05, "J. Seth"), (0.4, "C. Maniar"), (0.7, "L. Bhasin")],
        [(0.05, "Partner"), (0.4, "Director"), (0.7, "Chair")],
    ]
    * 3,
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_stands_in_columns_without_being_a_table_is_none(name):
    assert find_grids(lay(*NO_TABLES[name]), aspect=ASPECT) == []


@given(st.lists(st.lists(st.integers(-99_999, 99_999), min_size=3, max_size=3), min_size=3, max_size=12), st.randoms())
@settings(max_examples=60, deadline=None)
def test_any_numbers_under_heads_come_back_in_their_cells_whatever_the_order_of_the_words(values, rng):
    heads = ["Northwick", "Southwick", "Eastwick"]
    rows = [(f"Row {chr(65 + n)}x", *(f"{value:,}" for value in line)) for n, line in enumerate(values)]
    words = lay(row("", *heads), *(row(*line) for line in rows))
    rng.shuffle(words)
    (grid,) = find_grids(words, aspect=ASPECT)
    assert grid.rows == (("", *heads), *rows)
    assert grid.words == frozenset(range(len(words)))


def test_a_sentence_is_no_head_and_columns_without_end_or_numbers_in_the_heads_are_no_table():
    sentence = "This sentence of many short words stands so near to the table that it looks as a head of it would"
    (grid,) = find_grids(lay([(0.01, sentence)], *SHEET), aspect=ASPECT)
    assert grid.rows[0] == ("(In millions)", "MAY 31, 2021", "MAY 31, 2020")
    many = [((x / 80, y / 50, x / 80 + 0.004, y / 50 + HEIGHT), "12" if x else "Row") for y in range(5) for x in range(80)]
    assert find_grids(many, aspect=ASPECT) == []
    glued = [[(0.05, "Entities"), (0.5, "4 18 66 33 21")], *(row(label, "1", "2") for label in ("Rowa", "Rowb", "Rowc"))]
    assert find_grids(lay(*glued), aspect=ASPECT) == []


def block(text, box, kind=NodeKind.PARAGRAPH, **more):
    return Block(kind=kind, text=text, box=box, **more)


def test_a_table_takes_the_place_of_the_blocks_that_it_came_as_and_what_is_left_of_them_stays():
    words = lay([(0.05, "Consolidated balance sheet of the year")], [], *SHEET, [], [(0.05, "See the notes.")])
    blocks = [
        block("MAY 31, 2021 2020", (0.5, 0.13, 0.8, 0.165), NodeKind.HEADER),
        block("Consolidated ...", (0.0, 0.1, 1.0, 0.2), NodeKind.LIST),
        block("Cash ...", (0.0, 0.2, 1.0, 1.0)),
    ]
    placed = put_tables(blocks, words, aspect=ASPECT)
    assert [part.kind for part in placed] == [NodeKind.LIST, NodeKind.TABLE, NodeKind.PARAGRAPH]
    assert placed[0].text == "Consolidated balance sheet of the year" and placed[2].text == "See the notes."
    assert "MAY 31, 2021" in placed[1].html
    assert may_have_tables([*blocks, block("\n".join("Cash 9,889 8,348" for _ in range(3)), (0.0, 0.0, 1.0, 1.0))])
    assert not may_have_tables(
        [block("In 2021 we sold 12 ships in 7 ports, and in 2020 we sold 14 ships in 9 ports.", (0.0, 0.0, 1.0, 1.0))]
    )


def test_a_table_that_a_parser_saw_gets_its_heads_and_a_figure_with_more_in_it_stays():
    words = lay(*SHEET)
    seen = block("9,889 8,348", (0.0, 0.17, 1.0, 0.3), NodeKind.TABLE, caption="Table 1", footnote="in millions")
    (table,) = put_tables([block("2021 2020", (0.0, 0.0, 1.0, 0.16)), seen], words, aspect=ASPECT)
    assert (table.kind, table.caption, table.footnote) == (NodeKind.TABLE, "Table 1", "in millions")
    more = lay(*([(0.05, "an"), (0.3, "unknown"), (0.7, "drawing")] for _ in range(9)), top=0.6)
    figure = block("", (0.0, 0.0, 1.0, 1.0), NodeKind.FIGURE)
    assert put_tables([figure], words + more, aspect=ASPECT) == (figure,)


def test_a_table_whose_cells_a_parser_saw_well_stays_and_its_caption_is_no_head():
    words = lay([(0.05, "Table 1: What we own"), (0.65, "in millions")], *SHEET)
    cells = "".join(f"<tr><td>{label}</td><td>1,000</td><td>2,000</td></tr>" for label in "ABCDE")
    well = block(
        "", (0.0, 0.0, 1.0, 0.3), NodeKind.TABLE, html=f"<table><tr><th>Plant</th><th>2021</th><th>2020</th></tr>{cells}</table>"
    )
    assert put_tables([well], words, aspect=ASPECT) == (well,)
    glued = "<table>" + cells.replace("</td><td>2", " 2") + "</table>"
    caption = {"caption": "Table 1: What we own in millions", "caption_box": (0.0, 0.09, 1.0, 0.115)}
    (table,) = put_tables([block("", (0.0, 0.0, 1.0, 0.3), NodeKind.TABLE, html=glued, **caption)], words, aspect=ASPECT)
    assert table.caption == "Table 1: What we own in millions"
    assert read_html(table.html).header == ("(In millions)", "MAY 31, 2021", "MAY 31, 2020")


def test_tables_that_a_parser_saw_side_by_side_stay_two():
    right = [[(0.55, f"Drug {letter}"), (">0.8", "1.5"), (">0.95", "2.5")] for letter in "ABC"]
    left = [[(0.05, f"Plant {letter}"), (">0.3", "1,100"), (">0.45", "2,022")] for letter in "ABC"]
    words = lay(*(one + other for one, other in zip(left, right, strict=True)))
    blocks = (block("", (0.0, 0.05, 0.48, 0.2), NodeKind.TABLE), block("", (0.52, 0.05, 1.0, 0.2), NodeKind.TABLE))
    assert put_tables(blocks, words, aspect=ASPECT) == blocks
    (table,) = put_tables([block("", (0.0, 0.05, 1.0, 0.2), NodeKind.TABLE)], words, aspect=ASPECT)
    assert read_html(table.html).columns == 6


def test_tables_with_a_caption_each_stay_two_and_no_caption_is_lost():
    words = lay(*(row(f"Plant {letter}", "1,100", "2,022") for letter in "ABC"), [], *(row(f"Drug {n}", "1.5", "2") for n in "DEF"))
    glued = {"kind": NodeKind.TABLE, "html": "<table><tr><td>Plant A 1,100 2,022</td></tr></table>"}
    upper = block("", (0.0, 0.09, 1.0, 0.155), **glued, caption="Table 1: Plants")
    lower = block("", (0.0, 0.165, 1.0, 0.3), **glued, caption="Table 2: Drugs", caption_box=(0.0, 0.154, 1.0, 0.165))
    assert put_tables([upper, lower], words, aspect=ASPECT) == (upper, lower)
    (table,) = put_tables([block("", (0.0, 0.09, 1.0, 0.3), **glued, caption="Table 1: Plants")], words, aspect=ASPECT)
    assert table.caption == "Table 1: Plants" and len(read_html(table.html).rows) == 6


def strew(rng):
    """Words of a page that looks like a table here and there: labels, numbers and signs in columns, some over others."""
    columns = rng.sample([0.35, 0.5, 0.65, 0.8, 0.95], rng.randint(1, 5))
    texts = ["1", "$", "(2)", "—", "2,000", "2021", "%", "12.5%", "word", "(note", "العربية", "9" * 5000]
    words = []
    for line in range(rng.randint(3, 14)):
        y = 0.1 + line * rng.choice([0.013, 0.02])
        words.append(((0.05, y, 0.05 + rng.random() * 0.3, y + HEIGHT), rng.choice(["Total", "and", "Label", "next/"])))
        for right in columns:
            text = rng.choice(texts)
            words.append(((max(0.0, right - LETTER * len(text)), y + rng.random() * 0.002, right, y + HEIGHT), text))
        if rng.random() < 0.05:
            words.append(((rng.random() / 2, y, 0.5 + rng.random() / 2, y + HEIGHT), "wide"))
    return words


@given(st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_no_word_of_a_block_is_lost_wherever_it_stands(rng):
    words = strew(rng)
    blocks = [block("list", (0.0, 0.0, 1.0, 0.25), NodeKind.LIST), block("figure", (0.0, 0.25, 1.0, 1.0), NodeKind.FIGURE)]
    placed = put_tables(blocks, words, aspect=ASPECT)
    gone = [part for part in blocks if part not in placed]
    inside = [text for box, text in words if any(part.box[1] < (box[1] + box[3]) / 2 < part.box[3] for part in gone)]
    after = " ".join(part.text for part in placed).replace("|", " ").split()
    assert all(after.count(text) >= inside.count(text) for text in inside)
