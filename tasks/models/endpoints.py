"""Where models are, the only reader of FLOWREADER_EMBED_*, _SECOND_*, _RERANK_*, _CHAT_*, _RATER_*, _JUDGE_*; what a server has."""

import json
import os
import re
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from storage.errors import ExpectedError
from tasks.models.chat.errors import ChatEndedError

SERVED = "served"
"""The precision in the identity of an embedder behind a server, where the real one is unknown."""
VISIBLE = re.compile(r"[!-~]*")


class EndpointError(ExpectedError, ValueError):
    """The environment names half an endpoint, or a wrong one; the message says which variable to set."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server behind the OpenAI protocol; without a `model` it is the one that the server names. The key is never shown.

    `weights` is the file of a model that we run on this machine ourselves, at whatever address. `rater` is where pages are rated
    for a chat model that does not do it.
    """

    base_url: str
    model: str = ""
    api_key: str = field(default="", repr=False)
    weights: str = ""
    rater: "Endpoint | None" = None

    @property
    def is_named(self) -> bool:
        """Whether the names of its model and of its rater's are known without asking a server."""
        return bool(self.model) and (self.rater is None or self.rater.is_named)

    @property
    def identity(self) -> str:
        """What stays the same when it is started again."""
        own = self.weights or self.base_url
        return f"{own}, rated by {self.rater.model!r} of {self.rater.base_url}" if self.rater else own


def embedding_endpoint() -> Endpoint | None:
    """Return the configured embeddings server, or None where texts are embedded on this machine."""
    return None if local_embedding_model() else _endpoint("FLOWREADER_EMBED")


def local_embedding_model() -> str:
    """Return the name or folder of the configured model on this machine; empty where the default or a server embeds."""
    served = any(os.environ.get(f"FLOWREADER_EMBED_{variable}", "").strip() for variable in ("BASE_URL", "API_KEY"))
    return "" if served else os.environ.get("FLOWREADER_EMBED_MODEL", "").strip()


def second_endpoint(model: str) -> Endpoint | None:
    """Return the server of the second embedder, or None where it is a model on this machine."""
    endpoint = _endpoint("FLOWREADER_SECOND")
    return endpoint and replace(endpoint, model=model)


def rerank_endpoint() -> Endpoint | None:
    """Return the configured server of a reranker, or None; its model has to be named: what is kept and fitted goes by it."""
    endpoint = _endpoint("FLOWREADER_RERANK")
    if endpoint and not endpoint.model:
        raise EndpointError("FLOWREADER_RERANK_BASE_URL is set without a model", remedy="set FLOWREADER_RERANK_MODEL to its name")
    return endpoint


def chat_endpoint() -> Endpoint | None:
    """Return the configured chat server, or None where no model reads."""
    return _endpoint("FLOWREADER_CHAT")


def with_rater(chat: Endpoint) -> Endpoint:
    """Return the chat server with what rates pages, where the environment names that: another model of it, or another server."""
    return replace(chat, rater=_beside(chat, "FLOWREADER_RATER"))


def judge_endpoint() -> Endpoint | None:
    """Return where answers are judged, by another model of the chat server or another server; None where none is named."""
    return _beside(chat_endpoint(), "FLOWREADER_JUDGE")


def _beside(chat: Endpoint | None, variables: str) -> Endpoint | None:
    model, elsewhere = (os.environ.get(f"{variables}_{name}", "").strip() for name in ("MODEL", "BASE_URL"))
    return replace(chat, model=model) if chat and model and not elsewhere else _endpoint(variables)


def of_rater(words: str) -> str:
    """Turn a message about the chat server into one about the server that rates pages, with its own variables."""
    return words.replace("FLOWREADER_CHAT_", "FLOWREADER_RATER_")


def of_judge(words: str) -> str:
    """Turn a message about the chat server into one about the server that judges."""
    return words.replace("FLOWREADER_CHAT_", "FLOWREADER_JUDGE_")


