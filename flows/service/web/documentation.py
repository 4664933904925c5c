"""The documentation at /docs, where it is built: a site of its own, which the pages of the service do not need."""

from fastapi import FastAPI, Response
from fastapi.staticfiles import StaticFiles

from flows.service.web import html
from tasks.views.errors import RefusedError

FOLDER = html.FOLDER / "docs"
PREFIX = "/docs"


def install(app: FastAPI) -> None:
    if (FOLDER / "index.html").is_file():
        app.mount(PREFIX, StaticFiles(directory=FOLDER, html=True))
    else:
        app.add_api_route(PREFIX, refuse, include_in_schema=False)


async def refuse() -> Response:
    remedy = "run `make docs` in a checkout and start the service again, or install a wheel"
    raise RefusedError(404, "the documentation is not built here", PREFIX, remedy)
