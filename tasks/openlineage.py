"""Runs told to an OpenLineage server, where OPENLINEAGE_URL names one, as its own clients would: one POST for each event."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from http.client import HTTPException
from typing import Any

from tasks.data_flow import OURS, DataFlow, DataSet

PRODUCER = "https://pypi.org/project/flowreader/"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
USUAL_ENDPOINT = "api/v1/lineage"
SECONDS = 3.0
"""A server of lineage that does not answer by then is not waited for."""


class EventType(StrEnum):
    """What became of a run."""

    START = "START"
    COMPLETE = "COMPLETE"
    ABORT = "ABORT"
    FAIL = "FAIL"


class OpenLineageError(RuntimeError):
    """The server did not take an event; nothing depends on it."""


def is_wanted() -> bool:
    """Say whether the environment names a server and does not turn it off."""
    return bool(os.environ.get("OPENLINEAGE_URL")) and os.environ.get("OPENLINEAGE_DISABLED", "").strip().lower() != "true"


def run_event(kind: EventType, *, run_id: str, job: str, data: DataFlow, at: datetime | None = None) -> dict[str, Any]:
    """Return what happened to a run, just now or at a time in UTC. `run_id` is a UUID, as the standard wants it."""
    return {
        "eventType": kind.value,
        "eventTime": (at or datetime.now(UTC)).isoformat(),
        "run": {"runId": run_id},
        "job": {"namespace": os.environ.get("OPENLINEAGE_NAMESPACE") or OURS, "name": job},
        "inputs": _told(data.inputs),
        "outputs": _told(data.outputs),
        "producer": PRODUCER,
        "schemaURL": SCHEMA,
    }


def send(event: dict[str, Any]) -> None:
    """Give the event to the server; raise OpenLineageError where it does not take it in time."""
    named, key = os.environ["OPENLINEAGE_URL"], os.environ.get("OPENLINEAGE_API_KEY")
    address = f"{named.rstrip('/')}/{os.environ.get('OPENLINEAGE_ENDPOINT', USUAL_ENDPOINT).strip('/')}"
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    try:
        # No file, and no other scheme that urllib knows: the address is to be a server's.
        if not address.startswith(("http://", "https://")):
            raise ValueError
        asked = urllib.request.Request(address, json.dumps(event).encode(), headers)
        with urllib.request.urlopen(asked, timeout=SECONDS):
            pass
    except OSError as error:
        raise _not_taken(event, str(error)) from error
    except (ValueError, HTTPException) as error:
        # Their messages hold the address, and that may hold a password.
        raise _not_taken(event, "its address cannot be used") from error


def _not_taken(event: dict[str, Any], why: str) -> OpenLineageError:
    told = f"the OpenLineage server did not take {event['eventType']} of {event['job']['name']}: {why}"
    return OpenLineageError(f"{told}; look at OPENLINEAGE_URL, or unset it")


def _told(sets: Sequence[DataSet]) -> list[dict[str, str]]:
    return [{"namespace": each.namespace, "name": each.name} for each in sets]
