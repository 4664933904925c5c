from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import NodeKind, TableRow
from tasks.algorithms.metrics.probe_choice import (
    ProbeKind,
    ProbeSource,
    is_english,
    pages_by_stem,
    pages_with_all,
    sources_in,
    spread,
)
from tests.asking_worlds import Passage, written

REPAIR = "The crew of the Merrow repaired the steel cables after the storm."


def texts_of(*passages, **changes):
    """Return what can be asked for of a document of these passages."""
    nodes = [replace(node, **changes) for node in written("report", *passages).nodes]
    return [source.text for source in sources_in(nodes, ())]


def row_of(cells, text, **changes):
    """Return what can be asked for of a row of a table."""
    document = written("report", Passage("Site: Weight\nCorran: 163 kg", kind=NodeKind.TABLE))
    row = TableRow("r", document.nodes[0].id, document.document_id, "v", 1, 1, cells, text, is_header=False)
    return [(source.text, source.column) for source in sources_in(document.nodes, [replace(row, **changes)])]


def test_headings_captions_and_sentences_are_asked_for_on_their_pages():
    document = written(
        "report",
        Passage("Repairs of the harbour", kind=NodeKind.TITLE),
        Passage("Figure 1: Growth of the tide", kind=NodeKind.CAPTION, page=2),
        Passage(f"Too short. {REPAIR}\n\nthis one opens in its middle, as what a page break has cut does.", page=3),
        Passage("Steel, cables and a storm in the harbour of the crew", kind=NodeKind.FIGURE),
    )
    assert {(source.kind, source.page, source.text) for source in sources_in(document.nodes, ())} == {
        (ProbeKind.HEADING, 1, "Repairs of the harbour"),
        (ProbeKind.CAPTION, 2, "Figure 1: Growth of the tide"),
        (ProbeKind.SENTENCE, 3, REPAIR),
    }


def test_a_text_that_is_twice_on_a_page_is_one_source():
    assert texts_of(Passage(REPAIR), Passage(REPAIR)) == [REPAIR]
    assert texts_of(Passage(REPAIR), Passage(REPAIR, page=2)) == [REPAIR, REPAIR]


@pytest.mark.parametrize(
    "text",
    [
        "Write to crew@merrow.example or to the harbour for the steel of the cables.",
        "The crew\ufffd of the Merrow repaired the steel cables after the storm.",
        "The crewofthemerrowrepairedthesteel cables of the harbour after the long storm.",
        "The crw hd nthr brkn cables of steel in the harbour after the storm.",
        "T h e c r e w of the M e r r o w repaired the steel cables.",
        "The tide = x + y * z of the Merrow after the storm of steel.",
        "1 2 3 4 5 6 7 8 9 10 11 12.",
        "The crew of the Merrow repaired the steel cables after the",
        "the crew of the Merrow repaired the steel cables after the storm.",
        "Introduction 3\nTides and storms 7\nHarbours of the coast 12\nSteel 15.",
    ],
)
def test_garbage_addresses_formulas_cut_sentences_and_contents_are_left_out(text):
    assert texts_of(Passage(text)) == []


def test_what_has_no_meaning_and_long_titles_are_left_out():
    assert texts_of(Passage(REPAIR), meaningless=True) == []
    assert texts_of(Passage("tide and storm " * 5, kind=NodeKind.TITLE)) == []


def test_a_long_word_of_ideographs_or_with_a_hyphen_is_whole():
    hyphenated = "The crew-of-the-merrow-harbour-repaired cables of steel after the storm."
    assert texts_of(Passage(hyphenated)) == [hyphenated]
    chinese = "\u98ce\u66b4\u4e4b\u540e\u8239\u5458\u4fee\u7406\u4e86\u6e2f\u53e3\u7684\u94a2\u7f06" * 2 + "\u3002"
    assert texts_of(Passage(chinese)) == [chinese]


@pytest.mark.parametrize(
    ("cells", "text", "asked"),
    [
        (("Corran Sound", "163 kg"), "Weights | Site: Corran Sound | Net weight: 163 kg", [("Corran Sound", "Net weight")]),
        (("Corran", "163"), "Site: Corran | 2024 / Net weight: 163", [("Corran", "2024 Net weight")]),
        (("Corran", "163"), "Corran | 163", []),
        (("Corran", ""), "Site: Corran", []),
        (("184", "163"), "Number: 184 | Weight: 163", []),
        (("corran sound and", "163"), "Site: corran sound and | Weight: 163", []),
        (("Corran and", "163"), "Site: Corran and | Weight: 163", []),
        (("Corran,", "163"), "Site: Corran, | Weight: 163", []),
        (("(Corran", "163"), "Site: (Corran | Weight: 163", []),
        (("Corran", "Corran"), "Site: Corran | Weight: Corran", []),
        (("Corran", "163"), "Site: Corran | How heavy is the whole of it: 163", []),
        (("Corran", "it is too heavy to say"), "Site: Corran | Weight: it is too heavy to say", []),
        (
            ("The site Corran of the Merrow at the harbour wall", "1"),
            "The site Corran of the Merrow at the harbour wall | W: 1",
            [],
        ),
    ],
)
def test_a_row_is_asked_for_by_a_label_in_words_and_a_column_with_a_name(cells, text, asked):
    assert row_of(cells, text) == asked


