"""What of a path can be quoted stands in its nodes, in the length and with the words that count."""

from dataclasses import replace

import pytest

from storage.records import Modality, NodeKind
from tasks.algorithms.counting import count_terms
from tasks.path_reader import PathText
from tasks.quotable import pieces_of, pieces_on, quotes_on, says_nothing_new, shortened
from tests.asking_worlds import Passage, written

TABLE = Passage("Joint: Torque Nm\nRoot: 1850\nShaft: 2940", kind=NodeKind.TABLE)
FIGURE = Passage("Ellary 418 Braye yard 212 Corran 137 Sula 96", kind=NodeKind.FIGURE)
TEXT = Passage("The cable broke. It cost 5 million pounds.", section="The cable")
GRAPH = written("report", TABLE, FIGURE, TEXT, Passage("The cable", kind=NodeKind.TITLE))


def path_of(graph, rarity, titled=None):
    rows = {node.id: tuple(row for row in graph.rows if row.node_id == node.id) for node in graph.nodes}
    worth = {node.id: 0.5 for node in graph.nodes}
    return PathText(graph.nodes, rows, rarity, worth, said=frozenset(), titled=titled or {}, named=frozenset())


def quotes(rarity, **more):
    path = path_of(GRAPH, rarity, **more)
    return quotes_on(pieces_on(path), path)


def test_rows_figures_and_sentences_are_pieces_and_headers_are_not():
    texts = [piece.text for piece in pieces_on(path_of(GRAPH, {}))]
    assert texts == ["Root: 1850", "Shaft: 2940", FIGURE.text, "The cable broke.", "It cost 5 million pounds.", "The cable"]


def test_a_table_whose_rows_are_unknown_is_quoted_by_its_lines():
    assert [piece.text for piece in pieces_of(GRAPH.nodes[0], ())] == [TABLE.text]


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
    assert piece.text == text and count_terms([piece.words], ["staff"])[0].any()


def test_a_node_without_words_has_no_pieces():
    for modality in Modality:
        assert not list(pieces_of(replace(GRAPH.nodes[1], modality=modality, picture_text="", content=""), ()))


def test_what_stands_in_a_piece_covers_and_its_heading_stands_beside():
    cost = quotes({"cost": 1.0, "cabl": 1.0, "turbin": 1.0})[4]
    assert (cost.covered, cost.beside, cost.worth) == ({"cost"}, {"cabl"}, 0.5)


def test_a_name_in_the_title_of_the_document_stands_beside_every_piece():
    found = quotes({"merrow": 1.0}, titled={GRAPH.document_id: frozenset({"merrow"})})
    assert all(quote.beside == {"merrow"} for quote in found)


def test_a_long_text_is_cut_around_the_words_asked_for():
    pieces = pieces_on(path_of(GRAPH, {"yard": 1.0}))
    cut = shortened(quotes({"yard": 1.0})[2], pieces[2], {"yard": 1.0}, 4)
    assert cut.text == cut.told == "Braye yard 212 Corran"


def test_a_row_stays_whole_and_is_told_in_words():
    node = replace(GRAPH.nodes[0], caption="Table 1: Bolts")
    row = replace(GRAPH.rows[1], cells=("Root", "M36", "1850"), text="Table 1: Bolts | Joint: Root | Bolt: M36 | Torque Nm: 1850")
    (piece,) = pieces_of(node, (row,))
    path = PathText((node,), {node.id: (row,)}, {"torqu": 1.0}, {node.id: 0.5}, frozenset(), {}, frozenset())
    cut = shortened(quotes_on([piece], path)[0], piece, {"torqu": 1.0}, 2)
    assert cut.text == row.text and cut.told == "Joint: Root, Torque Nm: 1850"


def test_a_heading_and_an_echo_say_nothing_new():
    root, _shaft, _figure, broke, cost, title = quotes({"cabl": 1.0, "broke": 1.0})
    assert says_nothing_new(title, set()) and says_nothing_new(broke, {"cabl", "broke"})
    assert not says_nothing_new(cost, {"cost"}) and not says_nothing_new(root, {"root"})
