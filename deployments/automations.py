"""What the Prefect server does by itself about runs, as automations.yaml says: `python -m deployments.automations apply`.

PREFECT_API_URL names the server. `prefect automation` shows, pauses and deletes them.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.events.actions import SendNotification
from prefect.events.schemas.automations import Automation, AutomationCore
from prefect.exceptions import ObjectNotFound
from prefect.settings import get_current_settings

from flows.prefect_runs.server import require_configured_server
from storage.errors import ExpectedError

DESCRIBED = Path(__file__).with_name("automations.yaml")
NOTIFY_BLOCK = "FLOWREADER_NOTIFY_BLOCK"
OURS = "flowreader: "
"""The names of all of ours begin so, and nothing else is touched."""


def apply_automations() -> dict[str, str]:
    """Make the server's automations those of the file; what is so already is left alone, and what was paused stays so.

    Return by name what became of each: `made`, `changed`, `as it was`, `removed`, or why it was left out.
    The runs' heartbeat is taken to be PREFECT_FLOWS_HEARTBEAT_FREQUENCY as it is here: a run that beats more rarely would be
    marked as crashed while it works. Raise ExpectedError where FLOWREADER_NOTIFY_BLOCK names no block.
    """
    with get_client(sync_client=True) as client:
        notify = block_to_notify(client)
        there: dict[str, list[Automation]] = {}
        for one in client.read_automations():
            if one.name.startswith(OURS):
                there.setdefault(one.name, []).append(one)
        wanted = read_automations(heartbeat_seconds=get_current_settings().flows.heartbeat_frequency or 0, notify=notify)
        applied = {each.name: _apply(client, each, there.pop(each.name, [])) for each in wanted}
        for name, left in there.items():
            _delete(client, left)
            applied[name] = "removed"
    return applied


def read_automations(*, heartbeat_seconds: int, notify: UUID | None) -> list[AutomationCore]:
    """Return the file's automations; one that could only notify, and has no block to do it by, has no actions."""
    return [_read_automation(one, heartbeat_seconds, notify) for one in yaml.safe_load(DESCRIBED.read_text("utf-8"))["automations"]]


def _read_automation(one: Mapping[str, Any], heartbeat_seconds: int, notify: UUID | None) -> AutomationCore:
    fields, trigger = dict(one), dict(one["trigger"])
    message, missed = fields.pop("notify", None), trigger.pop("heartbeats_missed", None)
    if missed is not None:
        trigger["within"] = missed * heartbeat_seconds
    actions = list(fields.pop("actions", []))
    if message and notify:
        actions.append(SendNotification(block_document_id=notify, **message))
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
        raise ExpectedError(
            f"{NOTIFY_BLOCK} is {named!r}, and there is no such block",
            named,
            "`prefect block ls` shows those there are, as TYPE/NAME",
        ) from error


def _apply(client: SyncPrefectClient, wanted: AutomationCore, there: Sequence[Automation]) -> str:
    if not wanted.actions:
        _delete(client, there)
        return f"left out: it could only notify, and {NOTIFY_BLOCK} names no block"
    if not there:
        client.create_automation(wanted)
        return "made"
    first, *doubles = there
    _delete(client, doubles)
    kept = wanted.model_copy(update={"enabled": first.enabled})
    if AutomationCore(**first.model_dump(exclude={"id"})) == kept:
        return "as it was"
    client.update_automation(first.id, AutomationCore(**kept.model_dump(exclude={"owner_resource"})))
    return "changed"


def _delete(client: SyncPrefectClient, automations: Sequence[Automation]) -> None:
    for one in automations:
        client.delete_automation(one.id)


def main(arguments: Sequence[str]) -> int:
    """Apply them, and show what became of each; return 2 where that is not asked for or not possible."""
    if list(arguments) != ["apply"]:
        sys.stderr.write("usage: python -m deployments.automations apply\n")
        return 2
    try:
        require_configured_server()
        applied = apply_automations()
    except ExpectedError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.writelines(f"{name}: {what}\n" for name, what in applied.items())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
