"""Asking the query service: `ask_service(request)` gives what `flowreader ask --json` says. Nothing heavy is loaded for it.

FLOWREADER_ASK_ADDRESS says where the service is, 127.0.0.1:4280 unless set, and FLOWREADER_ASK_TOKEN what it asks for.
"""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Mapping
from typing import Any

from flows.showing import CommandError
from tasks.network_address import address_of, host_and_port

USUAL_ADDRESS = "127.0.0.1:4280"
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 3_600.0
"""A question that a model reads takes minutes, and the service has deadlines of its own: this one is for a machine that is gone."""


class ServiceFullError(CommandError):
    """The query service takes no more questions in for a moment."""


class ServiceUnreachableError(CommandError):
    """Nothing answers where the query service should be."""


def address() -> tuple[str, int]:
    """Return where the query service is, or is to be; raise CommandError for what is no HOST:PORT."""
    named = os.environ.get("FLOWREADER_ASK_ADDRESS", USUAL_ADDRESS)
    meant = host_and_port(named)
    if meant is None or not meant[0]:
        remedy = f"set it to an address such as {USUAL_ADDRESS} or [::1]:4280"
        raise CommandError(f"FLOWREADER_ASK_ADDRESS {named!r} is no HOST:PORT", named, remedy)
    return meant


def ask_service(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the answers to the `questions` of an AskRequest; raise CommandError where the service refuses or is not there."""
    answers: list[dict[str, Any]] = json.loads(_said("POST", "/ask", json.dumps(request).encode()))["answers"]
    return answers


def report_from_service(answer_id: str, corpus: str) -> bytes:
    """Return the page of an answer; raise CommandError likewise."""
    return _said("GET", f"/answers/{answer_id}/report?corpus={corpus}", None)


def _said(method: str, path: str, body: bytes | None) -> bytes:
    host, port = address()
    token = os.environ.get("FLOWREADER_ASK_TOKEN", "")
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    connection = http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)
    try:
        connection.connect()
        connection.sock.settimeout(ANSWER_SECONDS)
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        said = reply.read()
    except (OSError, http.client.HTTPException) as error:
        raise ServiceUnreachableError(
            f"the query service at {address_of(host, port)!r} does not answer ({error})",
            address_of(host, port),
            "start it with `make up`, set FLOWREADER_ASK_ADDRESS to where it is, or ask without --server",
        ) from error
    finally:
        connection.close()
    if reply.status != http.client.OK:
        refusal = _refusal(reply.status, said)
        raise ServiceFullError(refusal.what, refusal.value, refusal.remedy) if reply.getheader("Retry-After") else refusal
    return said


def _refusal(status: int, said: bytes) -> CommandError:
    """Return what the service said against it; another program may be there."""
    try:
        error = json.loads(said)["error"]
        return CommandError(error["what"], error["value"], error["remedy"])
    except (ValueError, LookupError, TypeError):
        where = address_of(*address())
        return CommandError(
            f"what answers at {where!r} is no query service of FlowReader, or of another version (HTTP {status})",
            where,
            "set FLOWREADER_ASK_ADDRESS to where it is",
        )
