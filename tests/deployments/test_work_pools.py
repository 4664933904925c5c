"""The base job templates of the work pools: Prefect's own models take them, and what comes out is a job of ours.

Nothing is started here: no Docker and no cluster is needed, and none of this says that the image can be built.
"""

import json
import re
import uuid
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from prefect.client.schemas.objects import FlowRun
from prefect.utilities.templating import apply_values

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"
KUBERNETES, DOCKER = (DEPLOYMENTS / kind / "base-job-template.json" for kind in ("kubernetes", "docker"))
COMMAND = "prefect flow-run execute"


def read(path):
    return json.loads(path.read_text("utf-8"))


def configured(kind, path, **variables):
    """What Prefect's worker makes of a template, and of what is said for one run; it asks a server for secrets besides."""
    template = read(path)
    defaults = {name: variable["default"] for name, variable in template["variables"]["properties"].items()}
    return kind(**apply_values(template["job_configuration"], defaults | variables, remove_notset=True))


@pytest.fixture
def of_kubernetes():
    pytest.importorskip("prefect_kubernetes")
    from prefect_kubernetes.worker import KubernetesWorkerJobConfiguration

    return KubernetesWorkerJobConfiguration


@pytest.fixture
def of_docker():
    pytest.importorskip("prefect_docker")
    from prefect_docker.worker import DockerWorkerJobConfiguration

    return DockerWorkerJobConfiguration


@pytest.mark.parametrize("path", [KUBERNETES, DOCKER], ids=["kubernetes", "docker"])
def test_every_variable_is_declared_used_described_and_has_a_default_that_fits(path):
    template = read(path)
    used = set(re.findall(r"\{\{ (\w+) \}\}", json.dumps(template["job_configuration"])))
    declared = template["variables"]["properties"]
    assert used == set(declared) and template["variables"]["required"] == []
    Draft202012Validator.check_schema(template["variables"])
    for name, variable in declared.items():
        assert variable["description"].endswith("."), name
        Draft202012Validator(variable).validate(variable["default"])


def test_kubernetes_gets_a_job_that_may_nothing_and_sees_the_data(of_kubernetes):
    job = configured(of_kubernetes, KUBERNETES, env={"FLOWREADER_CHAT_MODEL": "of the run"})
    job.prepare_for_flow_run(FlowRun(id=uuid.uuid4(), name="quick-reader", flow_id=uuid.uuid4()))
    manifest = job.job_manifest
    pod = manifest["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"] == COMMAND.split() and container["image"] == "flowreader:0.1.0"
    assert pod["securityContext"]["runAsNonRoot"] is True and container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == "flowreader-data"
    variables = {one["name"]: one for one in container["env"]}
    assert len(variables) == len(container["env"])
    assert variables["FLOWREADER_HOME"]["value"] == container["volumeMounts"][0]["mountPath"] == "/data"
    # What a run is told goes before what the cluster knows.
    assert variables["FLOWREADER_CHAT_MODEL"]["value"] == "of the run"
    secret = variables["FLOWREADER_CHAT_API_KEY"]
    assert set(secret) == {"name", "valueFrom"} and secret["valueFrom"]["secretKeyRef"]["name"] == "flowreader-models"


def test_the_job_is_one_that_kubernetes_knows(of_kubernetes):
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    job = configured(of_kubernetes, KUBERNETES)
    job.prepare_for_flow_run(FlowRun(id=uuid.uuid4(), name="quick-reader", flow_id=uuid.uuid4()))
    pod = job.job_manifest["spec"]["template"]["spec"]
    # prefect-kubernetes 0.8 insists on these two at a place where Kubernetes has none, and drops what it does not know.
    assert (pod.pop("parallelism"), pod.pop("completions")) == (1, 1)
    kubernetes_validate.validate(job.job_manifest, "1.34", strict=True)
    pod["containers"][0]["imagePullPolcy"] = "Always"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job.job_manifest, "1.34", strict=True)


def test_docker_gets_a_container_that_may_nothing_beside_the_server(of_docker):
    run = configured(of_docker, DOCKER)
    run.prepare_for_flow_run(FlowRun(id=uuid.uuid4(), name="quick-reader", flow_id=uuid.uuid4()))
    assert run.command == COMMAND and run.image == "flowreader:0.1.0" and run.privileged is False
    compose = yaml.safe_load((DEPLOYMENTS / "docker" / "compose.yaml").read_text("utf-8"))
    assert run.networks == [f"{compose['name']}_default"]
    assert run.volumes == [f"{compose['name']}_{volume}" for volume in compose["services"]["worker"]["volumes"][:1]]
    how = run.container_create_kwargs
    assert how["user"] == "10001:10001" and how["cap_drop"] == ["ALL"] and how["security_opt"] == ["no-new-privileges:true"]
    assert run.mem_limit == "8g"


@pytest.mark.parametrize("path", [KUBERNETES, DOCKER], ids=["kubernetes", "docker"])
def test_a_template_holds_no_secret(path):
    words = path.read_text("utf-8").lower()
    assert not re.search(r"(password|token|api[_-]key)\"?:\s*\"(?!\{\{)[^\"]", words)
