"""Where models are served: the only reader of FLOWREADER_EMBED_* and FLOWREADER_CHAT_*."""

import os
import re
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urlsplit

SERVED = "served"
"""The precision in the identity of an embedder that somebody serves: how it computes is not ours to know."""
VISIBLE = re.compile(r"[!-~]*")


class EndpointError(ValueError):
    """The environment names an endpoint by half or not rightly; the message says which variable is to be set."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server behind the OpenAI protocol; without a `model` it is the one that the server names. The key is never shown."""

    base_url: str
    model: str = ""
    api_key: str = field(default="", repr=False)


ChatEndpoint: TypeAlias = Endpoint


def embedding_endpoint() -> Endpoint | None:
    """Return the configured embeddings server, or None where texts are embedded on this machine."""
    return _endpoint("FLOWREADER_EMBED")


def chat_endpoint() -> Endpoint | None:
    """Return the configured chat server, or None where no model reads."""
    return _endpoint("FLOWREADER_CHAT")


def _endpoint(variables: str) -> Endpoint | None:
    """Return what the variables of this beginning say; raise EndpointError where it cannot be used."""
    base_url = os.environ.get(f"{variables}_BASE_URL", "").strip().rstrip("/")
    model = os.environ.get(f"{variables}_MODEL", "").strip()
    api_key = os.environ.get(f"{variables}_API_KEY", "").strip()
    if not base_url and (model or api_key):
        raise EndpointError(f"a model's server is named by half: set {variables}_BASE_URL as well, or no {variables}_*")
    if not base_url:
        return None
    if "@" in base_url:
        raise EndpointError(f"{variables}_BASE_URL holds a name or a password; set {variables}_API_KEY instead")
    if not _is_address(base_url):
        raise EndpointError(
            f"{variables}_BASE_URL={base_url!r} is not the address of a server; set it to something like http://localhost:8000/v1"
        )
    if not VISIBLE.fullmatch(api_key):
        raise EndpointError(f"{variables}_API_KEY holds signs that no key has (it is not shown here); set it again")
    return Endpoint(base_url=base_url, model=model, api_key=api_key)


def _is_address(base_url: str) -> bool:
    try:
        parts = urlsplit(base_url)
        named = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        return False
    return bool(named and VISIBLE.fullmatch(base_url) and not parts.query and not parts.fragment)
