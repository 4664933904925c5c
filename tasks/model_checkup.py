"""`doctor --models`: a look at every model that is served for us, before a run of a week finds out."""

from __future__ import annotations

from tasks.models.checkup import Checkup
from tasks.models.checkup_of_chat import check_chat
from tasks.models.checkup_of_embeddings import check_embeddings
from tasks.models.endpoints import EndpointError, chat_endpoint, embedding_endpoint


def check_models() -> list[Checkup]:
    """Look at the servers that the environment names; raise EndpointError where it names none."""
    chat, embeddings = chat_endpoint(), embedding_endpoint()
    if not (chat or embeddings):
        raise EndpointError(
            "no model is served: neither FLOWREADER_CHAT_BASE_URL nor FLOWREADER_EMBED_BASE_URL is set; set the first to a chat "
            "server such as http://localhost:8000/v1 (deployments/vllm/README.md starts one)"
        )
    checkups = [check_chat(chat)] if chat else []
    return [*checkups, check_embeddings(embeddings)] if embeddings else checkups
