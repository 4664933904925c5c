"""Records to bytes and back: canonical JSON for everything, one .npy stack for the vectors of a graph."""

import io
import json
from dataclasses import fields
from typing import TypeVar, cast

import numpy as np
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from storage.errors import ExpectedError
from storage.records.documents import DocumentGraph, GraphText

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

    Behind the stack stand the second embedder's vectors, where there are some.
    """
    text = GraphText(**{field.name: getattr(graph, field.name) for field in fields(GraphText)})
    stream = io.BytesIO()
    stack = np.concatenate([graph.initial_vectors, graph.vectors, graph.page_vectors])
    np.save(stream, stack.astype(np.float32, copy=False), allow_pickle=False)
    if graph.second_vectors is not None:
        np.save(stream, graph.second_vectors.astype(np.float32, copy=False), allow_pickle=False)
    return to_json(text), stream.getvalue()


def decode_graph(text: bytes, vectors: bytes) -> DocumentGraph:
    """Return the graph of two artifacts that `encode_graph` made."""
    parts = from_json(GraphText, text)
    stream, nodes = io.BytesIO(vectors), len(parts.nodes)
    stack = np.load(stream, allow_pickle=False)
    second = np.load(stream, allow_pickle=False) if stream.tell() < len(vectors) else None
    named = {field.name: getattr(parts, field.name) for field in fields(GraphText)}
    return DocumentGraph(
        **named,
        initial_vectors=stack[:nodes],
        vectors=stack[nodes : 2 * nodes],
        page_vectors=stack[2 * nodes :],
        second_vectors=second,
    )
