"""What the Prefect server does by itself about runs, as automations.yaml says: `python -m deployments.automations apply`.

`list` shows what is there, `remove` takes it away again. PREFECT_API_URL names the server.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.events.actions import SendNotification
from prefect.events.schemas.automations import Automation, AutomationCore
from prefect.exceptions import ObjectNotFound
from prefect.settings import get_current_settings

from flows.prefect_environment import PrefectServerError, require_configured_server

DESCRIBED = Path(__file__).with_name("automations.yaml")
NOTIFY_BLOCK = "FLOWREADER_NOTIFY_BLOCK"
OURS = "flowreader: "
"""The names of all of ours begin so, and nothing else is touched."""


class AutomationError(RuntimeError):
    """An automation cannot be applied; the message says which, and what to do."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of an automation: `made`, `changed`, `as it was`, `removed`, or why it was left out."""

    name: str
    what: str


def apply_automations() -> list[Applied]:
    """Make the server's automations those of the file; what is so already is left alone, and what was paused stays so.

    The runs' heartbeat is taken to be what PREFECT_FLOWS_HEARTBEAT_FREQUENCY says here: a run that beats more rarely would be
    marked as crashed while it works. Raise AutomationError where FLOWREADER_NOTIFY_BLOCK names no block.
    """
    with get_client(sync_client=True) as client:
        notify, there = block_to_notify(client), existing(client)
        wanted = described(heartbeat_seconds=get_current_settings().flows.heartbeat_frequency or 0, notify=notify)
        applied = [_apply(client, one, there.pop(one.name, [])) for one in wanted]
        for name, left in there.items():
            _delete(client, left)
            applied.append(Applied(name, "removed"))
    return applied


def described(*, heartbeat_seconds: int, notify: UUID | None) -> list[AutomationCore]:
    """Return the file's automations; one that could only notify, and has no block to do it by, has no actions."""
    return [_described(one, heartbeat_seconds, notify) for one in yaml.safe_load(DESCRIBED.read_text("utf-8"))["automations"]]


def _described(one: Mapping[str, Any], heartbeat_seconds: int, notify: UUID | None) -> AutomationCore:
    fields, trigger = dict(one), dict(one["trigger"])
    told, missed = fields.pop("notify", None), trigger.pop("heartbeats_missed", None)
    if missed is not None:
        trigger["within"] = missed * heartbeat_seconds
    actions = list(fields.pop("actions", []))
    if told and notify:
        actions.append(SendNotification(block_document_id=notify, **told))
    return AutomationCore(**{**fields, "trigger": trigger, "actions": actions})


def block_to_notify(client: SyncPrefectClient) -> UUID | None:
    """Return the block that the environment names as TYPE/NAME; None where it names none."""
    named = os.environ.get(NOTIFY_BLOCK, "")
    if not named:
        return None
    kind, _, name = named.partition("/")
    try:
        return client.read_block_document_by_name(name, kind, include_secrets=False).id
    except ObjectNotFound as error:
        raise AutomationError(
            f"{NOTIFY_BLOCK} is {named!r}, and there is no such block; `prefect block ls` shows those there are, as TYPE/NAME"
        ) from error


def existing(client: SyncPrefectClient) -> dict[str, list[Automation]]:
    """Return our automations that the server has, by name."""
    found: dict[str, list[Automation]] = {}
    for one in client.read_automations():
        if one.name.startswith(OURS):
            found.setdefault(one.name, []).append(one)
    return found


def _apply(client: SyncPrefectClient, wanted: AutomationCore, there: Sequence[Automation]) -> Applied:
    if not wanted.actions:
        _delete(client, there)
        return Applied(wanted.name, f"left out: it could only notify, and {NOTIFY_BLOCK} names no block")
    if not there:
        client.create_automation(wanted)
        return Applied(wanted.name, "made")
    first, *doubles = there
    _delete(client, doubles)
    kept = wanted.model_copy(update={"enabled": first.enabled})
    if AutomationCore(**first.model_dump(exclude={"id"})) == kept:
        return Applied(wanted.name, "as it was")
    client.update_automation(first.id, AutomationCore(**kept.model_dump(exclude={"owner_resource"})))
    return Applied(wanted.name, "changed")


def _delete(client: SyncPrefectClient, automations: Sequence[Automation]) -> None:
    for one in automations:
        client.delete_automation(one.id)


def list_automations() -> list[Applied]:
    """Return those of ours that the server has, each with how it stands."""
    with get_client(sync_client=True) as client:
        there = [one for named in existing(client).values() for one in named]
    return [Applied(one.name, "at work" if one.enabled else "paused") for one in there]


def remove_automations() -> list[Applied]:
    """Take all of ours from the server; return what was removed."""
    with get_client(sync_client=True) as client:
        there = existing(client)
        for named in there.values():
            _delete(client, named)
    return [Applied(name, "removed") for name in there]


COMMANDS: Mapping[str, Callable[[], list[Applied]]] = {
    "apply": apply_automations,
    "list": list_automations,
    "remove": remove_automations,
}


def main(arguments: Sequence[str]) -> int:
    """Do what is asked, and show it; return 2 where it is not known or not possible."""
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        sys.stderr.write(f"usage: python -m deployments.automations {'|'.join(COMMANDS)}\n")
        return 2
    try:
        if get_current_settings().api.url is None:
            raise PrefectServerError("no Prefect server is named; set PREFECT_API_URL to its address")
        require_configured_server()
        shown = COMMANDS[arguments[0]]()
    except (AutomationError, PrefectServerError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.writelines(f"{one.name}: {one.what}\n" for one in shown or [Applied("flowreader", "no automation is there")])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
