"""Which model a server has for us, by what it lists itself."""

import json
import re
from dataclasses import dataclass
from typing import Any

from tasks.models.chat_errors import UnknownModelError
from tasks.models.endpoints import ChatEndpoint

LISTED = 10
DATE_OR_REVISION = re.compile(r"-\d{4}-?\d{2}-?\d{2}|@[\w.-]+")


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The model's name in requests, and the tokens that a prompt and its reply may have together; 0 where nobody told."""

    name: str
    context_tokens: int


def chosen_model(listing: bytes, endpoint: ChatEndpoint) -> ServedModel:
    """Return the model that the environment names, or the only one; raise UnknownModelError where that is none."""
    models = _listed(listing, endpoint)
    names = ", ".join(sorted(models)[:LISTED]) or "none"
    if endpoint.model and endpoint.model not in models:
        raise UnknownModelError(
            f"{endpoint.base_url} has no model {endpoint.model!r}, only: {names}; set FLOWREADER_CHAT_MODEL to one of them"
        )
    if not endpoint.model and len(models) != 1:
        raise UnknownModelError(f"{endpoint.base_url} has {len(models)} models: {names}; set FLOWREADER_CHAT_MODEL to one of them")
    name = endpoint.model or next(iter(models))
    return ServedModel(name, models[name])


def same_model(asked: str, told: str) -> bool:
    """Say whether a reply is of the model that was asked: unnamed, by its name, or that with a date or a revision behind it."""
    return told in {"", asked} or (told.startswith(asked) and DATE_OR_REVISION.fullmatch(told[len(asked) :]) is not None)


def _listed(listing: bytes, endpoint: ChatEndpoint) -> dict[str, int]:
    """Return the context of each model by its name."""
    try:
        entries = json.loads(listing)["data"]
        return {entry["id"]: _tokens(entry.get("max_model_len")) for entry in entries if isinstance(entry["id"], str)}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnknownModelError(
            f"{endpoint.base_url}/models does not list models as the OpenAI protocol has it; check FLOWREADER_CHAT_BASE_URL"
        ) from error


def _tokens(told: Any) -> int:  # noqa: ANN401 - whatever JSON can hold
    return told if isinstance(told, int) and told > 0 else 0
