"""Dockerfile, compose files, Kubernetes manifests and job templates: known fields alone, open to nobody, without a secret.

They are held against the schemas of Kubernetes 1.34, strictly, and of compose; torture/test_container_commands.py runs what the
containers run on this machine. No image was built and no cluster was started.
"""

import json
import os
import re
import subprocess
import uuid
from pathlib import Path

import jsonschema
import pytest
import yaml
from jsonschema import Draft202012Validator
from prefect.client.schemas.objects import FlowRun
from prefect.utilities.templating import apply_values

from tasks.models.endpoints import FULL_CONTEXT_TOKENS
from tasks.settings.ask import AllSettings, load_settings

ROOT = Path(__file__).parents[2]
DEPLOYMENTS = ROOT / "deployments"
VLLM = DEPLOYMENTS / "vllm"
DOCKERFILE = (DEPLOYMENTS / "docker" / "Dockerfile").read_text("utf-8")
MANIFESTS = ("kubernetes/flowreader.yaml", "vllm/kubernetes.yaml")
KUBERNETES_VERSION = "1.34"
SERVED = {"large": "qwen3-vl-32b.yaml", "small": "qwen3-vl-8b.yaml", "embeddings": "embeddings.yaml"}
SECRET = re.compile("PASSWORD|KEY|CONNECTION_URL")


def compose(folder="docker"):
    return yaml.safe_load((DEPLOYMENTS / folder / "compose.yaml").read_text("utf-8"))


def manifests(path=MANIFESTS[0]):
    return list(yaml.safe_load_all((DEPLOYMENTS / path).read_text("utf-8")))


def named(kind, path=MANIFESTS[0]):
    return {one["metadata"]["name"]: one for one in manifests(path) if one["kind"] == kind}


def pods(path=MANIFESTS[0]):
    return {name: one["spec"]["template"]["spec"] for name, one in named("Deployment", path).items()}


def containers(path=MANIFESTS[0]):
    return [one for pod in pods(path).values() for one in (*pod.get("initContainers", ()), *pod["containers"])]


def template(kind):
    return json.loads((DEPLOYMENTS / kind / "base-job-template.json").read_text("utf-8"))


def flags(model):
    """What one model is served with."""
    return yaml.safe_load((VLLM / SERVED[model]).read_text("utf-8"))


@pytest.mark.parametrize("path", MANIFESTS)
def test_kubernetes_knows_every_field(path):
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    for manifest in manifests(path):
        kubernetes_validate.validate(manifest, KUBERNETES_VERSION, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**manifest, "metdata": {}}, KUBERNETES_VERSION, strict=True)


@pytest.mark.parametrize("folder", ["docker", "vllm"])
def test_compose_knows_every_field(folder):
    schemas = pytest.importorskip("check_jsonschema")
    schema = json.loads((Path(schemas.__file__).parent / "builtin_schemas" / "vendor" / "compose-spec.json").read_text("utf-8"))
    written = compose(folder)
    jsonschema.validate(written, schema)
    for service in written["services"].values():
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**written, "services": {"one": {**service, "comand": []}}}, schema)


def test_what_is_open_is_open_on_this_machine_alone():
    ports = {name: service.get("ports", []) for name, service in compose()["services"].items()}
    assert ports == {"database": [], "server": ["127.0.0.1:4200:4200"], "worker": [], "questions": []}
    published = [port for service in compose("vllm")["services"].values() for port in service["ports"]]
    assert published and all(port.startswith("127.0.0.1:") for port in published)
    assert {flags(model)["host"] for model in SERVED} == {"127.0.0.1"}
    for path in MANIFESTS:
        assert {service["spec"].get("type", "ClusterIP") for service in named("Service", path).values()} == {"ClusterIP"}
        assert all(rule["from"] for one in named("NetworkPolicy", path).values() for rule in one["spec"]["ingress"])


def test_secrets_come_from_the_environment_or_from_the_cluster():
    for name, service in compose()["services"].items():
        for variable, value in service["environment"].items():
            if SECRET.search(variable):
                assert value is None or "${FLOWREADER_DATABASE_PASSWORD:?" in value, (name, variable)
    for path in MANIFESTS:
        assert not named("Secret", path)
        for variable in (one for container in containers(path) for one in container["env"]):
            if SECRET.search(variable["name"]):
                assert "secretKeyRef" in variable["valueFrom"] and "value" not in variable, variable
    for kind in ("docker", "kubernetes"):
        assert not re.search(r"(password|token|api[_-]key)\"?:\s*\"(?!\{\{)[^\"]", json.dumps(template(kind)).lower())
    assert "api_key" in (VLLM / ".gitignore").read_text("utf-8").split()


