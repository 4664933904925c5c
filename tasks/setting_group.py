"""What every group of settings has in common."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """A frozen group of settings that knows no names but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def dotted(settings: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each setting by its dotted name, with its value in JSON; a list is one value."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, ensure_ascii=False, sort_keys=True)
