"""Paths are fetched with what is known of them; a citation counts where it names what was shown and its words stand there."""

from dataclasses import replace

import numpy as np
import pytest

from storage.graph.search import Scope
from storage.records.answers import Support
from storage.records.documents import Modality, NodeKind
from tasks.algorithms.text.stems import stems_in
from tasks.asking.calls import counting_calls
from tasks.asking.records import PathText
from tasks.models.chat.worker import Cited
from tasks.reading.cited import (
    check_quotes,
    pieces_of,
    pieces_on,
    prove_by_citations,
    quotes_on,
    says_nothing_new,
    shorten_quote,
    standing_text,
)
from tasks.reading.paths import fetch_texts, read_paths
from tasks.reading.shown import Shown
from tasks.routing.way import ChosenPath
from tests.asking_worlds import Passage, at_context, candidates_of, written

MERROW = written(
    "merrow",
    Passage("The tide turned over Braye.", 1),
    Passage("Cable: Price\nLong: 5\nShort: 3", 2, NodeKind.TABLE),
    Passage("The crew repaired the steel.", 3),
)
LETTER = written("letter", Passage("The storm took the harbour of Ellary.", 1))
WORLD = (MERROW, LETTER)
QUESTION = "What price had the cable of Merrow at Ellary in 1987?"


def world_at(context):
    """Return question, candidates and scores, with a path of two nodes and one of one, both through the table."""
    question, graph, scores = candidates_of(QUESTION, context)
    first, table = (graph.ids.index(MERROW.nodes[place].id) for place in (0, 1))
    paths = [ChosenPath((first, table), 1.0, 1.0, 0.5), ChosenPath((table,), 1.0, 1.0, 0.5)]
    return question, graph, scores, paths


def test_a_path_comes_with_its_nodes_rows_and_what_they_are_worth(context):
    question, graph, scores, paths = world_at(context)
    both, table = fetch_texts(question, graph, scores, paths, context)
    assert [node.id for node in both.nodes] == [MERROW.nodes[0].id, MERROW.nodes[1].id]
    assert [row.text for row in table.rows[MERROW.nodes[1].id]] == ["Cable: Price", "Long: 5", "Short: 3"]
    place = graph.ids.index(MERROW.nodes[1].id)
    assert table.worth[MERROW.nodes[1].id] == scores.combined[place] and table.rarity == scores.rarity


def test_a_worth_stays_between_0_and_1(context):
    question, graph, scores, paths = world_at(context)
    beyond = replace(scores, combined=np.where(np.arange(len(graph)) % 2, 1.5, -0.5))
    worths = fetch_texts(question, graph, beyond, paths, context)[0].worth
    assert set(worths.values()) <= {0.0, 1.0}


def test_names_are_known_from_titles_and_from_whatever_is_asked(context):
    question, graph, scores, paths = world_at(context)
    (text, _other) = fetch_texts(question, graph, scores, paths, context)
    assert set(question.terms.anchors) == {"merrow", "ellari", "1987"}
    assert text.titled == {MERROW.document_id: {"merrow"}}
    assert text.present == {"merrow", "ellari"}


def test_what_lies_outside_the_asked_pages_is_not_held_against_a_name(location):
    with at_context(location, scope=Scope(first_page=1, last_page=2)) as context:
        question, graph, scores, paths = world_at(context)
        (text, _other) = fetch_texts(question, graph, scores, paths, context)
    assert text.present == {"merrow", "ellari", "1987"}


def test_no_paths_are_no_texts(context):
    question, graph, scores, _paths = world_at(context)
    assert fetch_texts(question, graph, scores, [], context) == ()
    assert read_paths(question, (), context) == ()


TABLE = Passage("Joint: Torque Nm\nRoot: 1850\nShaft: 2940", kind=NodeKind.TABLE)
FIGURE = Passage("Ellary 418 Braye yard 212 Corran 137 Sula 96", kind=NodeKind.FIGURE)
TEXT = Passage("The cable broke. It cost 5 million pounds.", section="The cable")
GRAPH = written("report", TABLE, FIGURE, TEXT, Passage("The cable", kind=NodeKind.TITLE))


def path_of(graph, rarity, titled=None):
    rows = {node.id: tuple(row for row in graph.rows if row.node_id == node.id) for node in graph.nodes}
    worth = {node.id: 0.5 for node in graph.nodes}
    return PathText(graph.nodes, rows, rarity, worth, present=frozenset(), titled=titled or {}, named=frozenset())