def test_heads_of_tables_and_rows_of_tables_of_contents_are_left_out():
    cells, text = ("Corran", "163"), "Site: Corran | Weight: 163"
    assert row_of(cells, text) == [("Corran", "Weight")]
    assert row_of(cells, text, is_header=True) == []
    assert row_of(cells, text, node_id="of a table that is none") == []


@pytest.mark.parametrize(("lines", "counts"), [("Tide 3\nStorm 7\nSteel 12", False), ("Tide 7\nStorm 3\nSteel 12", True)])
def test_a_table_of_small_numbers_is_no_table_of_contents_unless_they_never_fall(lines, counts):
    nodes = written("report", Passage(lines, kind=NodeKind.TABLE)).nodes
    assert bool(pages_by_stem(nodes)) == counts


def test_a_column_is_chosen_by_the_row_and_not_always_the_first():
    labels = [f"Corran {number}" for number in range(10)]
    columns = [row_of((label, "1", "2"), f"Site: {label} | Weight: 1 | Height: 2")[0][1] for label in labels]
    assert set(columns) == {"Weight", "Height"}


def test_ids_name_the_place_and_the_words_but_not_the_version():
    first, again = written("report", Passage(REPAIR)), written("report", Passage(REPAIR))
    (source,), (same,) = sources_in(first.nodes, ()), sources_in([replace(node, id="b", version="b") for node in again.nodes], ())
    assert source.id == same.id
    assert len({source.id, replace(source, page=2).id, replace(source, text="?").id, replace(source, column="c").id}) == 4


PAGES = st.dictionaries(st.sampled_from("abcdef"), st.frozensets(st.tuples(st.sampled_from("xy"), st.integers(1, 4))))


@given(pages=PAGES, stems=st.frozensets(st.sampled_from("abcdefg"), min_size=1))
def test_pages_with_all_stems_are_those_that_every_stem_names(pages, stems):
    every = [(document, number) for document in "xy" for number in range(1, 5)]
    assert pages_with_all(stems, pages) == {place for place in every if all(place in pages.get(stem, ()) for stem in stems)}


def test_without_a_stem_there_is_no_page():
    assert pages_with_all((), {"tide": {("x", 1)}}) == frozenset()


def test_stems_stand_where_full_text_sees_them():
    nodes = written("report", Passage("tides", section="Storms"), Passage("steel", page=2)).nodes
    found = pages_by_stem([*nodes, replace(nodes[0], page=3, meaningless=True)])
    name = nodes[0].document_id
    assert (found["tide"], found["storm"], found["steel"]) == ({(name, 1)}, {(name, 1)}, {(name, 2)})


SOURCES = st.lists(
    st.builds(
        ProbeSource, st.sampled_from(ProbeKind), st.sampled_from("xyz"), st.integers(1, 3), st.text("ab", min_size=1, max_size=3)
    ),
    unique=True,
    max_size=30,
)


@given(sources=SOURCES, limit=st.integers(1, 12))
def test_probes_are_spread_as_evenly_as_their_documents_allow(sources, limit):
    chosen = spread(sources, limit=limit)
    assert len(chosen) == len(set(chosen)) == min(limit, len(sources)) and set(chosen) <= set(sources)
    there, taken = (Counter(source.document_id for source in some) for some in (sources, chosen))
    # Only a document that has no more to give is behind another by more than one.
    assert all(taken[name] == there[name] or taken[name] >= max(taken.values()) - 1 for name in there)


def test_kinds_and_pages_take_turns():
    sources = [
        ProbeSource(kind, "x", page, f"{number}")
        for kind, count in ((ProbeKind.SENTENCE, 9), (ProbeKind.ROW, 2), (ProbeKind.HEADING, 1))
        for page in (1, 2)
        for number in range(count)
    ]
    chosen = spread(sources, limit=6)
    assert Counter(source.kind for source in chosen) == dict.fromkeys((ProbeKind.SENTENCE, ProbeKind.ROW, ProbeKind.HEADING), 2)
    assert Counter(source.page for source in chosen) == {1: 3, 2: 3}


@pytest.mark.parametrize(
    ("texts", "english"),
    [
        ([REPAIR], True),
        ([f"{REPAIR} {REPAIR}", "Die Mannschaft reparierte nach dem Sturm alle Kabel und prüfte dann jedes Blatt genau."], False),
        ([f"{REPAIR} {REPAIR}", f"{REPAIR} {REPAIR}", "Kai", "Sturm"], True),
        (["Die Mannschaft reparierte nach dem Sturm alle Kabel und prüfte dann jedes Blatt genau.", "Rest of it"], False),
        (["Umsatz", "Kosten"], False),
        ([], False),
    ],
)
def test_a_document_is_english_where_most_of_its_long_texts_are(texts, english):
    assert is_english(texts) is english
