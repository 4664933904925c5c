"""The command `ask --server`: sends questions to the query service, and shows its answers as if they were made here."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, Any

from flows.display.output import Output
from flows.service.listening import address
from storage.errors import RequestError
from storage.locations import USUAL_CORPUS
from tasks.address import address_of
from tasks.settings.readers import READER_OF_PRESET, WORDS_SHOWN, Reader

if TYPE_CHECKING:
    from tasks.settings.ask import AskSettings

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 3_600.0
"""A question read by a model takes minutes, and the service has its own deadlines: this one is for a machine that is gone."""


class ServiceFullError(RequestError):
    """The query service is full for the moment."""


def ask_service(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the answers to the `questions` of an AskRequest; raise RequestError where the service refuses or is not there."""
    answers: list[dict[str, Any]] = json.loads(_send("POST", "/api/v1/ask", json.dumps(request).encode()))["answers"]
    return answers


def _send(method: str, path: str, body: bytes | None) -> bytes:
    host, port = address()
    token = os.environ.get("FLOWREADER_ASK_TOKEN", "")
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    connection = http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)
    try:
        connection.connect()
        connection.sock.settimeout(ANSWER_SECONDS)
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        content = reply.read()
    except (OSError, http.client.HTTPException) as error:
        raise RequestError(
            f"the query service at {address_of(host, port)!r} does not answer ({error})",
            address_of(host, port),
            "start it with `flowreader serve`, set FLOWREADER_ASK_ADDRESS to where it is, or ask without --server",
        ) from error
    finally:
        connection.close()
    if reply.status != http.client.OK:
        refusal = _refusal(reply.status, content)
        raise ServiceFullError(refusal.what, refusal.value, refusal.remedy) if reply.getheader("Retry-After") else refusal
    return content


def _refusal(status: int, content: bytes) -> RequestError:
    """Return the service's error; another program may answer at its address."""
    try:
        error = json.loads(content)["error"]
        return RequestError(error["what"], error["value"], error["remedy"])
    except (ValueError, LookupError, TypeError):
        where = address_of(*address())
        return RequestError(
            f"{where!r} is no query service of FlowReader, or one of another version (HTTP {status})",
            where,
            "set FLOWREADER_ASK_ADDRESS to where it is",
        )


PATIENCE_SECONDS, PAUSE_SECONDS = 600.0, 2.0
AT_ONCE = 4
"""Questions of a batch sent at once: the service must have room for others."""


def ask(arguments: argparse.Namespace, output: Output) -> int:
    require_one_source(arguments)
    request, questions = request_of(arguments), [arguments.question]
    if arguments.batch is not None:
        from tasks.asking.request import read_batch

        questions = list(read_batch(arguments.batch))
    if arguments.report:
        from tasks.report.write import check_target

        check_target(arguments.report.absolute())
    patience = PATIENCE_SECONDS if arguments.batch is not None else 0.0
    asking = ThreadPoolExecutor(AT_ONCE)
    try:
        answers = asking.map(lambda question: ask_patiently(request | {"questions": [question]}, patience), questions)
        # Loads the display while the service answers.
        show = choose_display(arguments, output)
        for answer in chain.from_iterable(answers):
            show(answer)
    finally:
        # After Ctrl-C do not wait for the service: it answers, and keeps the answer, anyway.
        asking.shutdown(wait=False, cancel_futures=True)
    if arguments.report:
        page = _send("GET", f"/answers/{answer['answer_id']}/report?corpus={request['corpus']}", None)
        arguments.report.write_bytes(page)
        output.side.print(f"the report is in {arguments.report}", markup=False, soft_wrap=True)
    return 0


def ask_patiently(request: Mapping[str, Any], patience: float) -> list[dict[str, Any]]:
    """Ask the service; while it is full, try again until `patience` seconds have passed."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return ask_service(request)
        except ServiceFullError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(PAUSE_SECONDS)


def choose_display(arguments: argparse.Namespace, output: Output) -> Callable[[dict[str, Any]], None]:
    """Return the function that shows an answer given in JSON, for programs or for people."""
    if arguments.json:
        return output.data
    from flows.display.answer_tables import show_answer
    from storage.runs.answer_json import answer_from_json
    from tasks.views.answers import AnswerView

    return lambda answer: show_answer(answer_from_json(answer, AnswerView), output, with_question=arguments.batch is not None)


def request_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the AskRequest as JSON, without its questions and without settings that were not given."""
    request = {
        "corpus": arguments.corpus or USUAL_CORPUS,
        "documents": arguments.document,
        "pages": arguments.pages,
        "modality": arguments.modality,
        "reader": reader_of(arguments),
        "follow": arguments.follow,
        "fresh": arguments.fresh,
        "require_model": arguments.require_model,
        "local": arguments.local,
        "preset": arguments.preset,
    }
    given = (arguments.settings, arguments.pages_per_answer, arguments.words, arguments.batch, arguments.by)
    if arguments.require_proof or any(value is not None for value in given):
        from tasks.asking.request import require_no_files

        settings = load_asked_settings(arguments)
        require_no_files(settings)
        request["settings"] = settings.model_dump(mode="json")
    return request


def reader_of(arguments: argparse.Namespace) -> Reader:
    reader: Reader = arguments.reader or READER_OF_PRESET[arguments.preset]
    return reader


def load_asked_settings(arguments: argparse.Namespace) -> AskSettings:
    """Return the settings of the preset, the user's file and the options that turn one; a batch has no deadline.

    Raise RequestError where the reader or preset has no probabilities, and would ignore that number of pages, or where the
    number of words is out of bounds.
    """
    if arguments.pages_per_answer and (reader_of(arguments), arguments.preset) != ("flow", "default"):
        raise RequestError(
            f"--pages-per-answer {arguments.pages_per_answer} is for --reader flow of the default preset only",
            str(arguments.pages_per_answer),
            "leave it out",
        )
    fewest, most = WORDS_SHOWN
    if arguments.words is not None and not fewest <= arguments.words <= most:
        wrong = str(arguments.words)
        raise RequestError(f"--words {wrong} is not from {fewest} to {most:,}", wrong, "150 are a glance, 600 a page")
    from tasks.settings.ask import load_settings
    from tasks.settings.base import change_settings

    settings = load_settings(arguments.settings, arguments.preset, hurry=arguments.batch is None).ask
    given = {"pages_per_answer": arguments.pages_per_answer, "reading.words": arguments.words, "reading.by": arguments.by}
    given["reading.unproven"] = False if arguments.require_proof else None
    return change_settings(settings, {name: value for name, value in given.items() if value is not None})


def require_one_source(arguments: argparse.Namespace) -> None:
    if (arguments.question is None) == (arguments.batch is None):
        raise RequestError("ask takes either a question or --batch FILE", "", 'write flowreader ask "QUESTION"')
    if arguments.batch is not None and arguments.report:
        raise RequestError(
            "--report writes one answer, --batch gives many",
            str(arguments.report),
            "ask first, then `flowreader report ANSWER`",
        )
