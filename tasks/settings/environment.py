"""Every FLOWREADER_* name that the product reads."""

import os
import re
from difflib import get_close_matches
from pathlib import Path

import Stemmer

from storage.errors import RequestError
from storage.records.language import language

PREFIX = "FLOWREADER_"
NAMES = frozenset(
    f"{PREFIX}{name}"
    for name in (
        "HOME",
        "LANGUAGE",
        "CHAT_BASE_URL",
        "CHAT_MODEL",
        "CHAT_API_KEY",
        "RATER_BASE_URL",
        "RATER_MODEL",
        "RATER_API_KEY",
        "JUDGE_BASE_URL",
        "JUDGE_MODEL",
        "JUDGE_API_KEY",
        "LOCAL_MODEL",
        "EMBED_BASE_URL",
        "EMBED_MODEL",
        "EMBED_API_KEY",
        "SECOND_BASE_URL",
        "SECOND_API_KEY",
        "RERANK_BASE_URL",
        "RERANK_MODEL",
        "RERANK_API_KEY",
        "LOG",
        "METRICS",
        "ASK_ADDRESS",
        "ASK_TOKEN",
        "ASK_QUEUE",
        "ASK_SETTINGS",
        "INGEST_PATHS",
        "EVALUATE_DATASET",
        "NOTIFY_BLOCK",
        # Of the compose file.
        "DATABASE_PASSWORD",
        "DOCUMENTS",
    )
)
OF_A_SERVICE = re.compile(r"_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$")
"""What Kubernetes sets in every pod for a service that is called flowreader-something."""


def check_environment() -> None:
    """Raise RequestError for a FLOWREADER_* name that would be ignored: a misspelt one changes where or what is read."""
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in NAMES and not OF_A_SERVICE.search(name):
            (nearest,) = get_close_matches(name, sorted(NAMES), n=1, cutoff=0)
            raise RequestError(f"nothing reads '{name}' of the environment", name, f"did you mean {nearest}?")
    if language() not in (languages := Stemmer.algorithms()):
        raise RequestError(
            f"FLOWREADER_LANGUAGE {language()!r} has no stemmer", language(), f"set it to one of {', '.join(languages)}"
        )


def settings_file() -> Path | None:
    """Return the file that holds the settings of the query service's own, None for the defaults."""
    named = os.environ.get(f"{PREFIX}ASK_SETTINGS")
    return Path(named).absolute() if named else None
