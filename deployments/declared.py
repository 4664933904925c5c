"""What prefect.yaml declares, as deployments that `serve` runs; the environment names folders and datasets."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from prefect.client.schemas.objects import ConcurrencyLimitConfig
from prefect.deployments.runner import RunnerDeployment
from prefect.flows import load_flow_from_entrypoint
from prefect.schedules import Cron
from prefect.types.entrypoint import EntrypointType

from storage.object_address import checked_source, is_address

DECLARATIONS = Path(__file__).with_name("prefect.yaml")
SOURCES = re.compile("s3://[^:@/]*:[^:@]*@[^:]*|s3://[^:]*|[^:]+")
"""The colon joins, as in PATH; that of `s3://` is part of an address, and so is that of a password, which is refused there."""

INGEST_PATHS, EVALUATE_DATASET = "FLOWREADER_INGEST_PATHS", "FLOWREADER_EVALUATE_DATASET"


def declared_deployments() -> list[RunnerDeployment]:
    """Return every deployment of prefect.yaml; a schedule is active where the file says so, or the environment names its input."""
    return [deployment(one, named_input(one["name"])) for one in _declared()]


def declared_deployment(name: str) -> RunnerDeployment:
    (one,) = [one for one in _declared() if one["name"] == name]
    return deployment(one, named_input(name))


def _declared() -> list[Mapping[str, Any]]:
    declared: list[Mapping[str, Any]] = yaml.safe_load(DECLARATIONS.read_text("utf-8"))["deployments"]
    return declared


def deployment(declared: Mapping[str, Any], named: Mapping[str, Any]) -> RunnerDeployment:
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


def named_input(name: str) -> Mapping[str, Any]:
    """Return what the environment names for a deployment: folders and addresses to read, or a dataset; paths are made absolute."""
    paths = [_whole(source) for source in SOURCES.findall(os.environ.get(INGEST_PATHS, ""))]
    dataset = os.environ.get(EVALUATE_DATASET, "")
    if name == "ingest" and paths:
        return {"paths": paths}
    if name == "evaluate" and dataset:
        return {"dataset": _whole(dataset)}
    return {}


def _whole(source: str) -> str:
    return checked_source(source) if is_address(source) else str(Path(source).expanduser().absolute())
