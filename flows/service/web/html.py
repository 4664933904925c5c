"""What all pages share: templates, based on those of the views, and a policy against anything from elsewhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from tasks.settings.readers import PAGES_PER_ANSWER, READERS, READERS_HELP
from tasks.views.render import STYLE, draw, html_text, language

FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors "
)
TEMPLATES = language("html", html_text, FOLDER / "templates")
TEMPLATES.globals |= {"served": True, "READERS": READERS, "READERS_HELP": READERS_HELP, "PAGES_PER_ANSWER": PAGES_PER_ANSWER}


def html(
    template: str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    *,
    framed: bool = False,
    **context: Any,  # noqa: ANN401 - Jinja's
) -> HTMLResponse:
    """Return a page; only a `framed` one may stand inside another of ours."""
    policy = POLICY + ("'self'" if framed else "'none'")
    # With "no-referrer" a form would not say where it comes from.
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "same-origin", **(headers or {})}
    return HTMLResponse(draw(TEMPLATES, template, **context), status, headers)


def is_for_people(request: Request) -> bool:
    return "text/html" in request.headers.get("Accept", "")


def style() -> Response:
    """One style for the pages and the reports, which carry their own."""
    return Response(f"{STYLE}\n{(FOLDER / 'static' / 'page.css').read_text('utf-8')}", media_type="text/css")
