from collections import Counter
from dataclasses import replace

import pytest

from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import RequestError
from storage.locations import corpus_location
from storage.records.documents import NodeKind
from tasks.algorithms.text.stems import stems_in
from tasks.evaluation.probing import drawn_documents, make_probes, names_of
from tests.asking_worlds import Passage, answers_to, published, written
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


def probes_in(location, *, limit=200, seed=0):
    with open_for_reading(location) as snapshot:
        return make_probes(snapshot, limit=limit, seed=seed)


@pytest.fixture(scope="module")
def harbour(tmp_path_factory):
    return probes_in(published(tmp_path_factory.mktemp("harbour"), HARBOUR))


def test_each_kind_is_asked_for_on_its_page_of_its_document(harbour):
    assert {(question.evidence_sources, question.evidence, question.text) for question in harbour.questions} == {
        (("caption",), (("harbour.pdf", 2),), "Height ___ spring tide ___"),
        (("sentence",), (("harbour.pdf", 3),), "___ crew ___ Merrow ___ steel cables ___"),
        (("table row",), (("harbour.pdf", 4),), "Corran Sound, Net weight: ___"),
    }
    assert {question.documents for question in harbour.questions} == {("harbour.pdf",)}
    assert (harbour.name, harbour.documents) == ("probes of default", {"harbour.pdf": "/files/harbour.pdf"})


def test_what_another_page_of_the_corpus_says_too_is_left_out(tmp_path):
    asked = probes_in(published(tmp_path, HARBOUR, ECHO)).questions
    assert Counter(question.evidence_sources for question in asked) == Counter([("sentence",), ("table row",)])


def test_as_many_as_asked_are_made_and_the_same_again_and_others_by_another_seed(in_library):
    location = corpus_location("small")
    every, few = probes_in(location), probes_in(location, limit=12)
    assert few == probes_in(location, limit=12)
    assert len(few.questions) == 12 < len(every.questions) and set(few.questions) < set(every.questions)
    other = probes_in(location, limit=12, seed=1)
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


def test_probes_bring_their_pages_back(in_asked_home):
    questions = probes_in(corpus_location("small"), limit=8).questions
    for question, answer in zip(questions, answers_to(*(question.text for question in questions)), strict=True):
        best = [(page.document.name, page.page) for page in answer.pages[:5]]
        assert question.evidence[0] in best, question.text


def test_a_corpus_that_says_too_little_makes_none_and_says_so(tmp_path):
    location = published(tmp_path, written("tiny", Passage("Too few words")))
    with pytest.raises(RequestError, match=r"corpus 'default' makes no probe: .*; ingest longer documents"):
        probes_in(location)


def test_a_corpus_without_a_readable_document_makes_none_and_says_so(tmp_path):
    with open_for_writing(worlds.corpus_in(tmp_path), embedder=worlds.EMBEDDER, wait_seconds=5) as corpus:
        corpus.publish(graphs=[], records=[worlds.failed(HARBOUR)], cross_edges=[])
    with pytest.raises(RequestError, match="'default' holds no document that can be read; ingest one"):
        probes_in(corpus.location)


def test_documents_are_drawn_as_far_as_they_fit():
    records = [replace(worlds.record(worlds.graph(f"d{number}")), nodes=40) for number in range(9)]
    big = replace(worlds.record(worlds.graph("big")), nodes=1_000)
    broken = replace(worlds.failed(worlds.graph("broken")), nodes=1)
    drawn = drawn_documents([big, broken, *records], seed=0, most_documents=5, most_nodes=100)
    assert len(drawn) == 2 and all(record in records and record.id == name for name, record in drawn.items())
    assert drawn == drawn_documents([*reversed(records), big], seed=0, most_documents=5, most_nodes=100)
    assert len(drawn_documents(records, seed=0, most_documents=5, most_nodes=1_000)) == 5
    draws = {tuple(drawn_documents(records, seed=seed, most_documents=5, most_nodes=100)) for seed in range(9)}
    assert len(draws) > 1


def test_where_no_document_fits_the_smallest_is_drawn():
    records = [replace(worlds.record(worlds.graph(name)), nodes=nodes) for name, nodes in (("a", 900), ("b", 800))]
    assert list(drawn_documents(records, seed=0, most_documents=5, most_nodes=100)) == [records[1].id]


def test_documents_of_one_name_are_named_by_their_ids():
    same = [worlds.record(worlds.graph(name), "/files/same.pdf") for name in ("a", "b")]
    other = worlds.record(worlds.graph("c"))
    assert names_of([*same, other]) == {same[0].id: same[0].id[:16], same[1].id: same[1].id[:16], other.id: "c.pdf"}
