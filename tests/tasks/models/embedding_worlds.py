"""What the tests of an embeddings server share: impatient settings, and a service before a server."""

from tasks.model_settings import ModelSettings
from tasks.models.endpoints import Endpoint
from tasks.models.served_embedder import EmbeddingService


def impatient(retries=(), **embeddings):
    """Settings with short waits."""
    short = {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.02, "attempts": 4, "busy_seconds": 5.0}
    return ModelSettings(
        deadlines={"connect_seconds": 2.0, "models_seconds": 1.0},
        retries=short | dict(retries),
        embeddings={"reply_seconds": 2.0, "question_seconds": 5.0, "texts_per_request": 4, "in_flight": 3} | embeddings,
    )


def service(server, settings=None, **endpoint):
    return EmbeddingService(Endpoint(server.base_url, **({"model": "m"} | endpoint)), settings or impatient())
