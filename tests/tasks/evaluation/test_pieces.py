"""What an evaluation says of quotes, and what it hands to a fit of them."""

from dataclasses import replace

import numpy as np

from storage.records.evaluations import Asked, BenchmarkQuestion
from tasks.algorithms.evidence import FEATURES
from tasks.evaluation.asking import shows_answer
from tasks.evaluation.pieces import fitted_pieces, piece_rows, score_pieces
from tasks.reading.evidence import Piece, Weighed
from tests.asking_worlds import Passage, written

DEPTH = BenchmarkQuestion(
    "depth", "How deep is it?", ("odd.pdf",), evidence=(("odd.pdf", 1),), answers=("45",), answer_format="Int"
)
RIGHT, CHANCE = "The harbour is 45 metres deep.", "A crane costs 45 crowns."
INSIDE = FEATURES.index("share of the question inside")


def weighed(*pieces):
    """Return pieces (text, page, share of the question inside) as a reader weighs them."""
    document = written("odd", *(Passage(text, page) for text, page, _ in pieces))
    features = np.zeros((len(pieces), len(FEATURES)))
    features[:, INSIDE] = [share for *_, share in pieces]
    listed = [Piece(text, node, None, block) for block, (node, (text, *_)) in enumerate(zip(document.nodes, pieces, strict=True))]
    return document.document_id, Weighed(listed, features)


def test_an_answer_that_a_later_quote_shows_is_not_shown_by_the_first():
    quotes = ("It rose by 145 to 4.5 or 45.5.", "It was -45.", "It was 45 then.")
    assert [shows_answer(DEPTH, quotes[:most]) for most in range(4)] == [False, False, False, True]
    both = replace(DEPTH, answers=('["145", "45"]',), answer_format="List")
    assert [shows_answer(both, quotes[:most]) for most in range(4)] == [False, False, False, True]


def test_an_answer_proves_something_on_its_own_page_beside_a_word_of_the_question():
    document, seen = weighed((RIGHT, 1, 0.5), (CHANCE, 1, 0.0), (RIGHT, 2, 0.5), ("It is 145 metres deep.", 1, 0.5))
    rows = piece_rows(DEPTH, {(document, 1)}, [seen])
    assert [row[:4] for row in rows] == [(1.0, 1.0, 6.0, 0.0), (1.0, 0.0, 5.0, 1.0), (1.0, 0.0, 6.0, 2.0), (0.0, 0.0, 5.0, 3.0)]
    assert [row[4 + INSIDE] for row in rows] == [0.5, 0.0, 0.5, 0.5]
    for useless in (replace(DEPTH, evidence=()), replace(DEPTH, answers=()), replace(DEPTH, answer_format="List")):
        assert piece_rows(useless, {(document, 1)}, [seen]) == ()
    assert piece_rows(DEPTH, {(document, 1)}, []) == ()


def test_weights_are_fitted_to_what_was_asked_and_scored_on_documents_that_they_did_not_see():
    document, seen = weighed((RIGHT, 1, 1.0), (CHANCE, 1, 0.1), *((f"Pier {number} is old.", 1, 0.1) for number in range(60)))
    rows = piece_rows(DEPTH, {(document, 1)}, [seen])
    questions = [replace(DEPTH, id=name, documents=(name,), evidence=((name, 1),)) for name in map("{}.pdf".format, range(6))]
    asked = {one.id: Asked("key", one.id, "flow", (), (), 1.0, "", "evidence", pieces=rows) for one in questions}
    fitted = fitted_pieces(questions, asked)
    assert fitted is not None and fitted.weights[INSIDE] > 0.0
    scores, why = score_pieces("flow", questions, asked, most_words=10)
    assert why == () and len(scores) == 2 * len(questions) and set(scores["value"]) == {1.0}
    nothing = {name: replace(one, pieces=()) for name, one in asked.items()}
    assert fitted_pieces(questions, nothing) is None
    assert score_pieces("flow", questions, nothing, most_words=10)[1]