def require_chat_endpoint(wanted: str, *, otherwise: str, value: str = "") -> Endpoint:
    """Return the configured chat server; raise EndpointError, with what it is wanted for, where none is named."""
    endpoint = chat_endpoint()
    if endpoint is None:
        raise EndpointError(
            f"{wanted}, but FLOWREADER_CHAT_BASE_URL is not set",
            value,
            f"set it to something like http://localhost:8000/v1, or {otherwise}",
        )
    return endpoint


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
        raise EndpointError(f"{variables}_BASE_URL holds a name or a password", remedy=f"set {variables}_API_KEY instead")
    if not _is_address(base_url):
        raise EndpointError(
            f"{variables}_BASE_URL={base_url!r} is not the address of a server",
            base_url,
            "set it to something like http://localhost:8000/v1",
        )
    if not VISIBLE.fullmatch(api_key):
        raise EndpointError(f"{variables}_API_KEY holds signs that no key has (it is not shown here)", remedy="set it again")
    return Endpoint(base_url=base_url, model=model, api_key=api_key)


def _is_address(base_url: str) -> bool:
    # a question without a server does not load it
    import httpx

    try:
        parts = urlsplit(base_url)
        named = parts.scheme in {"http", "https"} and httpx.URL(base_url).host and parts.port != 0
    except (ValueError, httpx.InvalidURL):  # names as xn--a stand for no name
        return False
    return bool(named and VISIBLE.fullmatch(base_url) and not parts.query and not parts.fragment)


FULL_CONTEXT_TOKENS = 16_384
"""What the largest call of the full forms takes, read and written: an answer from 40,000 characters of evidence."""
LISTED = 10
DATE_OR_REVISION = re.compile(r"-\d{4}-?\d{2}-?\d{2}|@[\w.-]+")


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The model's name in requests, and how many tokens a prompt and its reply may have together; 0 where that is unknown.

    `sees` is whether it takes pictures, None where its server does not say.
    """

    name: str
    context_tokens: int
    sees: bool | None = None


def choose_model(listing: bytes, endpoint: Endpoint) -> ServedModel:
    """Return the model that the environment names, or the only one; raise ChatEndedError where that is none."""
    models = _read_listing(listing, endpoint)
    names = ", ".join(sorted(models)[:LISTED]) or "none"
    if endpoint.model and endpoint.model not in models:
        raise ChatEndedError(
            f"{endpoint.base_url} has no model {endpoint.model!r}, only: {names}",
            endpoint.model,
            "set FLOWREADER_CHAT_MODEL to one of them",
        )
    if not endpoint.model and len(models) != 1:
        raise ChatEndedError(
            f"{endpoint.base_url} has {len(models)} models: {names}", remedy="set FLOWREADER_CHAT_MODEL to one of them"
        )
    name = endpoint.model or next(iter(models))
    return models[name]


def same_model(asked: str, answering: str) -> bool:
    """Say whether a reply is of the model that was asked: unnamed, by its name, or that with a date or a revision behind it."""
    suffix = answering.removeprefix(asked)
    return answering in {"", asked} or (answering.startswith(asked) and DATE_OR_REVISION.fullmatch(suffix) is not None)


def _read_listing(listing: bytes, endpoint: Endpoint) -> dict[str, ServedModel]:
    """Return each model by its name."""
    try:
        entries = json.loads(listing)["data"]
        return {entry["id"]: _read_entry(entry) for entry in entries if isinstance(entry["id"], str)}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ChatEndedError(
            f"{endpoint.base_url}/models does not list models as the OpenAI protocol has it",
            remedy="check FLOWREADER_CHAT_BASE_URL",
        ) from error


def _read_entry(entry: Any) -> ServedModel:  # noqa: ANN401 - whatever JSON can hold
    """Return what an entry says: vLLM gives the context under a name of its own, llama.cpp that of one call under `meta`."""
    meta, shape = entry.get("meta") or {}, entry.get("architecture") or {}
    taken = shape.get("input_modalities")
    tokens = _tokens(entry.get("max_model_len")) or _tokens(meta.get("n_ctx"))
    return ServedModel(entry["id"], tokens, sees="image" in taken if isinstance(taken, list) else None)


def _tokens(listed: Any) -> int:  # noqa: ANN401 - whatever JSON can hold
    return listed if isinstance(listed, int) and listed > 0 else 0
