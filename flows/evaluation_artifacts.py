"""An evaluation as Prefect's UI shows it: one page with its tables and pictures, and one table that can be searched."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path

from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from storage.evaluation_records import Evaluation
from tasks.evaluation_page import evaluation_markdown


async def show_in_prefect(evaluation: Evaluation, pictures: Sequence[Path]) -> None:
    """Leave the page and the table with the run."""
    key = f"evaluate-{evaluation.what}-" + re.sub(r"[^a-z0-9-]", "-", evaluation.benchmark.lower())
    told = f"{evaluation.what}: {evaluation.benchmark}"
    # Pictures stand in the page itself: as artifacts of their own the UI shows all their bytes as a link, too.
    shown = [f"![{path.stem}](data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()})" for path in pictures]
    await acreate_markdown_artifact(
        key=key, markdown="\n\n".join([evaluation_markdown(evaluation), *shown]), description=f"Evaluation of {told}"
    )
    rows = [
        {
            "arm": one.arm,
            "questions": f"{one.group} ({one.questions})",
            "metric": one.metric,
            "mean": round(one.value, 4),
            "from": round(one.low, 4),
            "to": round(one.high, 4),
        }
        for one in evaluation.figures
    ]
    await acreate_table_artifact(key=f"{key}-figures", table=rows, description=f"All figures of {told}")
