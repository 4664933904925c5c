"""Probes are made of a corpus's own words, and each stands on its page alone."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import RequestError
from storage.locations import corpus_location
from storage.records.documents import NodeKind, TableRow
from tasks.algorithms.text.stems import stems_in
from tasks.evaluation.probing import (
    Probe,
    ProbeKind,
    cloze,
    draw_documents,
    make_probes,
    names_of,
    pages_by_stem,
    pages_with_all,
    probes_in,
    spread,
    with_questions_of_others,
)
from tests.asking_worlds import Passage, published, written
from tests.storage import worlds

HARBOUR = written(
    "harbour",
    Passage("Repairs of the harbour wall", kind=NodeKind.TITLE),
    Passage("Figure 1: Height of the spring tide at the quay", kind=NodeKind.CAPTION, page=2),
    Passage("The crew of the Merrow repaired the steel cables after the storm.", page=3),
    Passage("Site: Net weight\nCorran Sound: 163", kind=NodeKind.TABLE, page=4),
)
ROW = replace(HARBOUR.rows[1], cells=("Corran Sound", "163"), text="Site: Corran Sound | Net weight: 163")
HARBOUR = replace(HARBOUR, rows=(HARBOUR.rows[0], ROW))
ECHO = written(
    "echo",
    Passage("The quay has the height of the spring tide", kind=NodeKind.PARAGRAPH),
    Passage("Too few words", page=3),
)


def probes_of(location, *, limit=200, seed=0):
    with open_for_reading(location) as snapshot:
        return make_probes(snapshot, limit=limit, seed=seed)


@pytest.fixture(scope="module")
def harbour(tmp_path_factory):
    return probes_of(published(tmp_path_factory.mktemp("harbour"), HARBOUR))


def test_each_kind_is_asked_for_on_its_page_of_its_document(harbour):
    assert {(question.evidence_sources, question.evidence, question.text) for question in harbour.questions} == {
        (("caption",), (("harbour.pdf", 2),), "Height ___ spring tide ___"),
        (("sentence",), (("harbour.pdf", 3),), "___ crew ___ Merrow ___ steel cables ___"),
        (("table row",), (("harbour.pdf", 4),), "Corran Sound, Net weight: ___"),
    }
    assert {question.documents for question in harbour.questions} == {("harbour.pdf",)}
    assert (harbour.name, harbour.documents) == ("probes of default", {"harbour.pdf": "/files/harbour.pdf"})


def test_what_another_page_of_the_corpus_says_too_is_left_out(tmp_path):
    asked = probes_of(published(tmp_path, HARBOUR, ECHO)).questions
    assert Counter(question.evidence_sources for question in asked) == Counter([("sentence",), ("table row",)])


def test_as_many_as_asked_are_made_and_the_same_again_and_others_by_another_seed(in_library):
    location = corpus_location("small")
    every, few = probes_of(location), probes_of(location, limit=12)
    assert few == probes_of(location, limit=12)
    assert len(few.questions) == 12 < len(every.questions) and set(few.questions) < set(every.questions)
    other = probes_of(location, limit=12, seed=1)
    assert other.hash != few.hash and set(other.questions) < set(every.questions)
    assert len({question.id for question in every.questions}) == len(every.questions)


def test_probes_of_a_real_corpus_are_spread_and_each_page_alone_holds_its_words(in_library):
    with open_for_reading(corpus_location("small")) as snapshot:
        few = make_probes(snapshot, limit=12, seed=0)
        shown = {
            (record.name, node.page, node.search_text) for record in snapshot.documents() for node in snapshot.nodes(record.id)
        }
    assert max(Counter(question.documents for question in few.questions).values()) == 3
    assert len(few.documents) == 4 and len({question.evidence_sources for question in few.questions}) > 1
    pages = {place: stems_in(" ".join(text for *at, text in shown if tuple(at) == place)) for place in {each[:2] for each in shown}}
    for question in few.questions:
        (place,) = question.evidence
        looked_for = stems_in(question.text) & pages[place]
        assert len(looked_for) > 2, question.text
        assert [other for other, stems in pages.items() if looked_for <= stems] == [place], question.text


def test_a_corpus_that_says_too_little_makes_none_and_says_so(tmp_path):
    location = published(tmp_path, written("tiny", Passage("Too few words")))
    with pytest.raises(RequestError, match=r"corpus 'default' makes no probe: .*; ingest longer documents"):
        probes_of(location)


def test_a_corpus_without_a_readable_document_makes_none_and_says_so(tmp_path):
    with open_for_writing(worlds.corpus_in(tmp_path), embedder=worlds.EMBEDDER, wait_seconds=5) as corpus:
        corpus.publish(graphs=[], records=[worlds.failed(HARBOUR)], cross_edges=[])
    with pytest.raises(RequestError, match="'default' holds no document that can be read; ingest one"):
        probes_of(corpus.location)


def test_documents_are_drawn_as_far_as_they_fit():
    records = [replace(worlds.record(worlds.graph(f"d{number}")), nodes=40) for number in range(9)]
    big = replace(worlds.record(worlds.graph("big")), nodes=1_000)
    broken = replace(worlds.failed(worlds.graph("broken")), nodes=1)
    drawn = draw_documents([big, broken, *records], seed=0, most_documents=5, most_nodes=100)
    assert len(drawn) == 2 and all(record in records and record.id == name for name, record in drawn.items())
    assert drawn == draw_documents([*reversed(records), big], seed=0, most_documents=5, most_nodes=100)
    assert len(draw_documents(records, seed=0, most_documents=5, most_nodes=1_000)) == 5
    draws = {tuple(draw_documents(records, seed=seed, most_documents=5, most_nodes=100)) for seed in range(9)}
    assert len(draws) > 1


def test_where_no_document_fits_the_smallest_is_drawn():
    records = [replace(worlds.record(worlds.graph(name)), nodes=nodes) for name, nodes in (("a", 900), ("b", 800))]
    assert list(draw_documents(records, seed=0, most_documents=5, most_nodes=100)) == [records[1].id]


def test_documents_of_one_name_are_named_by_their_ids():
    same = [worlds.record(worlds.graph(name), "/files/same.pdf") for name in ("a", "b")]
    other = worlds.record(worlds.graph("c"))
    assert names_of([*same, other]) == {same[0].id: same[0].id[:16], same[1].id: same[1].id[:16], other.id: "c.pdf"}


REPAIR = "The crew of the Merrow repaired the steel cables after the storm."
ASKED = "___ crew ___ Merrow repaired ___ steel ___"


def asked(*passages, **changes):
    """Return what is asked of a document of these passages, with its kind and page."""
    nodes = [replace(node, **changes) for node in written("report", *passages).nodes]
    return {(one.kind, one.page, one.text) for one in probes_in(nodes, (), pages_by_stem(nodes))}


def row_asked(cells, text, **changes):
    """Return what is asked of a row of a table."""
    label = Passage(f"Net weight and height 2024\n{cells[0]}", kind=NodeKind.TABLE)
    document = written("report", label)
    row = TableRow("r", document.nodes[0].id, document.document_id, "v", 1, 1, cells, text, is_header=False)
    return [one.text for one in probes_in(document.nodes, [replace(row, **changes)], pages_by_stem(document.nodes))]


def test_captions_without_their_label_and_sentences_are_asked_for_on_their_pages():
    assert asked(
        Passage("Repairs of the harbour", kind=NodeKind.TITLE),
        Passage("Figure 1: Growth of the tide in Corran", kind=NodeKind.CAPTION, page=2),
        Passage("Heights of the moon over Corran", kind=NodeKind.CAPTION, page=3),
        Passage(f"Too short a sentence. {REPAIR}", page=4),
        Passage("Steel, cables and a storm in the harbour of the crew", kind=NodeKind.FIGURE, page=5),
    ) == {
        (ProbeKind.CAPTION, 2, "Growth ___ tide ___ Corran"),
        (ProbeKind.CAPTION, 3, "Heights ___ moon ___ Corran"),
        (ProbeKind.SENTENCE, 4, ASKED),
    }


@pytest.mark.parametrize(
    "text",
    [
        "Write to crew@merrow.example or to the harbour for the steel of the cables.",
        "The crew\ufffd of the Merrow repaired the steel cables after the storm.",
        "T h e c r e w of the M e r r o w repaired the steel cables.",
        "x + y * z = a - b / c of the Merrow storm.",
        "1 2 3 4 5 6 7 8 9 10 11 12.",
        "Introduction 3\nTides and storms 7\nHarbours of the coast 12\nSteel 15.",
    ],
)
def test_addresses_formulas_what_cannot_be_read_and_contents_are_left_out(text):
    assert asked(Passage(text)) == set()


def test_what_has_no_meaning_or_stands_on_another_page_too_is_left_out_and_what_is_twice_on_a_page_is_asked_once():
    assert asked(Passage(REPAIR), meaningless=True) == set()
    assert asked(Passage(REPAIR), Passage(f"{REPAIR} So they did.", page=2)) == set()
    assert asked(Passage(REPAIR), Passage(REPAIR)) == {(ProbeKind.SENTENCE, 1, ASKED)}


def test_the_rarest_words_are_left_each_once_and_too_few_make_no_probe():
    pages = pages_by_stem(written("report", Passage("crew crew"), Passage("crew of steel", page=2)).nodes)
    assert cloze("The crew of the Merrow, the crew, repaired steel after 14 storms", pages) == (
        "___ Merrow ___ repaired steel ___ storms",
        frozenset({"merrow", "repair", "steel", "storm"}),
    )
    assert cloze("the storm of 2019 and the quay", {}) == ("___ storm ___ 2019 ___ quay", frozenset({"storm", "2019", "quay"}))
    assert cloze("the storms of the storm and 14 quays", {}) is None


@pytest.mark.parametrize(
    ("cells", "text", "questions"),
    [
        (("Corran Sound", "163 t"), "Weights | Site: Corran Sound | Net weight: 163 t", ["Corran Sound, Net weight: ___"]),
        (("Corran", "163"), "Site: Corran | 2024 / Net weight: 163", ["Corran, 2024 Net weight: ___"]),
        (("Corran", "163"), "Site: Corran | Weight: 163", []),
        (("Corran Sound", "163"), "Corran Sound | 163", []),
        (("Corran Sound", ""), "Site: Corran Sound", []),
        (("184", "163"), "Number: 184 | Net weight and height: 163", []),
        (("Corran Sound", "Corran Sound"), "Site: Corran Sound | Net weight: Corran Sound", []),
        (("Corran", "it is too heavy to say"), "Site: Corran | Net weight: it is too heavy to say", []),
        (("", ""), "", []),
    ],
)
def test_a_row_is_asked_for_by_a_label_in_words_and_a_column_with_a_name(cells, text, questions):
    assert row_asked(cells, text) == questions


def test_heads_of_tables_and_rows_of_what_is_no_table_are_left_out_and_columns_differ_by_row():
    cells, text = ("Corran Sound", "163"), "Site: Corran Sound | Net weight: 163"
    assert row_asked(cells, text) and not row_asked(cells, text, is_header=True) and not row_asked(cells, text, node_id="other")
    labels = [f"Corran Sound {number}" for number in range(10)]
    found = [row_asked((label, "1", "2"), f"Site: {label} | Weight: 1 | Height: 2")[0] for label in labels]
    assert {one.split(", ")[1] for one in found} == {"Weight: ___", "Height: ___"}


def test_ids_name_the_place_and_the_words_but_not_the_version():
    nodes = written("report", Passage(REPAIR)).nodes
    (one,), (same,) = (
        probes_in(some, (), pages_by_stem(some)) for some in (nodes, [replace(node, id="b", version="b") for node in nodes])
    )
    assert one.id == same.id and len({one.id, replace(one, page=2).id, replace(one, text="?").id}) == 3


PAGES = st.dictionaries(st.sampled_from("abcdef"), st.frozensets(st.tuples(st.sampled_from("xy"), st.integers(1, 4))))


@given(pages=PAGES, stems=st.frozensets(st.sampled_from("abcdefg"), min_size=1))
def test_pages_with_all_stems_are_those_that_every_stem_names(pages, stems):
    every = [(document, number) for document in "xy" for number in range(1, 5)]
    assert pages_with_all(stems, pages) == {place for place in every if all(place in pages.get(stem, ()) for stem in stems)}
    assert pages_with_all((), pages) == frozenset()


PROBES = st.lists(
    st.builds(
        Probe,
        st.sampled_from(ProbeKind),
        st.sampled_from("xyz"),
        st.integers(1, 3),
        st.text("ab", max_size=3),
        st.just(frozenset()),
    ),
    unique=True,
    max_size=30,
)


@given(probes=PROBES, limit=st.integers(1, 12))
def test_probes_are_spread_as_evenly_as_their_documents_allow(probes, limit):
    chosen = spread(probes, limit=limit)
    assert len(chosen) == len(set(chosen)) == min(limit, len(probes)) and set(chosen) <= set(probes)
    there, taken = (Counter(probe.document_id for probe in some) for some in (probes, chosen))
    # Only a document that has no more to give is behind another by more than one.
    assert all(taken[name] == there[name] or taken[name] >= max(taken.values()) - 1 for name in there)


def test_kinds_and_pages_take_turns():
    kinds = {ProbeKind.SENTENCE: 9, ProbeKind.ROW: 2, ProbeKind.CAPTION: 1}
    probes = [
        Probe(kind, "x", page, f"{number}", frozenset())
        for kind, count in kinds.items()
        for page in (1, 2)
        for number in range(count)
    ]
    chosen = spread(probes, limit=6)
    assert Counter(probe.kind for probe in chosen) == dict.fromkeys(kinds, 2)
    assert {probe.page for probe in chosen if probe.kind is ProbeKind.SENTENCE} == {1, 2}


def test_for_a_fit_every_second_probe_is_asked_of_another_document_that_has_no_answer(harbour):
    probes = replace(harbour, documents={**harbour.documents, "tide.pdf": "/files/tide.pdf"})
    found = with_questions_of_others(probes)
    assert found.questions[: len(probes.questions)] == probes.questions
    others = found.questions[len(probes.questions) :]
    for probe, other in zip(probes.questions[::2], others, strict=True):
        assert (other.text, other.answerable, other.evidence) == (probe.text, False, ())
        assert other.documents != probe.documents and other.documents[0] in probes.documents
    single = replace(probes, documents={"a.pdf": "/a.pdf"})
    assert with_questions_of_others(single).questions == probes.questions, "there is no other document"
