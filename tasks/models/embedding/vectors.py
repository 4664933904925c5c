"""What any embedder must give back before we trust it."""

import numpy as np
import numpy.typing as npt

from storage.errors import ExpectedError
from storage.records.documents import Vectors


class EmbeddingError(ExpectedError):
    """Vectors that cannot be had or must not be used; the message names the embedder, what is wrong, and the remedy."""


def unit_vectors(raw: npt.ArrayLike, *, count: int, dimension: int, source: str) -> Vectors:
    """Return `raw` as (count, dimension) unit vectors of float32; raise EmbeddingError where a row cannot become one."""
    try:
        vectors = np.asarray(raw, dtype=np.float64)
    except ValueError as error:
        raise EmbeddingError(f"{source} gave vectors of different lengths", remedy="ask for one model only") from error
    if len(vectors) != count:
        raise EmbeddingError(f"{source} gave {len(vectors)} vectors for {count} texts", remedy="nothing was stored")
    if count == 0:
        return np.zeros((0, dimension), dtype=np.float32)
    if vectors.ndim != 2 or vectors.shape[1] != dimension:
        raise EmbeddingError(
            f"{source} gave vectors of shape {vectors.shape[1:]} where {dimension} numbers were expected",
            remedy="a corpus keeps the embedder it was made with",
        )
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(vectors, axis=1)
    wrong = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if len(wrong):
        row = int(wrong[0])
        raise EmbeddingError(
            f"{source} gave a vector of length {lengths[row]} for text {row} of {count}", remedy="nothing was stored"
        )
    unit: Vectors = (vectors / lengths[:, None]).astype(np.float32)
    return unit