def quotes(rarity, **more):
    path = path_of(GRAPH, rarity, **more)
    return quotes_on(pieces_on(path), path)


def test_rows_figures_and_sentences_are_pieces_and_headers_are_not():
    texts = [piece.text for piece in pieces_on(path_of(GRAPH, {}))]
    assert texts == ["Root: 1850", "Shaft: 2940", FIGURE.text, "The cable broke.", "It cost 5 million pounds.", "The cable"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"picture_text": "seen", "content": "told"}, "seen"),
        ({"picture_text": "", "content": "told"}, "told"),
        ({"picture_text": "", "content": "", "caption": "Figure 1: Staff"}, "Figure 1: Staff"),
    ],
)
def test_of_a_figure_the_words_in_it_are_quoted_and_its_caption_counts(words, text):
    (piece,) = pieces_of(replace(GRAPH.nodes[1], **{"caption": "Figure 1: Staff"} | words), ())
    assert piece.text == text and "staff" in stems_in(piece.words)


def test_a_node_without_words_has_no_pieces():
    for modality in Modality:
        assert not list(pieces_of(replace(GRAPH.nodes[1], modality=modality, picture_text="", content=""), ()))


def test_what_stands_in_a_piece_covers_and_its_heading_counts_less():
    cost = quotes({"cost": 1.0, "cabl": 1.0, "turbin": 1.0})[4]
    assert (cost.covered, cost.beside, cost.worth) == ({"cost"}, {"cabl"}, 0.5)


def test_a_name_in_the_title_of_the_document_counts_for_every_piece():
    found = quotes({"merrow": 1.0}, titled={GRAPH.document_id: frozenset({"merrow"})})
    assert all(quote.beside == {"merrow"} for quote in found)


def test_a_long_text_is_cut_around_the_words_asked_for():
    pieces = pieces_on(path_of(GRAPH, {"yard": 1.0}))
    cut = shorten_quote(quotes({"yard": 1.0})[2], pieces[2], {"yard": 1.0}, 4)
    assert cut.text == "Braye yard 212 Corran"


def test_a_row_stays_whole():
    node = replace(GRAPH.nodes[0], caption="Table 1: Bolts")
    row = replace(GRAPH.rows[1], cells=("Root", "M36", "1850"), text="Table 1: Bolts | Joint: Root | Bolt: M36 | Torque Nm: 1850")
    (piece,) = pieces_of(node, (row,))
    path = PathText((node,), {node.id: (row,)}, {"torqu": 1.0}, {node.id: 0.5}, frozenset(), {}, frozenset())
    cut = shorten_quote(quotes_on([piece], path)[0], piece, {"torqu": 1.0}, 2)
    assert cut.text == row.text


def test_a_heading_and_an_echo_say_nothing_new():
    root, _shaft, _figure, broke, cost, title = quotes({"cabl": 1.0, "broke": 1.0})
    assert says_nothing_new(title, set()) and says_nothing_new(broke, {"cabl", "broke"})
    assert not says_nothing_new(cost, {"cost"}) and not says_nothing_new(root, {"root"})


REPORT = written(
    "report",
    Passage("The gearbox failed because a seal was cut. The crane came late.", 3),
    Passage("Segment: 2024\nService revenue: 41.2\nTotal revenue: 184.6", 2, NodeKind.TABLE),
    Passage("Ellary works 418 Braye yard 212", 5, NodeKind.FIGURE),
    Passage("word " * 100, 6),
)
ROWS = {node.id: tuple(row for row in REPORT.rows if row.node_id == node.id) for node in REPORT.nodes}
PATH = PathText(REPORT.nodes, ROWS, {}, dict.fromkeys((node.id for node in REPORT.nodes), 0.5), frozenset(), {}, frozenset())
SHOWN = Shown((), {f"n{place}": node for place, node in enumerate(REPORT.nodes, 1)}, 0, 0, seen=frozenset({REPORT.nodes[2].id}))


def booked_quotes(*cited, answer="41.2", shown=SHOWN):
    with counting_calls("a", {}) as book:
        quotes = check_quotes(answer, [Cited(passage=p, quote=q) for p, q in cited], shown, PATH, most_words=40)
    return [(quote.node.id, quote.text) for quote in quotes], book


