"""Records to bytes and back: canonical JSON for everything, one .npy stack for the vectors of a graph."""

import io
import json
from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from storage.errors import ExpectedError
from storage.records.documents import DocumentGraph, GraphText, Vectors
from storage.records.embedded import Tokens

T = TypeVar("T")


class CodecError(ExpectedError, ValueError):
    """Bytes that are not the record they should be, or a record that no bytes can hold."""


ADAPTERS: dict[type, TypeAdapter[object]] = {}
"""The checker of each kind of record; building one takes milliseconds."""


def adapter(kind: type[T]) -> TypeAdapter[T]:
    if kind not in ADAPTERS:
        ADAPTERS[kind] = TypeAdapter(kind)
    return cast(TypeAdapter[T], ADAPTERS[kind])


def canonical_json(value: object) -> bytes:
    """Return plain values as JSON that is equal where they are equal: keys sorted, UTF-8, shortest floats, no NaN."""
    try:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8")
    except ValueError as error:
        raise CodecError(f"not writable as JSON: {error}", remedy="mend whatever made the value") from error


def to_json(value: object) -> bytes:
    """Return a record as canonical JSON; raise CodecError for NaN, infinity and lone surrogates."""
    try:
        return canonical_json(adapter(type(value)).dump_python(value, mode="json", warnings="error"))
    except PydanticSerializationError as error:
        raise CodecError(f"{type(value).__name__} is not writable as JSON: {error}") from error


def from_json(kind: type[T], data: bytes) -> T:
    """Return the record that the bytes hold; raise CodecError where they hold something else."""
    try:
        return adapter(kind).validate_json(data)
    except ValidationError as error:
        raise CodecError(f"bytes do not hold a {kind.__name__}: {error.errors()[0]['msg']}", remedy="make them again") from error


def from_plain(kind: type[T], value: object) -> T:
    """Return the record of plain values by name: a list where it has a tuple, a text where it has a member of an enum."""
    return adapter(kind).validate_python(value)


def encode_graph(graph: DocumentGraph) -> tuple[bytes, bytes]:
    """Return the graph as JSON and the stack of its vectors: initial, last and pages', (2 nodes + pages, dimension).

    Behind the stack stand the second embedder's vectors and the tokens, where there are some.
    """
    text = GraphText(**{field.name: getattr(graph, field.name) for field in fields(GraphText)})
    stack = np.concatenate([graph.initial_vectors, graph.vectors, graph.page_vectors])
    second = [] if graph.second_vectors is None else [graph.second_vectors]
    return to_json(text), save_arrays([stack, *second], graph.tokens)


def decode_graph(text: bytes, vectors: bytes) -> DocumentGraph:
    """Return the graph of two artifacts that `encode_graph` made."""
    parts = from_json(GraphText, text)
    nodes, ((stack, *second), tokens) = len(parts.nodes), load_arrays(vectors)
    named = {field.name: getattr(parts, field.name) for field in fields(GraphText)}
    return DocumentGraph(
        **named,
        initial_vectors=stack[:nodes],
        vectors=stack[nodes : 2 * nodes],
        page_vectors=stack[2 * nodes :],
        second_vectors=second[0] if second else None,
        tokens=tokens,
    )


def save_arrays(vectors: Sequence[Vectors], tokens: Tokens | None) -> bytes:
    """Return vectors one behind the other, then the lengths of the texts' tokens and these, where there are some."""
    arrays: list[npt.NDArray[Any]] = [each.astype(np.float32, copy=False) for each in vectors]
    if tokens is not None:
        arrays += [np.array(list(map(len, tokens)), np.int64), np.frombuffer(b"".join(tokens), np.uint8)]
    stream = io.BytesIO()
    for array in arrays:
        np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def load_arrays(saved: bytes) -> tuple[list[Vectors], Tokens | None]:
    """Return what `save_arrays` was given."""
    stream, arrays = io.BytesIO(saved), list[npt.NDArray[Any]]()
    while stream.tell() < len(saved):
        arrays.append(np.load(stream, allow_pickle=False))
    vectors = [array for array in arrays if array.ndim > 1]
    if len(vectors) == len(arrays):
        return vectors, None
    lengths, kept = arrays[-2:]
    ends, whole = [0, *np.cumsum(lengths).tolist()], kept.tobytes()
    return vectors, tuple(whole[first:last] for first, last in pairwise(ends))
