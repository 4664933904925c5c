"""What an embedder makes of texts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Tokens = tuple[bytes, ...]
"""Of each text the bits of its tokens' vectors, one behind the other; tasks/algorithms/text/late_interaction.py packs them."""


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """`vectors` (texts, dimension), and `tokens` where the embedder has some."""

    vectors: npt.NDArray[np.float32]
    tokens: Tokens | None = None
