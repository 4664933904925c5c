"""Late interaction: what tokens tell, what one bit a dimension keeps, and how much of a question a text speaks of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.text.late_interaction import BITS, agreement_with, is_content, pack, unpack


@pytest.mark.parametrize(
    ("content", "other"),
    [
        (
            ["tide", "##ing", "2015", "##5", "\u2581tide", "\u0120tide", "\u6f6e"],
            ["the", "of", "\u2581the", "\u0120The", ",", "##%"],
        ),
        (["pad", "s"], ["[PAD]", "[CLS]", "<s>", "</s>", "\u2581", ""]),
    ],
)
def test_words_and_numbers_are_compared_and_stop_words_signs_and_marks_are_not(content, other):
    assert [token for token in [*content, *other] if is_content(token)] == content


def test_a_text_speaks_of_a_question_by_the_mean_of_the_best_signs_for_each_of_its_tokens():
    states = np.array([[2.0, 0, 0, 0], [0, 3.0, 4.0, 0]], np.float32)
    near, far = (np.array(rows, np.float32) for rows in ([[1, 1, 1, 1], [-1, 1, 1, 1]], [[-1, -1, -1, -1]]))
    # by hand, to the grid: the first token agrees by 1 with the first of the near text; the second by 0.6 + 0.8 with either
    assert agreement_with(states, [pack(near), pack(far)]) == pytest.approx([(1 + 1.4) / 2, -(1 + 1.4) / 2], abs=1e-3)


@given(st.integers(0, 10_000), st.sampled_from([3, 8, 24, BITS, BITS + 5, 768]))
def test_bits_keep_the_signs_and_tell_the_nearest_text(seed, width):
    random = np.random.default_rng(seed)
    states = random.normal(size=(7, width)).astype(np.float32)
    kept = pack(states)
    assert len(kept) == 7 * -(-min(width, BITS) // 8)
    if width <= BITS:
        assert np.array_equal(unpack(kept, width), states > 0)
    texts = [kept, pack(random.normal(size=(5, width)).astype(np.float32)), pack(-states[:1])]
    for one, text in zip(agreement_with(states[:1], texts), texts, strict=True):
        assert one == pytest.approx(agreement_with(states[:1], [text])[0], abs=1e-4), "alone or among others"
    if width >= BITS:
        assert agreement_with(states[:1], texts).argmax() == 0
