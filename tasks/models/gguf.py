"""What a GGUF file says ahead of its weights: for how many tokens its model was trained, and what a token of context takes."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"GGUF"
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9
NUMBER_BYTES = 2
"""llama.cpp keeps keys and values as numbers of 16 bits."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    trained_tokens: int
    token_bytes: int
    """Of the keys and values of one token in all layers; less where some layers look at the last tokens only."""


def shape_of(path: Path) -> ModelShape:
    """Raise ValueError where the file does not say it, being damaged or no chat model's."""
    with path.open("rb") as file:
        file.seek(len(MAGIC))
        try:
            return _shape(_fields(file))
        except (struct.error, LookupError, TypeError, AttributeError, OverflowError, MemoryError) as error:
            raise ValueError(f"its beginning cannot be understood, {type(error).__name__}: {error}") from error


def _fields(file: BinaryIO) -> dict[str, Any]:
    _version, _tensors, fields = _numbers(file, "IQQ")
    return {_text(file).decode(): _value(file, *_numbers(file, "I")) for _ in range(fields)}


def _value(file: BinaryIO, kind: int) -> Any:  # noqa: ANN401 - whatever a field holds
    if kind == TEXT:
        return _text(file)
    if kind != LIST:
        return _numbers(file, NUMBERS[kind])[0]
    kind, length = _numbers(file, "IQ")
    return [_text(file) for _ in range(length)] if kind == TEXT else _numbers(file, f"{length}{NUMBERS[kind]}")


def _text(file: BinaryIO) -> bytes:
    return file.read(*_numbers(file, "Q"))


def _numbers(file: BinaryIO, kinds: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{kinds}", file.read(struct.calcsize(f"<{kinds}")))


def _shape(fields: dict[str, Any]) -> ModelShape:
    own = fields["general.architecture"].decode()
    heads = fields[f"{own}.attention.head_count"]
    pairs = fields.get(f"{own}.attention.head_count_kv", heads)
    in_layers = sum(pairs) if isinstance(pairs, tuple) else pairs * fields[f"{own}.block_count"]
    usual = fields[f"{own}.embedding_length"] // max(1, *(heads if isinstance(heads, tuple) else [heads]))
    numbers = sum(fields.get(f"{own}.attention.{each}_length", usual) for each in ("key", "value"))
    return ModelShape(fields[f"{own}.context_length"], in_layers * numbers * NUMBER_BYTES)
