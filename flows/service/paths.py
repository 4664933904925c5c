"""Paths in replies over HTTP begin at their root: where that lies on this machine is no client's business."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from storage.locations import home, uploads_folder
from storage.object_address import is_address
from storage.records.documents import DocumentRecord

T = TypeVar("T")


def roots_of(documents: Iterable[DocumentRecord]) -> list[str]:
    """Return the common folder of documents that were read in place, if one lies directly in it; else the folder of each."""
    own = {str(Path(path).parent) for document in documents for path in document.paths if not is_address(path)}
    elsewhere = sorted(folder for folder in own if not folder.startswith(f"{os.path.realpath(home())}/"))
    common = os.path.commonpath(elsewhere) if elsewhere else "/"
    return [common] if common in elsewhere else elsewhere


def from_root(value: T, roots: Iterable[str] = ()) -> T:
    """Return the view, or value of JSON, with paths that begin at these roots or the home; an upload's is its name."""
    uploads = [rf"{re.escape(folder)}/[^/]+/\w+/" for folder in _name_both_ways(uploads_folder())]
    named = map(os.path.split, [*_name_both_ways(home()), *roots])
    others = [re.escape(parent.rstrip("/")) + rf"/(?={re.escape(name)}(?![\w.-]))" for parent, name in named if name]
    shown: T = _cut_paths(value, re.compile(rf"(?<![\w/.])(?:{'|'.join([*uploads, *others])})"))
    return shown


def _name_both_ways(folder: Path) -> list[str]:
    """Return a folder's path as named, and with links resolved, as the catalog has it."""
    return [os.fspath(folder), os.path.realpath(folder)]


def _cut_paths(value: Any, above: re.Pattern[str]) -> Any:  # noqa: ANN401 - of JSON
    if isinstance(value, BaseModel):
        return type(value).model_validate(_cut_paths(value.model_dump(), above))
    if isinstance(value, str):
        return above.sub("", value)
    if isinstance(value, dict):
        return {name: _cut_paths(one, above) for name, one in value.items()}
    return [_cut_paths(one, above) for one in value] if isinstance(value, list | tuple) else value
