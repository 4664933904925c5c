"""What all pages share: their templates, over those of the report, and the policy that lets nothing in from elsewhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader

from tasks.report.page import STYLE
from tasks.report.page import TEMPLATES as REPORT
from tasks.settings.readers import PAGES_PER_ANSWER, READERS
from tasks.views.render import FILTERS
from tasks.views.render import FOLDER as VIEWS

FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors "
)
PARTS = FileSystemLoader(STYLE.parent)
TEMPLATES = REPORT.overlay(
    # Ours come first: the report's parts link pages then that are beside them.
    loader=ChoiceLoader([FileSystemLoader(FOLDER / "templates"), PARTS, PrefixLoader({"report": PARTS}), FileSystemLoader(VIEWS)]),
)
TEMPLATES.filters = {**REPORT.filters, **FILTERS}
TEMPLATES.globals = {**REPORT.globals, "READERS": READERS, "PAGES_PER_ANSWER": PAGES_PER_ANSWER}


def html(
    template: str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    *,
    framed: bool = False,
    **context: Any,  # noqa: ANN401 - Jinja's
) -> HTMLResponse:
    """Return a page; only one that is `framed` may stand in another of ours."""
    policy = POLICY + ("'self'" if framed else "'none'")
    # With "no-referrer" a form would not say where it comes from.
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "same-origin", **(headers or {})}
    return HTMLResponse(TEMPLATES.get_template(template).render(context), status, headers)


def is_for_people(request: Request) -> bool:
    return "text/html" in request.headers.get("Accept", "")


def style() -> Response:
    """One style for the pages and the reports, which carry their own."""
    return Response(f"{STYLE.read_text('utf-8')}\n{(FOLDER / 'static' / 'page.css').read_text('utf-8')}", media_type="text/css")
