"""Late interaction: a question and a text compared token by token, by one bit for each dimension of the text's vectors.

A model that was trained for one vector a text still gives one for each token. For each token of a question the best of a text's is
taken, and the mean of these over the question says how much of it the text speaks of (Khattab and Zaharia 2020).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.text.words import STOP_WORDS

States = npt.NDArray[np.float32]
BITS = 384
"""Of a token's vector, at most: a page of 500 words takes less than 20 kB."""
SEED = 20261128
BEGINS, GOES_ON = ("\u2581", "\u0120"), "##"
"""What tokenizers write before a token that begins a word, and before one that goes on."""


def tells(token: str) -> bool:
    """Say whether a token tells something: it has a letter or a digit, and is no stop word; marks of a tokenizer tell nothing."""
    if token.startswith(GOES_ON):
        return any(map(str.isalnum, token))
    word = token.lstrip("".join(BEGINS)).lower()
    is_mark = token[:1] in "[<" and token[-1:] in "]>"
    return not is_mark and word not in STOP_WORDS and any(map(str.isalnum, word))


def turned(states: States) -> States:
    """Return states (t, width) in BITS dimensions where they have more, by projections drawn at random, always the same."""
    width = states.shape[1]
    if width <= BITS:
        return states
    return np.asarray(states @ np.random.default_rng(SEED).normal(size=(width, BITS)).astype(np.float32))


def pack(states: States) -> bytes:
    """Return the signs of the states (t, width) of a text's tokens, one token behind the other."""
    return np.packbits(turned(states) > 0, axis=1).tobytes()


def unpack(packed: bytes, width: int) -> States:
    """Return what `pack` kept of states of this width, (t, width or BITS): -1 or 1."""
    kept = min(width, BITS)
    bits = np.frombuffer(packed, np.uint8).reshape(-1, -(-kept // 8))
    return np.unpackbits(bits, axis=1, count=kept).astype(np.float32) * 2 - 1


def agreements(states: States, texts: Sequence[bytes]) -> FloatArray:
    """Return how much of a question each text speaks of (n,): the mean of the best of the text's tokens for each of the question's.

    `states` are those of the question's tokens (m, width). There is one, and each text has one.
    """
    asked = turned(states) / np.linalg.norm(states, axis=1, keepdims=True)
    told = unpack(b"".join(texts), states.shape[1])
    bytes_of_token = -(-told.shape[1] // 8)
    firsts = np.cumsum([0, *(len(text) // bytes_of_token for text in texts[:-1])])
    best = np.maximum.reduceat(asked @ told.T, firsts, axis=1)
    return np.asarray(best.mean(axis=0, dtype=np.float64))
