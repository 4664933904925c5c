"""Which nodes are linked, as arrays that are mapped rather than loaded, so that hops cost the same in a corpus of any size.

LanceDB finds the arcs of a thousand nodes in 150 ms among a million arcs and more among ten; a question needs them in a few. These
arrays hold nothing that the tables `nodes` and `edges` do not: `adjacency_files.py` derives them from two pinned versions.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storage.graph.filters import HEXADECIMAL_ID
from storage.graph.lookups import every_row
from storage.graph.store import GraphStore, explain_damage
from storage.graph.tables import TableName
from storage.records.documents import EdgeKind, Modality, NodeKind

IntArray = npt.NDArray[np.int64]
Digests = npt.NDArray[np.bytes_]
"""SHA-256 in 32 bytes each."""
_IDEOGRAPH = r"\x{3040}-\x{30ff}\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}"
WORD = rf"[{_IDEOGRAPH}]{{1,2}}|[^\s{_IDEOGRAPH}]+"
"""What counts as a word in a length: what stands between spaces, or two ideographs."""
ARCS_AT_ONCE = 1 << 20
DIGEST = np.dtype("S32")

SYMMETRIC = frozenset({EdgeKind.SEMANTIC, EdgeKind.WINDOW})
"""Kinds that are stored as two arcs; every other arc is listed at its head too, so that hops can go against it."""
AGAINST = 128
"""Added to the kind of such a listing: it is a way for hops, not an arc."""


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Nodes in the order of their rows in LanceDB (their position), and their arcs; kinds are positions in their enum.

    `rows` (n,) are the row ids, ascending; `ids` and `document_ids` are digests, the latter sorted; `documents` (n,) gives which of
    them; `by_id` (n,) lists the positions by id; `labels` (n,) are as `label_code` writes them. The arcs of position p are
    `starts[p]` up to `starts[p + 1]` of the last three.
    """

    rows: npt.NDArray[np.uint64]
    ids: Digests
    by_id: npt.NDArray[np.int32]
    document_ids: Digests
    documents: npt.NDArray[np.int32]
    pages: npt.NDArray[np.int32]
    ordinals: npt.NDArray[np.int32]
    kinds: npt.NDArray[np.uint8]
    modalities: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.uint32]
    meaningless: npt.NDArray[np.bool_]
    summary_words: npt.NDArray[np.int32]
    starts: IntArray
    heads: npt.NDArray[np.int32]
    arc_kinds: npt.NDArray[np.uint8]
    weights: npt.NDArray[np.float64]

    def hex_ids(self, positions: IntArray) -> list[str]:
        """Return the ids as they stand in records."""
        return hexadecimal(self.ids[positions])

    def positions_of(self, ids: Sequence[str]) -> IntArray:
        """Return where the ids are; raise LookupError where one is not."""
        found = self.find(ids)
        if (found < 0).any():
            strange = ids[int(np.argmin(found))]
            raise LookupError(f"node {strange[:12]!r} is not in this snapshot; ask again for what is there now")
        return found

    def find(self, ids: Sequence[str]) -> IntArray:
        """Return where the ids are, -1 for one that is not there or is none."""
        found = np.full(len(ids), -1, np.int64)
        usable = [place for place, name in enumerate(ids) if HEXADECIMAL_ID.fullmatch(name)] if len(self.ids) else []
        asked = digests([ids[place] for place in usable])
        # what is beyond the last id is compared with it, and so is found to be another
        places = np.minimum(np.searchsorted(self.ids, asked, sorter=self.by_id), len(self.ids) - 1)
        positions = self.by_id[places].astype(np.int64)
        found[usable] = np.where(self.ids[positions] == asked, positions, -1)
        return found

    def positions_of_rows(self, rows: npt.NDArray[np.uint64]) -> IntArray:
        return np.searchsorted(self.rows, rows).astype(np.int64)

    def arcs_of(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        """Return (position in `positions`, place among the arcs) of every listing of these nodes."""
        begins, counts = self.starts[positions], self.starts[positions + 1] - self.starts[positions]
        owners = np.repeat(np.arange(len(positions)), counts)
        first = np.cumsum(counts) - counts
        return owners, np.arange(len(owners)) - first[owners] + begins[owners]


def label_code(label: str) -> int:
    """Return by what nodes of a label are found, however it is written; 0 where it is none."""
    return zlib.crc32(label.casefold().encode())


def digests(ids: Sequence[str]) -> Digests:
    return np.frombuffer(bytes.fromhex("".join(ids)), DIGEST)


def hexadecimal(values: Digests) -> list[str]:
    text = values.tobytes().hex()
    return [text[start : start + 64] for start in range(0, len(text), 64)]


def derive(graph: GraphStore) -> Adjacency:
    """Read the arrays out of the tables; raise GraphDamagedError where those are unreadable.

    Arcs that end at no node are left out; `flowreader doctor` finds them.
    """
    columns = ["id", "document_id", "page", "ordinal", "kind", "modality", "label", "meaningless", "summary"]
    nodes = every_row(graph, TableName.NODES, columns)
    ids = digests(nodes["id"].to_pylist())
    documents = nodes["document_id"].combine_chunks().dictionary_encode()
    document_ids = digests(documents.dictionary.to_pylist())
    labels = nodes["label"].combine_chunks().dictionary_encode()
    label_codes = np.array([label_code(label) for label in labels.dictionary.to_pylist()], np.uint32)
    order = np.argsort(document_ids)
    by_id = np.argsort(ids)
    with explain_damage(TableName.EDGES):
        arcs = _read_arcs(graph, ids[by_id], by_id)
    return Adjacency(
        rows=nodes["_rowid"].to_numpy(),
        ids=ids,
        by_id=by_id.astype(np.int32),
        document_ids=document_ids[order],
        documents=np.argsort(order).astype(np.int32)[documents.indices.to_numpy()],
        pages=nodes["page"].to_numpy(),
        ordinals=nodes["ordinal"].to_numpy(),
        kinds=_codes(nodes["kind"], NodeKind),
        modalities=_codes(nodes["modality"], Modality),
        labels=label_codes[labels.indices.to_numpy()],
        meaningless=nodes["meaningless"].to_numpy(),
        summary_words=pc.count_substring_regex(nodes["summary"], WORD).to_numpy().astype(np.int32),
        **_by_tail(*arcs, count=len(ids)),
    )


def _read_arcs(graph: GraphStore, sorted_ids: Digests, by_id: IntArray) -> tuple[Any, Any, Any, Any]:
    """Return tails, heads, kinds and weights, read in parts of a bounded size: a corpus has more text in its arcs than fits."""
    parts = [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0))]
    query = graph.tables[TableName.EDGES].search().select(["source", "target", "kind", "weight"])
    for batch in query.to_batches(batch_size=ARCS_AT_ONCE):
        tails, heads = (_positions(batch[end], sorted_ids, by_id) for end in ("source", "target"))
        whole = (tails >= 0) & (heads >= 0)
        kinds, weights = _codes(batch["kind"], EdgeKind), batch["weight"].to_numpy()
        parts.append((tails[whole], heads[whole], kinds[whole], weights[whole]))
    tails, heads, kinds, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return tails, heads, kinds, weights