def test_no_container_is_root_or_can_become_it():
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.MULTILINE)
    assert all(pod["securityContext"]["runAsNonRoot"] is True for pod in pods().values())
    for container in containers():
        assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    for name, service in compose()["services"].items():
        assert service["security_opt"] == ["no-new-privileges:true"] and (name == "database" or service["cap_drop"] == ["ALL"])


def test_the_image_of_this_version_is_made_of_files_that_exist_and_named_everywhere():
    copied = {name for line in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()}
    allowed = (DEPLOYMENTS / "docker" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in allowed if line.startswith("!")} == copied and all((ROOT / name).exists() for name in copied)
    (version,) = re.findall(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    images = {one["image"] for one in containers()} | {compose()["services"]["worker"]["image"]}
    images |= {template(kind)["variables"]["properties"]["image"]["default"] for kind in ("docker", "kubernetes")}
    assert images == {f"flowreader:{version}"}


def test_what_is_asked_by_default_fits_what_is_served():
    settings = AllSettings()
    for model in ("large", "small"):
        assert flags(model)["max-model-len"] >= FULL_CONTEXT_TOKENS
        pictures = flags(model)["limit-mm-per-prompt"]["image"]
        assert pictures >= max(settings.reading.analysis.model.pictures_per_call, settings.ask.reading.model.pictures)
        # .invalid exists nowhere (RFC 2606); an empty list would allow every address
        assert [domain.endswith(".invalid") for domain in flags(model)["allowed-media-domains"]] == [True]


def test_the_settings_beside_the_models_are_read():
    assert load_settings(VLLM / "settings.toml").ask.reading.by == "model"


def test_the_key_of_the_file_is_in_the_environment_of_what_the_shell_starts(tmp_path):
    (tmp_path / "api_key").write_text("sesame\n")
    (tmp_path / "vllm").write_text('#!/bin/sh\necho "$VLLM_API_KEY" "$@"\n')
    (tmp_path / "vllm").chmod(0o755)
    shell, flag, line = compose("vllm")["x-vllm"]["entrypoint"]
    line = line.replace("$$", "$").replace("/run/secrets/api_key", str(tmp_path / "api_key"))
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run([shell, flag, line], env={"PATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout == "sesame serve --config /etc/vllm/serve.yaml --host 0.0.0.0 --port 8000\n"


@pytest.mark.parametrize("kind", ["docker", "kubernetes"])
def test_every_variable_of_a_work_pool_is_declared_used_and_has_a_default_that_fits(kind):
    declared = template(kind)["variables"]["properties"]
    assert set(re.findall(r"\{\{ (\w+) \}\}", json.dumps(template(kind)["job_configuration"]))) == set(declared)
    Draft202012Validator.check_schema(template(kind)["variables"])
    for variable in declared.values():
        Draft202012Validator(variable).validate(variable["default"])


def run_of(configuration, kind, **variables):
    """What Prefect's worker makes of a template, and of what is said for one run; it asks a server for secrets besides."""
    defaults = {name: variable["default"] for name, variable in template(kind)["variables"]["properties"].items()}
    made = configuration(**apply_values(template(kind)["job_configuration"], defaults | variables, remove_notset=True))
    made.prepare_for_flow_run(FlowRun(id=uuid.uuid4(), name="quick-reader", flow_id=uuid.uuid4()))
    return made


def test_the_job_of_a_run_is_one_that_kubernetes_knows_and_what_the_run_is_told_goes_before_what_the_cluster_knows():
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    worker = pytest.importorskip("prefect_kubernetes.worker")
    told = {"FLOWREADER_CHAT_MODEL": "of the run"}
    job = run_of(worker.KubernetesWorkerJobConfiguration, "kubernetes", env=told).job_manifest
    pod = job["spec"]["template"]["spec"]
    # prefect-kubernetes 0.8 insists on these two at a place where Kubernetes has none, and drops what it does not know.
    assert (pod.pop("parallelism"), pod.pop("completions")) == (1, 1)
    kubernetes_validate.validate(job, KUBERNETES_VERSION, strict=True)
    (container,) = pod["containers"]
    variables = {one["name"]: one.get("value") for one in container["env"]}
    assert len(variables) == len(container["env"]) and variables.items() >= told.items()
    assert pod["securityContext"]["runAsNonRoot"] is True and container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_the_container_of_a_run_may_nothing_and_stands_beside_the_server():
    worker = pytest.importorskip("prefect_docker.worker")
    run = run_of(worker.DockerWorkerJobConfiguration, "docker")
    assert run.networks == [f"{compose()['name']}_default"] and run.privileged is False
    assert run.volumes == [f"{compose()['name']}_{volume}" for volume in compose()["services"]["worker"]["volumes"][:1]]
    assert run.container_create_kwargs["user"] == "10001:10001" and run.container_create_kwargs["cap_drop"] == ["ALL"]
