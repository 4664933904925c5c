"""What is shown of the pages found: features by hand, runs against every choice there is, a fit that sees what it should."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.evidence import (
    FEATURES,
    FURTHER,
    LENGTH_PRICE,
    SHORTEST,
    PieceTexts,
    ShownExample,
    choose_runs,
    fit_pieces,
    shown_out_of_fold,
    speaks_of_it,
    spread_features,
)
from tasks.algorithms.probability import FitError


def chosen(held, words, blocks, most_words=150, longest=60):
    return choose_runs(
        held=np.atleast_2d(np.array(held, dtype=np.float64)),
        words=np.array(words),
        blocks=np.array(blocks),
        most_words=most_words,
        longest=longest,
    )


def test_the_features_of_two_pieces_by_hand():
    texts = PieceTexts(
        stems=[{"revenue", "total"}, {"staff"}, {"revenue"}],
        heads=[{"staff"}, {"staff"}, set()],
        nodes=np.array([0, 0, 1]),
        pages=np.array([4, 4, 9]),
        worths=np.array([0.4, 0.4, 0.8]),
        words=np.array([3, 1, 1]),
    )
    found = spread_features(
        texts,
        shares={"revenue": 0.75, "staff": 0.25},
        asks_kind=True,
        asks_number=True,
        holds_kind=[True, False, True],
        numbers=[1, 0, 3],
        says_new=[True, True, False],
        names_only=[False, False, True],
        counts=[False, False, True],
    )
    by_name = dict(zip(FEATURES, found.T.tolist(), strict=True))
    assert by_name["rank of the page"] == [0.5, 0.5, 1.0] and by_name["worth of the node"] == [0.5, 0.5, 1.0]
    assert by_name["share of the question inside"] == [0.75, 0.25, 0.75]
    assert by_name["inside or in the piece before"] == [0.75, 1.0, 0.75], "another node is no neighbour"
    assert by_name["inside or in the piece after"] == [1.0, 0.25, 0.75]
    assert by_name["inside or in headings and caption"] == [1.0, 0.25, 0.75], "what stands inside counts as well"
    assert by_name["holds what is asked for"] == [1.0, 0.0, 1.0] and by_name["lacks what is asked for"] == [0.0, 1.0, 0.0]
    assert by_name["numbers, where one is asked for"] == pytest.approx(np.log1p([1, 0, 3]).tolist())
    assert by_name["numbers, where none is asked for"] == [0.0, 0.0, 0.0]
    assert by_name["says nothing new"] == [0.0, 0.0, 1.0] and by_name["names only"] == [0.0, 0.0, 1.0]
    assert by_name["number of what is counted"] == [0.0, 0.0, 1.0]
    assert by_name["share inside by the largest"] == [1.0, 1 / 3, 1.0]
    assert speaks_of_it(found).tolist() == [True, True, True]


def test_neighbours_are_shown_together_where_that_holds_more():
    assert chosen([0.5, 0.4, 0.01], [10, 4, 30], [0, 0, 0]) == [range(2)]


def test_each_part_of_a_question_gets_its_best_run_first():
    first, second = [0.5, 0.4, 0.0], [0.0, 0.1, 0.3]
    assert chosen([first, second], [9, 9, 9], [0, 1, 2]) == [range(1), range(2, 3), range(1, 2)]


def test_what_is_faint_beside_the_best_is_not_shown():
    assert chosen([0.8, 0.02, 0.3], [9, 9, 9], [0, 1, 2]) == [range(1), range(2, 3)]


def test_one_piece_is_shown_however_few_words_there_is_room_for():
    assert chosen([0.1, 0.9], [8, 30], [0, 0], most_words=10) == [range(1, 2)]
    assert chosen([], [], []) == []


PIECES = st.lists(
    st.tuples(st.floats(0.01, 1.0), st.integers(1, 30), st.booleans()).map(lambda one: (one[0], one[1], int(one[2]))),
    min_size=1,
    max_size=7,
)


@given(pieces=PIECES, most=st.integers(5, 60), longest=st.integers(5, 40))
def test_runs_keep_to_their_block_their_length_and_the_room_and_the_first_is_the_best_of_all(pieces, most, longest):
    held, words = [one[0] for one in pieces], [one[1] for one in pieces]
    blocks = np.cumsum([one[2] for one in pieces]).tolist()
    runs = chosen(held, words, blocks, most, longest)
    lengths = [sum(words[run.start : run.stop]) for run in runs]
    assert sum(lengths) <= most or len(runs) == 1
    for run, length in zip(runs, lengths, strict=True):
        assert len(set(blocks[run.start : run.stop])) == 1 and (length <= longest or len(run) == 1)
    assert all(first.stop <= second.start for first, second in pairwise(sorted(runs, key=lambda run: run.start)))

    def worth(run):
        missed = np.prod([1.0 - min(held[place], 1.0 - 1e-9) for place in run])
        best = max(held[place] for place in run)
        return (best + FURTHER * (1.0 - missed - best)) / max(sum(words[run.start : run.stop]), SHORTEST) ** LENGTH_PRICE

    possible = [
        range(start, stop)
        for start in range(len(pieces))
        for stop in range(start + 1, len(pieces) + 1)
        if len(set(blocks[start:stop])) == 1 and (sum(words[start:stop]) <= min(most, longest) or stop == start + 1)
    ]
    assert worth(runs[0]) == pytest.approx(max(map(worth, possible))), "a piece alone, however long, or a run that fits"


def example(document, seed):
    """A question of eight pieces, where the one that holds most of the question proves the answer."""
    features = np.random.default_rng(seed).uniform(size=(8, len(FEATURES)))
    right = (features[:, 2] == features[:, 2].max()).astype(np.float64)
    return ShownExample(document, features, np.full(8, 20), np.arange(8), right, right)


def test_a_fit_finds_what_proves_the_answer_and_shows_it_for_documents_that_it_did_not_see():
    examples = [example(f"{number % 5}.pdf", number) for number in range(40)]
    assert int(np.argmax(fit_pieces(examples).weights)) == 2
    shown, first = shown_out_of_fold(examples, most_words=60, longest=60, folds=5, seeds=range(2))
    assert first.mean() > 0.5 and shown.mean() > 0.8, "by chance one in eight, and three"
    alone, _first = shown_out_of_fold(examples, most_words=20, longest=60, folds=5, seeds=range(2))
    assert alone.mean() == pytest.approx(first.mean()), "of one quote the first is all"


def test_nothing_is_fitted_to_nothing_nor_scored_on_one_document():
    with pytest.raises(FitError, match="no question has an answer"):
        fit_pieces([])
    with pytest.raises(FitError, match="stand in one document"):
        shown_out_of_fold([example("a.pdf", 1)], most_words=150, longest=60, folds=5, seeds=[0])
