"""The question flow as a deployment runs it: the same answers, each with a page in Prefect's UI and a report on the disk."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Failed

from flows.answer_pages import keep_page
from flows.ask import ask
from flows.beside_the_work import beside_the_work
from flows.interruption import ending_in_order
from flows.run_labels import question_asked, tag_run
from flows.telling_others import leave_lineage_of_answers
from storage.answer_json import answer_json
from storage.disk import check_writable
from storage.locations import reports_folder
from tasks.ask_request import AskRequest
from tasks.models.chat_errors import ChatEndedError
from tasks.progress import StoppedError


@flow(
    name="ask",
    flow_run_name=question_asked,
    persist_result=True,
    result_serializer="json",
    result_storage=reports_folder(),
    on_completion=[leave_lineage_of_answers],
)
async def ask_deployed(request: AskRequest) -> list[dict[str, Any]] | State[None]:
    """Answer each question from one snapshot, and return the answers as `flowreader ask --json` shows them."""
    await tag_run(request.corpus, request.reader)
    check_writable(reports_folder())
    answered: list[dict[str, Any]] = []
    with ending_in_order():
        try:
            async with aclosing(ask(request)) as answers:
                async for answer in answers:
                    with beside_the_work("the page of an answer"):
                        await keep_page(answer)
                    answered.append(answer_json(answer))
        except StoppedError:
            return Cancelled(message=f"stopped; {len(answered)} of {len(request.questions)} answers are kept")
        except ChatEndedError as error:
            return Failed(message=str(error))
    return answered
