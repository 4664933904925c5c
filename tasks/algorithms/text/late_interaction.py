"""Late interaction: a question and a text compared token by token, by one bit for each dimension of the text's vectors.

A model that was trained for one vector a text still gives one for each token. For each token of a question the best of a text's is
taken, and the mean of these over the question says how much of it the text speaks of (Khattab and Zaharia 2020).
"""

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tasks.algorithms.arrays import FloatArray, snap_coarse
from tasks.algorithms.text.words import STOP_WORDS

States = npt.NDArray[np.float32]
BITS = 384
"""Of a token's vector, at most: a page of 500 words takes some 20 kB."""
SEED = 20261128
BEGINS, GOES_ON = "\u2581\u0120", "##"
"""What tokenizers write before a token that begins a word, and before one that goes on."""


def is_content(token: str) -> bool:
    """Say whether a token is worth comparing: it has a letter or a digit, and is neither a stop word nor a tokenizer's mark."""
    if token.startswith(GOES_ON):
        return any(map(str.isalnum, token))
    word = token.lstrip(BEGINS).lower()
    is_mark = token[:1] in "[<" and token[-1:] in "]>"
    return not is_mark and word not in STOP_WORDS and any(map(str.isalnum, word))


@functools.cache
def projection(width: int) -> States:
    """Return a matrix (width, BITS), drawn at random and always the same: numpy keeps the stream of this generator for ever."""
    return np.random.RandomState(SEED).standard_normal((width, BITS)).astype(np.float32)


def project(states: States) -> States:
    """Return states (t, width) in BITS dimensions where they have more."""
    return states if states.shape[1] <= BITS else np.asarray(states @ projection(states.shape[1]))


def pack(states: States) -> bytes:
    """Return the signs of the states (t, width) of a text's tokens, one token behind the other."""
    return np.packbits(project(states) > 0, axis=1).tobytes()


def bytes_of_token(width: int) -> int:
    return -(-min(width, BITS) // 8)


def unpack(packed: bytes, width: int) -> npt.NDArray[np.uint8]:
    """Return what `pack` kept of states of this width, (t, width or BITS): 1 where a state is above 0."""
    return np.unpackbits(np.frombuffer(packed, np.uint8).reshape(-1, bytes_of_token(width)), axis=1, count=min(width, BITS))


def agreement_with(states: States, texts: Sequence[bytes]) -> FloatArray:
    """Return how much of a question each text speaks of (n,): the mean of the best of the text's tokens for each of the question's.

    `states` are those of the question's tokens (m, width). There is one, there is a text, and each has a token.
    """
    size, projected = bytes_of_token(states.shape[1]), project(states)
    # On the grid sums are exact: the same beside whichever others, by however many threads.
    asked = snap_coarse(projected / np.linalg.norm(projected, axis=1, keepdims=True))
    firsts = np.cumsum([0, *(len(text) // size for text in texts[:-1])])
    best = np.maximum.reduceat(asked @ unpack(b"".join(texts), states.shape[1]).astype(np.float32).T, firsts, axis=1)
    # with signs, -1 or 1, the product is twice that with bits less the sum
    return np.asarray((2 * best - asked.sum(axis=1, keepdims=True)).mean(axis=0, dtype=np.float64))