def quoted(*cited, **more):
    quotes, book = booked_quotes(*cited, **more)
    return quotes, book.left_out


def test_words_are_quoted_as_they_stand_and_of_a_table_the_whole_row():
    found, left_out = quoted(
        ("n1", "the GEARBOX failed"), (" n2 ", "Total revenue | 184.6"), ("n2", "41.2"), ("n1", "The gearbox failed.")
    )
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


def test_what_is_seen_in_a_picture_keeps_its_place_with_the_words_that_are_known_of_it():
    found, book = booked_quotes(("n3", "the bar of Braye is blue"), ("n3", "the bar of Braye is blue "))
    assert found == [(REPORT.nodes[2].id, "Ellary works 418 Braye yard 212")] and book.left_out == 0
    assert book.unchecked == {(REPORT.nodes[2].id, "the bar of Braye is blue")}
    assert booked_quotes(("n3", "Braye yard"))[1].unchecked == set()
    captioned = replace(SHOWN, nodes={"n3": replace(REPORT.nodes[2], caption="Figure 2: People")})
    assert quoted(("n3", "a blue bar"), shown=captioned)[0] == [(REPORT.nodes[2].id, "Figure 2: People")]
    assert quoted(("n3", "the bar is blue"), shown=replace(SHOWN, seen=frozenset())) == ([], 1)


@pytest.mark.parametrize("cited", [("n1", "the"), ("n1", "a"), ("n4", "..."), ("n3", "the one with it"), ("n3", "")])
def test_words_that_say_nothing_by_themselves_prove_nothing(cited):
    assert quoted(cited) == ([], 1)


def test_words_that_say_nothing_by_themselves_may_be_the_answer():
    assert quoted(("n1", "a"), answer="A")[0] == [(REPORT.nodes[0].id, "a")]


def test_of_several_rows_with_these_words_the_answer_says_which_and_else_none_is_quoted():
    rows = ROWS[REPORT.nodes[1].id]
    assert standing_text("revenue", REPORT.nodes[1], rows, "184.6 in total") == "Total revenue: 184.6"
    assert standing_text("revenue", REPORT.nodes[1], rows, "41.2") == "Service revenue: 41.2"
    assert standing_text("revenue", REPORT.nodes[1], rows, "It is the revenue.") is None
    assert standing_text("revenue", REPORT.nodes[1], [*rows[1:2], *rows[1:2]], "it") == "Service revenue: 41.2"
    assert standing_text("Segment: 2024", REPORT.nodes[1], rows, "2024") == "Segment: 2024", "a header is quoted from the text"


def test_a_long_quote_is_shortened_but_stands_in_its_passage():
    ((_, text),) = quoted(("n4", "word " * 90))[0]
    assert text.split() == ["word"] * 40


def proven(answer, *cited, question="What was it?"):
    with counting_calls("a", {}):
        proof = prove_by_citations(question, answer, [Cited(passage=p, quote=q) for p, q in cited], SHOWN, PATH, most_words=40)
    return [quote.text for quote in proof.quotes], [part.support for part in proof.parts]


def test_where_no_quote_holds_the_cited_passages_may_say_the_answer_itself():
    cited = ("n2", "revenue came to"), ("n77", "")
    assert proven("184.6", *cited) == (["Total revenue: 184.6"], [Support.QUOTED])
    assert proven("418", *cited) == proven("184.6", cited[1]) == ([], [Support.UNSUPPORTED])


@pytest.mark.parametrize("answer", ["Yes", "no", "Yes."])
def test_a_yes_or_no_proves_nothing_by_standing_somewhere(answer):
    assert proven(answer, ("n1", ""))[0] == []


def test_what_a_model_saw_in_a_picture_proves_what_no_words_prove():
    assert proven("blue", ("n3", "the bar of Braye is blue")) == (["Ellary works 418 Braye yard 212"], [Support.QUOTED])


def test_what_one_path_saw_in_a_picture_proves_nothing_for_another_that_quotes_its_words():
    with counting_calls("a", {}):
        for words, support in (("the bar of Braye is blue", Support.QUOTED), ("Ellary works 418", Support.UNSUPPORTED)):
            cited = [Cited(passage="n3", quote=words)]
            proof = prove_by_citations("What was it?", "blue", cited, SHOWN, PATH, most_words=40)
            assert [part.support for part in proof.parts] == [support]
