"""REST under /api/v1, described at /openapi.json: corpora, documents, uploads and ingests, questions, answers and metrics.

An error is `{"error": {"what", "value", "remedy"}}`, as everywhere.
"""

from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi

from flows.service.rest import asking, documents, reading
from flows.service.rest.forms import PREFIX, ErrorReply
from tasks.asking.request import AskRequest

OTHER_ASK = "/ask"
QUESTIONS = (f"{PREFIX}/ask", OTHER_ASK, asking.STREAM)


def install(app: FastAPI) -> None:
    """Have the app serve this, and describe it."""
    router = APIRouter(prefix=PREFIX, responses={"default": {"model": ErrorReply, "description": "what is wrong, and what to do"}})
    for group in (documents, reading, asking):
        router.include_router(group.router)
    app.include_router(router)
    app.include_router(asking.stream, include_in_schema=False)
    app.add_api_route(OTHER_ASK, asking.ask, methods=["POST"], include_in_schema=False)

    def describe() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = get_openapi(title=app.title, version=app.version, description=__doc__, routes=app.routes)
            form = AskRequest.model_json_schema(ref_template="#/components/schemas/{model}")
            example = {"questions": ["What was the revenue in 2024?"], "corpus": "default"}
            app.openapi_schema["components"]["schemas"] |= form.pop("$defs", {}) | {"AskRequest": form | {"example": example}}
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]
