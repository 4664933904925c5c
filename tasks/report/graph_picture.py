"""The evidence graph as a picture of its own, for a page that is not ours: an SVG with its style inside."""

from __future__ import annotations

from storage.answer_records import Answer
from tasks.report.evidence import Evidence
from tasks.report.evidence_graph import draw_lying, numbers_by_node
from tasks.report.page import STYLE
from tasks.report.report_settings import ReportSettings

OPENING = "<svg "
# What a page says of its own size hides one of its two drawings; the picture has but one, on a ground of its own.
ALONE = "svg.lying{display:block;background:var(--ground);font:400 16px/1.5 var(--sans);color:var(--ink)}"


def draw_picture(answer: Answer, evidence: Evidence, settings: ReportSettings) -> str:
    """Return the graph of the strongest paths as an SVG file's text, "" where no path was walked."""
    paths = [path for path in answer.paths if path.nodes][: settings.paths]
    if not paths:
        return ""
    drawing = draw_lying(paths, evidence, numbers_by_node(answer.citations)).removeprefix(OPENING)
    opening, rest = drawing.split(">", 1)
    style = STYLE.read_text("utf-8").replace("<", "")
    return f'{OPENING}xmlns="http://www.w3.org/2000/svg" {opening}><style><![CDATA[{style}\n{ALONE}]]></style>{rest}'
