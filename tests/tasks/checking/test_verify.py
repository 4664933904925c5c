"""A text of whatever wrote it against a corpus: each quote and number is found on its place, elsewhere, in parts, or not there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.corpus.snapshot import open_for_reading
from storage.errors import RequestError
from storage.records.documents import NodeKind
from tasks.algorithms.text.standing import tokens_of
from tasks.checking import verify as checking
from tasks.checking.verify import verify
from tests.asking_worlds import Passage, written

TIDE = "The tide at Skarvik turns twice a day, and the blades of the turbine turn with it."
COSTS = "Costs of the harbour rose by 12.5 % to £3.1 million, where steel took the largest share."
OVER_A_PAGE = ("Each cable is drawn by a ship of our own, which", "lies at the quay when storms are forecast.")
TABLE = "Year: Crew: Price\n2023: 934: 41\n2024: 1,020: 77"
WORLD = (
    written(
        "report",
        Passage(TIDE, page=1),
        Passage(COSTS, page=2),
        Passage(OVER_A_PAGE[0], page=2),
        Passage(OVER_A_PAGE[1], page=3),
        Passage(TABLE, page=4, kind=NodeKind.TABLE),
        printed=("i", "ii", "1"),
    ),
    written("note", Passage("No crew may enter the harbour while a storm is blowing from the north."), Passage(TIDE, page=2)),
)


@pytest.fixture(scope="module")
def snapshot(location):
    with open_for_reading(location) as opened:
        yield opened


def checked(text, snapshot):
    """Each check as (verdict, its places by document and page)."""
    return [
        (check.verdict.value, [(place.document.name, place.page) for place in check.places]) for check in verify(text, snapshot)[0]
    ]


def one(text, snapshot):
    (check,) = checked(text, snapshot)
    return check


@pytest.mark.parametrize(
    "quote",
    [
        "The tide at Skarvik turns twice a day",
        "the  TIDE at\nSkarvik turns twice a day —",
        "the tide at Skar-\nvik turns twice a day",
        "The tide … turns twice a day",
        "the blades of the turbine turn with it",
    ],
)
def test_an_intact_quote_is_found_however_it_is_spaced_and_cut_at_the_ends_of_lines(snapshot, quote):
    verdict, places = one(f"It says “{quote}”.", snapshot)
    assert verdict == "found" and places[0] in {("report.pdf", 1), ("note.pdf", 2)}


@pytest.mark.parametrize(
    ("named", "verdict", "place"),
    [
        ("(report.pdf, p. 1)", "found", ("report.pdf", 1)),
        ("(report.pdf, page i)", "found", ("report.pdf", 1)),
        ("(note.pdf, p. 2)", "found", ("note.pdf", 2)),
        ("[note.pdf]", "found", ("note.pdf", 2)),
        ("on pages 2-3", "found", ("note.pdf", 2)),
        ("(report.pdf, p. 4)", "elsewhere", None),
        ("(other.pdf)", "elsewhere", None),
        ("(see above)", "found", None),
    ],
)
def test_a_quote_is_elsewhere_where_it_does_not_stand_where_the_text_says(snapshot, named, verdict, place):
    said, places = one(f'"The tide at Skarvik turns twice a day" {named}', snapshot)
    assert said == verdict and (place is None or places == [place])


def test_a_quote_that_runs_over_a_page_is_found_on_both(snapshot):
    assert one('"a ship of our own, which lies at the quay"', snapshot) == ("found", [("report.pdf", 2), ("report.pdf", 3)])


def test_a_quote_made_of_several_places_is_stitched_and_says_of_which(snapshot):
    text = '"No crew may enter the harbour … where steel took the largest share"'
    assert one(text, snapshot) == ("stitched", [("note.pdf", 1), ("report.pdf", 2)])


def test_of_a_quote_that_was_altered_only_the_intact_part_is_shown(snapshot):
    (check,), _ = verify('"No crew may enter the harbour while a gale is blowing from the north"', snapshot)
    assert check.verdict == "missing"
    assert [place.quote for place in check.places] == ["No crew may enter the harbour while a", "is blowing from the north"]
    assert one('"the moon is made of green cheese"', snapshot) == ("missing", [])


@pytest.mark.parametrize(
    "altered", ["rose by 12.5 to £3.1 million", "rose by 12.5 % to $3.1 million", "rose by 12.5 % to £31 million"]
)
def test_another_number_share_or_currency_is_another_quote(snapshot, altered):
    assert one(f'"Costs of the harbour {altered}"', snapshot)[0] == "missing"


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("The costs rose by 12.5 % in a year.", True),
        ("The costs came to 3.1 million.", True),
        ("The costs came to £3.1 million.", True),
        ("The costs came to $3.1 million.", False),
        ("In 2023 there was a crew of 934.", True),
        ("A crew of 1020 in 2024.", True),
        ("The costs rose by 13.5 % in a year.", False),
        ("The costs rose by 12.5 million.", False),
        ("Bananas weigh 934 grams.", False),
    ],
)
def test_a_number_is_found_where_the_same_number_stands_beside_the_same_words(snapshot, sentence, found):
    verdict, places = one(sentence, snapshot)
    assert verdict == ("found" if found else "missing") and bool(places) == found


def test_the_numbers_of_a_row_bring_the_row(snapshot):
    (check,), _ = verify("The crew of 2024 had 1,020 heads.", snapshot)
    assert check.places[0].quote.startswith("2024") and check.beside == "The crew of 2024 had 1,020 heads."


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("Nothing to see in 2024, on page 3, the 2nd time.", "holds nothing to check"),
        ("x" * 5_000_001, "has 5,000,001 characters"),
    ],
)
def test_a_text_without_claims_or_without_end_is_refused_in_words(snapshot, text, what):
    with pytest.raises(RequestError) as refused:
        verify(text, snapshot)
    assert what in refused.value.what and refused.value.remedy


def test_what_is_too_much_is_left_out_and_counted(snapshot, monkeypatch):
    monkeypatch.setattr(checking, "MOST_CLAIMS", 2)
    checks, left_out = verify('"the tide at Skarvik turns" costs 5, 6 or 7\n\n' * 4, snapshot)
    assert len(checks) == 4 and left_out == 2 + 10


def test_a_text_of_a_megabyte_and_one_in_another_language_end_in_words(snapshot):
    assert {verdict for verdict, _ in checked(f'"{"nobody wrote this " * 60_000}end"', snapshot)} == {"missing"}
    assert checked("Es heißt „Die Flut wendet zweimal am Tag“ und 1 020 Leute.", snapshot)[0] == ("missing", [])


RUNS = [(graph, node) for graph in WORLD for node in graph.nodes if node.kind is not NodeKind.TABLE]


@given(st.data())
def test_a_run_of_six_words_is_found_on_its_place_and_with_one_of_them_replaced_it_never_is(snapshot, data):
    graph, node = data.draw(st.sampled_from(RUNS))
    words = node.content.split()
    start = data.draw(st.integers(0, len(words) - 6))
    run = words[start : data.draw(st.integers(start + 6, len(words)))]
    name = next(record.name for record in snapshot.documents() if record.id == graph.document_id)
    assert one(f"“{' '.join(run)}” ({name}, p. {node.page})", snapshot) == ("found", [(name, node.page)])
    replaced = data.draw(st.sampled_from([place for place, word in enumerate(run) if tokens_of(word)]))
    run[replaced] = "zorblax"
    assert one(f"“{' '.join(run)}”", snapshot)[0] in {"missing", "stitched"}
