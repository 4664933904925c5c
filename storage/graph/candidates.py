"""The part of the graph that a question works on: columns of its nodes, ordered by id, and the arcs among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from storage.graph.adjacency import AGAINST, Adjacency, IntArray, hexadecimal
from storage.records.documents import EdgeKind, Modality, NodeKind, Vectors

EDGE_KINDS = tuple(EdgeKind)
NODE_KINDS = tuple(NodeKind)
MODALITIES = tuple(Modality)


@dataclass(frozen=True, slots=True)
class CandidateGraph:
    """n nodes in the order of their ids, which is the order of everything, and m arcs ordered by tail, head and kind.

    `documents` (n,) are positions in `document_ids`, which are sorted; `kinds`, `modalities` and `arc_kinds` are positions in
    NODE_KINDS, MODALITIES and EDGE_KINDS; `summary_words` (n,) is how long the summaries are. `columns` has the columns asked
    for, (n,) arrays of strings, of tuples of strings, or of None where the table has nothing; `initial_vectors` is there where it
    was asked for.
    """

    ids: tuple[str, ...]
    document_ids: tuple[str, ...]
    documents: IntArray
    pages: IntArray
    kinds: IntArray
    modalities: IntArray
    meaningless: npt.NDArray[np.bool_]
    summary_words: IntArray
    vectors: Vectors
    initial_vectors: Vectors | None
    columns: Mapping[str, npt.NDArray[Any]]
    tails: IntArray
    heads: IntArray
    arc_kinds: IntArray
    weights: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.ids)


def assemble(adjacency: Adjacency, positions: IntArray, columns: Mapping[str, npt.NDArray[Any]]) -> CandidateGraph:
    """Return the graph of the nodes at these positions, which are ordered by id; `columns` has their vectors too."""
    named, documents = np.unique(adjacency.documents[positions], return_inverse=True)
    tails, heads, kinds, weights = arcs_among(adjacency, positions)
    return CandidateGraph(
        ids=tuple(adjacency.hex_ids(positions)),
        document_ids=tuple(hexadecimal(adjacency.document_ids[named])),
        documents=documents.astype(np.int64),
        pages=adjacency.pages[positions].astype(np.int64),
        kinds=adjacency.kinds[positions].astype(np.int64),
        modalities=adjacency.modalities[positions].astype(np.int64),
        meaningless=adjacency.meaningless[positions].astype(bool),
        summary_words=adjacency.summary_words[positions].astype(np.int64),
        vectors=columns["vector"],
        initial_vectors=columns.get("initial_vector"),
        columns={name: values for name, values in columns.items() if name not in {"vector", "initial_vector"}},
        tails=tails,
        heads=heads,
        arc_kinds=kinds,
        weights=weights,
    )


def arcs_among(adjacency: Adjacency, positions: IntArray) -> tuple[IntArray, IntArray, IntArray, npt.NDArray[np.float64]]:
    """Return tails, heads, kinds and weights of the arcs between these nodes, as places among them, by tail, head and kind."""
    place = np.full(len(adjacency.ids), -1, np.int64)
    place[positions] = np.arange(len(positions))
    tails, listed = adjacency.arcs_of(positions)
    heads, kinds = place[adjacency.heads[listed]], adjacency.arc_kinds[listed].astype(np.int64)
    inside = np.flatnonzero((heads >= 0) & (kinds < AGAINST))
    tails, heads, kinds, listed = tails[inside], heads[inside], kinds[inside], listed[inside]
    order = np.argsort((tails * len(positions) + heads) * AGAINST + kinds)
    return tails[order], heads[order], kinds[order], adjacency.weights[listed[order]]
