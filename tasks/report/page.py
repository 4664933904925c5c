"""The page: the parts of the report put together, under a policy that lets nothing in from elsewhere."""

import base64
import hashlib

from markupsafe import Markup

from tasks.report.evidence import ReportEvidence
from tasks.report.graph import draw_paths
from tasks.report.sheets import box_rules
from tasks.views.answers import AnswerView
from tasks.views.render import HTML, STYLE, draw


def show_page(answer: AnswerView, evidence: ReportEvidence) -> str:
    style = Markup("\n".join([STYLE, box_rules(evidence.sheets), link_rules(len(answer.citations))]))
    drawing = draw_paths(answer, evidence)
    return draw(HTML, "report.html", style=style, policy=_policy(style), answer=answer, evidence=evidence, drawing=drawing)


def _policy(style: str) -> str:
    """Return the content security policy: pictures inside the page, this one style, no script, no address."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def link_rules(citations: int) -> str:
    """Return the rules that light up a citation's box while the pointer is on the citation, and the other way round."""
    return "\n".join(
        f"main:has(#citation-{number}:hover) [data-citations~='{number}']{{--wash:var(--lit-wash)}}"
        f"main:has([data-citations~='{number}']:hover) #citation-{number}{{background:var(--card)}}"
        for number in range(1, citations + 1)
    )
