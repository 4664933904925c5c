"""What prefect.yaml declares, as deployments that `serve` runs; the environment names folders and datasets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from prefect.client.schemas.objects import ConcurrencyLimitConfig
from prefect.deployments.runner import RunnerDeployment
from prefect.flows import load_flow_from_entrypoint
from prefect.schedules import Cron
from prefect.types.entrypoint import EntrypointType

from deployments.named_inputs import named_input

DECLARATIONS = Path(__file__).with_name("prefect.yaml")


def read_deployments() -> list[RunnerDeployment]:
    """Return every deployment of prefect.yaml; a schedule is active where the file says so, or the environment names its input."""
    return [make_deployment(one, named_input(one["name"])) for one in _read_declarations()]


def read_deployment(name: str) -> RunnerDeployment:
    (one,) = [one for one in _read_declarations() if one["name"] == name]
    return make_deployment(one, named_input(name))


def _read_declarations() -> list[Mapping[str, Any]]:
    declared: list[Mapping[str, Any]] = yaml.safe_load(DECLARATIONS.read_text("utf-8"))["deployments"]
    return declared


def make_deployment(declared: Mapping[str, Any], named: Mapping[str, Any]) -> RunnerDeployment:
    """Return a declared deployment; `named` are values of its request that the environment gives, and they activate it."""
    parameters = dict(declared.get("parameters", {}))
    if named:
        parameters["request"] = {**parameters["request"], **named}
    limit = declared.get("concurrency_limit")
    return RunnerDeployment.from_flow(
        load_flow_from_entrypoint(declared["entrypoint"]),
        name=declared["name"],
        description=declared["description"],
        parameters=parameters,
        schedules=[
            Cron(one["cron"], timezone=one["timezone"], active=one["active"] or bool(named))
            for one in declared.get("schedules", ())
        ],
        concurrency_limit=ConcurrencyLimitConfig(**limit) if limit else None,
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
