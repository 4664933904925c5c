"""Where models are served: the only reader of FLOWREADER_EMBED_BASE_URL and FLOWREADER_EMBED_MODEL."""

from __future__ import annotations

import os
from dataclasses import dataclass


class EndpointError(ValueError):
    """The environment names an endpoint by half; the message says which variable is missing."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind the OpenAI protocol."""

    base_url: str
    model: str


def embedding_endpoint() -> Endpoint | None:
    """Return the configured embeddings endpoint, or None where texts are embedded on this machine."""
    base_url = os.environ.get("FLOWREADER_EMBED_BASE_URL", "")
    model = os.environ.get("FLOWREADER_EMBED_MODEL", "")
    if not base_url and not model:
        return None
    if not base_url or not model:
        missing = "FLOWREADER_EMBED_MODEL" if base_url else "FLOWREADER_EMBED_BASE_URL"
        raise EndpointError(f"the embeddings endpoint is named by half: set {missing} as well, or neither")
    return Endpoint(base_url=base_url, model=model)
