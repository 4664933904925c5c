"""The pages and what they need: `install` has the app serve them."""

from fastapi import APIRouter, FastAPI
from fastapi.staticfiles import StaticFiles

from flows.service.web import answers, asking, documents
from flows.service.web.html import FOLDER, style


def install(app: FastAPI) -> None:
    site = APIRouter(include_in_schema=False)
    for group in (asking, answers, documents):
        site.include_router(group.router)
    site.add_api_route("/style.css", style)
    app.include_router(site)
    app.mount("/static", StaticFiles(directory=FOLDER / "static"))
