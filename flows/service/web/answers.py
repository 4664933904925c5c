"""An answer: with the cited page beside it, as its report, and where it comes from."""

import re
from contextlib import suppress

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse

from flows.service.paths import from_root, roots_of
from flows.service.web.html import html
from flows.service.web.library import EMPTY, list_corpora, look_into
from storage.artifacts import home_artifacts
from storage.codec import adapter
from storage.corpus.snapshot import open_for_reading
from storage.errors import ExpectedError
from storage.locations import corpus_location
from storage.runs.log import ASKING
from tasks.report.evidence import gather_evidence
from tasks.report.graph import draw_paths
from tasks.report.write import report_of
from tasks.views.answers import view_answer, view_answers
from tasks.views.render import MARKDOWN, draw
from tasks.views.runs import AnswerLineageView, lineage_context, lineage_json, view_lineage

OF_PREFECT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The id of a run that Prefect knows; a question that was answered without it has a run of another name."""

router = APIRouter(prefix="/answers")


@router.get("/{answer_id}")
def answer(request: Request, answer_id: str, corpus: str = "default") -> Response:
    """Show an answer; what it cites is opened beside it."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        found = snapshot.answer(answer_id)
        view, evidence = view_answer(found, snapshot), gather_evidence(found, snapshot, home_artifacts(), drawing=False)
        thread, library = view_answers(snapshot.answers(found.thread)[::-1], snapshot), EMPTY
        # Whatever is damaged of all else, the answer is shown.
        with suppress(ExpectedError, OSError):
            library = look_into(snapshot, request)
    shown = {**library} | {"answer": view, "thread": thread, "evidence": evidence, "drawing": draw_paths(view, evidence)}
    return html("answer.html", corpus=corpus, corpora=list_corpora(), **shown)


@router.get("/{answer_id}/markdown")
def markdown(request: Request, answer_id: str, corpus: str = "default") -> Response:
    """Show an answer as Markdown, with links to the pages that it cites."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        view = view_answer(snapshot.answer(answer_id), snapshot)
    return PlainTextResponse(draw(MARKDOWN, "answer_page.j2", answer=view, service=str(request.base_url).rstrip("/")))


@router.get("/{answer_id}/report")
def report(answer_id: str, corpus: str = "default") -> Response:
    """Show an answer as a page that is one file."""
    return HTMLResponse(report_of(answer_id, corpus))


@router.get("/{answer_id}/lineage")
def lineage(answer_id: str, corpus: str = "default") -> Response:
    """Show what `flowreader lineage` says about an answer."""
    from prefect.settings import PREFECT_UI_URL

    with open_for_reading(corpus_location(corpus)) as snapshot:
        walked = lineage_json(view_lineage(snapshot, snapshot.answer(answer_id).answer_id))
        found = adapter(AnswerLineageView).validate_python(from_root(walked, roots_of(snapshot.documents())))
    run = found.run.run_id.removeprefix(ASKING)
    in_prefect = f"{PREFECT_UI_URL.value()}/runs/flow-run/{run}" if PREFECT_UI_URL.value() and OF_PREFECT.fullmatch(run) else ""
    return html("lineage.html", **lineage_context(found), prefect=in_prefect)
