"""A citation counts where it names what was shown and its words stand there."""

from dataclasses import replace

import pytest

from storage.records import NodeKind
from tasks.cited_words import MOST_PROOFS, checked_quotes, proofs, standing_text
from tasks.model_forms import Cited
from tasks.path_reader import PathText
from tasks.shown_passages import Shown
from tests.asking_worlds import Passage, written

REPORT = written(
    "report",
    Passage("The gearbox failed because a seal was cut. The crane came late.", 3),
    Passage("Segment: 2024\nService revenue: 41.2\nTotal revenue: 184.6", 2, NodeKind.TABLE),
    Passage("Ellary works 418 Braye yard 212", 5, NodeKind.FIGURE),
    Passage("word " * 100, 6),
)
ROWS = {node.id: tuple(row for row in REPORT.rows if row.node_id == node.id) for node in REPORT.nodes}
PATH = PathText(REPORT.nodes, ROWS, {}, dict.fromkeys((node.id for node in REPORT.nodes), 0.5), frozenset(), {}, frozenset())
SHOWN = Shown((), {f"n{place}": node for place, node in enumerate(REPORT.nodes, 1)}, seen=frozenset({REPORT.nodes[2].id}))


def quoted(*cited, shown=SHOWN):
    quotes, left_out = checked_quotes([Cited(passage=p, quote=q) for p, q in cited], shown, PATH, most_words=40)
    return [(quote.node.id, quote.text) for quote in quotes], left_out


def test_words_are_quoted_as_they_stand_and_of_a_table_the_whole_row():
    found, left_out = quoted(("n1", "the GEARBOX failed"), (" n2 ", "Total revenue | 184.6"), ("n2", "41.2"))
    assert found == [
        (REPORT.nodes[0].id, "The gearbox failed"),
        (REPORT.nodes[1].id, "Total revenue: 184.6"),
        (REPORT.nodes[1].id, "Service revenue: 41.2"),
    ]
    assert left_out == 0


@pytest.mark.parametrize(
    "cited", [("n9", "The gearbox failed"), ("", "x"), ("n1", "The gearbox exploded"), ("n1", ""), ("n2", "Total revenue | 41.2")]
)
def test_what_was_not_shown_or_does_not_stand_there_is_left_out_and_counted(cited):
    assert quoted(cited) == ([], 1)


def test_the_same_words_twice_are_one_quote():
    assert quoted(("n1", "a seal was cut"), ("n1", "a seal was cut."))[0] == [(REPORT.nodes[0].id, "a seal was cut")]


def test_what_is_seen_in_a_picture_keeps_its_place_with_the_words_that_are_known_of_it():
    assert quoted(("n3", "the bar of Braye is blue")) == ([(REPORT.nodes[2].id, "Ellary works 418 Braye yard 212")], 0)
    captioned = replace(SHOWN, nodes={"n3": replace(REPORT.nodes[2], caption="Figure 2: People")})
    assert quoted(("n3", ""), shown=captioned)[0] == [(REPORT.nodes[2].id, "Figure 2: People")]
    assert quoted(("n3", "the bar is blue"), shown=replace(SHOWN, seen=frozenset())) == ([], 1)


def test_a_long_quote_is_shortened_but_stands_in_its_passage():
    ((_, text),) = quoted(("n4", "word " * 90))[0]
    assert text.split() == ["word"] * 40


def test_headers_of_a_table_are_quoted_from_its_text():
    assert standing_text("Segment: 2024", REPORT.nodes[1], ROWS[REPORT.nodes[1].id]) == "Segment: 2024"


def test_where_no_quote_holds_the_cited_passages_may_say_the_answer_itself():
    cited = [Cited(passage="n2", quote="revenue came to"), Cited(passage="n77", quote="")]
    assert [quote.text for quote in proofs("184.6", cited, SHOWN, PATH)] == ["Total revenue: 184.6"]
    assert proofs("418", cited, SHOWN, PATH) == () and proofs("184.6", cited[1:], SHOWN, PATH) == ()
    assert len(proofs("word", [Cited(passage="n4", quote="")], SHOWN, PATH)) <= MOST_PROOFS


@pytest.mark.parametrize("answer", ["Yes", "no, the seal was cut", "Yes."])
def test_a_yes_or_no_proves_nothing_by_standing_somewhere(answer):
    assert proofs(answer, [Cited(passage="n1", quote="")], SHOWN, PATH) == ()
