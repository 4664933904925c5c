"""What every group of settings has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """A frozen group of settings that knows no names but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")