def _positions(names: pa.Array, sorted_ids: Digests, by_id: IntArray) -> npt.NDArray[np.int32]:
    """Return where the nodes are, -1 where there is none; an end stands in many arcs and is looked up once."""
    coded = names.dictionary_encode()
    asked = digests(coded.dictionary.to_pylist())
    if not len(sorted_ids):
        return np.full(len(names), -1, np.int32)
    places = np.minimum(np.searchsorted(sorted_ids, asked), len(sorted_ids) - 1)
    found = np.where(sorted_ids[places] == asked, by_id[places], -1).astype(np.int32)
    return np.asarray(found[coded.indices.to_numpy()])


def _codes(column: pa.Array | pa.ChunkedArray, kinds: type[StrEnum]) -> npt.NDArray[np.uint8]:
    known = pa.array([kind.value for kind in kinds])
    return np.asarray(pc.index_in(column, value_set=known).to_numpy(), np.uint8)


def _by_tail(
    tails: npt.NDArray[np.int32],
    heads: npt.NDArray[np.int32],
    kinds: npt.NDArray[np.uint8],
    weights: npt.NDArray[np.float64],
    *,
    count: int,
) -> dict[str, Any]:
    """Return the arcs, and the listings against them, ordered by the node that lists them."""
    one_way = ~np.isin(kinds, [code for code, kind in enumerate(EdgeKind) if kind in SYMMETRIC])
    owners = np.concatenate([tails, heads[one_way]])
    order = np.argsort(owners, kind="stable")
    return {
        "starts": np.searchsorted(owners[order], np.arange(count + 1)).astype(np.int64),
        "heads": np.concatenate([heads, tails[one_way]])[order],
        "arc_kinds": np.concatenate([kinds, kinds[one_way] | AGAINST]).astype(np.uint8)[order],
        "weights": np.concatenate([weights, weights[one_way]])[order],
    }
