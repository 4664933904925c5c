"""The page of an answer in Prefect's UI."""

from __future__ import annotations

import asyncio

from prefect.artifacts import acreate_markdown_artifact

from storage.answer_records import Answer
from tasks.answer_page import answer_markdown, page_key
from tasks.markdown import as_text
from tasks.reporting import keep_report


async def keep_page(answer: Answer) -> None:
    """Write the answer's report to the disk, and its page to the run at work, a flow's or a task's."""
    kept = await asyncio.to_thread(keep_report, answer)
    await acreate_markdown_artifact(
        key=page_key(answer.answer_id), markdown=answer_markdown(answer, kept), description=as_text(answer.question)
    )
