"""Every FLOWREADER_* name that the product reads."""

import os
import re
from difflib import get_close_matches
from pathlib import Path

import Stemmer

from storage.errors import RequestError
from storage.records.language import language

PREFIX = "FLOWREADER_"
NAMES = {
    f"{PREFIX}HOME": "where the data lie: `~/.local/share/flowreader` by default",
    f"{PREFIX}LANGUAGE": "the documents' language, any that Snowball knows, set before a corpus is made: `english` by default",
    f"{PREFIX}CHAT_BASE_URL": "the server of the chat model, by OpenAI's protocol: `http://localhost:8000/v1`",
    f"{PREFIX}CHAT_MODEL": "the chat model's name there; not needed where the server has one model",
    f"{PREFIX}CHAT_API_KEY": "the key of that server",
    f"{PREFIX}RATER_BASE_URL": "the server of a model that rates pages for the reader `walk`; without it the chat server",
    f"{PREFIX}RATER_MODEL": "the model that rates pages",
    f"{PREFIX}RATER_API_KEY": "the key of its server",
    f"{PREFIX}JUDGE_BASE_URL": "the server of the model that judges in `evaluate answers`; without it the chat server",
    f"{PREFIX}JUDGE_MODEL": "the model that judges",
    f"{PREFIX}JUDGE_API_KEY": "the key of its server",
    f"{PREFIX}LOCAL_MODEL": "a GGUF file, or `smollm2`: a model that the query service starts and has read all questions",
    f"{PREFIX}EMBED_BASE_URL": "a server of embeddings, by OpenAI's protocol",
    f"{PREFIX}EMBED_MODEL": "the embedder: a name there, or without a server a folder or the name of a model on this machine",
    f"{PREFIX}EMBED_API_KEY": "the key of its server",
    f"{PREFIX}SECOND_BASE_URL": "the server of a second embedder, which `reading.embedding.second` names",
    f"{PREFIX}SECOND_API_KEY": "the key of its server",
    f"{PREFIX}RERANK_BASE_URL": "a server that takes `/rerank` as Cohere, Jina, vLLM and llama.cpp do",
    f"{PREFIX}RERANK_MODEL": "the reranker's name there",
    f"{PREFIX}RERANK_API_KEY": "the key of its server",
    f"{PREFIX}LOG": "a file for a line of JSON for each run, document, step, call and question; `-` is standard error",
    f"{PREFIX}METRICS": "where Prometheus finds the metrics: `127.0.0.1:9464`, or a port of this machine",
    f"{PREFIX}ASK_ADDRESS": "where the query service listens, and `ask --server` asks: `127.0.0.1:4280` by default",
    f"{PREFIX}ASK_TOKEN": "what the query service asks for, and `ask --server` sends; needed where it listens beyond this machine",
    f"{PREFIX}ASK_QUEUE": "questions and searches that the query service takes in at a time, 1 to 512: 64 by default",
    f"{PREFIX}ASK_SETTINGS": "a settings file for uploads to the query service: their `limits`, and how they are read",
    f"{PREFIX}INGEST_PATHS": "folders and `s3://BUCKET/PREFIX/` addresses, joined by `:`, that the deployments read by schedule",
    f"{PREFIX}EVALUATE_DATASET": "the dataset that the deployments measure by schedule",
    f"{PREFIX}NOTIFY_BLOCK": "the block of Prefect to notify by: `slack-webhook/ops`",
    f"{PREFIX}DATABASE_PASSWORD": "of Postgres, for the compose file",
    f"{PREFIX}DOCUMENTS": "the folder that the containers of the compose file read",
}
"""The names, each with what the documentation says of it."""
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
