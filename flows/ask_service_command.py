"""What `ask --server` does: the questions go to the query service, and its answers are shown as if they were made here."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

from flows.ask_service import ServiceFullError, ask_service, report_from_service
from flows.showing import CommandError, Output

PATIENCE_SECONDS, PAUSE_SECONDS = 600.0, 2.0
AT_ONCE = 4
"""Questions of a batch that are under way: the service has room for others too."""


def ask(arguments: argparse.Namespace, output: Output) -> int:
    """Ask the service, and show each answer as it comes, in the order of the questions."""
    require_one_source(arguments)
    request = request_of(arguments)
    if arguments.report:
        from tasks.reporting import check_target

        check_target(arguments.report.absolute())
    patience = PATIENCE_SECONDS if arguments.batch is not None else 0.0
    asking = ThreadPoolExecutor(AT_ONCE)
    try:
        answers = asking.map(lambda question: asked(request | {"questions": [question]}, patience), questions_of(arguments))
        # What shows an answer is loaded while the service makes it.
        show = shown_as(arguments, output)
        for told in chain.from_iterable(answers):
            show(told)
    finally:
        # After Ctrl-C the service is not waited for: it answers, and keeps the answer, all the same.
        asking.shutdown(wait=False, cancel_futures=True)
    if arguments.report:
        write_page(arguments, told["answer_id"], output)
    return 0


def asked(request: Mapping[str, Any], patience: float) -> list[dict[str, Any]]:
    """Ask the service; where it is full, again for so many seconds: a batch has time."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return ask_service(request)
        except ServiceFullError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(PAUSE_SECONDS)


def questions_of(arguments: argparse.Namespace) -> Sequence[str]:
    """Return the question, or those of the batch."""
    if arguments.batch is None:
        return (arguments.question,)
    from tasks.ask_request import read_batch

    return read_batch(arguments.batch)


def shown_as(arguments: argparse.Namespace, output: Output) -> Callable[[dict[str, Any]], None]:
    """Return what shows an answer in JSON: as it is, or for people."""
    if arguments.json:
        return output.data
    from flows.answer_tables import show_answer
    from storage.answer_json import answer_from_json

    return lambda told: show_answer(answer_from_json(told), output, with_question=arguments.batch is not None)


def request_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the AskRequest, without its questions, in JSON; what is not said is left to the service."""
    said = {
        "corpus": arguments.corpus,
        "documents": arguments.document,
        "pages": arguments.pages,
        "modality": arguments.modality,
        "reader": arguments.reader,
        "preset": arguments.preset,
    }
    if arguments.settings:
        from tasks.ask_settings import load_settings

        said["settings"] = load_settings(arguments.settings, arguments.preset).ask.model_dump(mode="json")
    return said


def require_one_source(arguments: argparse.Namespace) -> None:
    """Raise CommandError unless there is one question, or one batch without a report."""
    if (arguments.question is None) == (arguments.batch is None):
        raise CommandError("ask takes a question or --batch FILE, one of the two", "", 'write flowreader ask "QUESTION"')
    if arguments.batch is not None and arguments.report:
        raise CommandError(
            "--report writes one answer, --batch makes many", str(arguments.report), "ask first, then `flowreader report ANSWER`"
        )


def write_page(arguments: argparse.Namespace, answer_id: str, output: Output) -> None:
    """Write the page that the service makes of an answer."""
    page = report_from_service(answer_id, arguments.corpus)
    arguments.report.write_bytes(page)
    output.side.print(f"the report is in {arguments.report}", markup=False, soft_wrap=True)
