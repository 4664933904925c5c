"""Dockerfile, compose file and Kubernetes manifests: what they name exists, what they open is not open, and no secret is in them.

They are held against the schemas of Kubernetes 1.34, strictly, and of compose; test_container_commands.py runs what the containers
run on this machine. No image was built and no cluster was started.
"""

import functools
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
import yaml

from flows.service.listening import USUAL_ADDRESS

ROOT = Path(__file__).parents[2]
DEPLOYMENTS = ROOT / "deployments"
DOCKERFILE = (DEPLOYMENTS / "docker" / "Dockerfile").read_text("utf-8")
KUBERNETES_VERSION = "1.34"
USER = 10001
FRONT_DOOR = USUAL_ADDRESS.rpartition(":")[2]


def compose():
    return yaml.safe_load((DEPLOYMENTS / "docker" / "compose.yaml").read_text("utf-8"))


def manifests():
    return list(yaml.safe_load_all((DEPLOYMENTS / "kubernetes" / "flowreader.yaml").read_text("utf-8")))


def named(kind):
    return {one["metadata"]["name"]: one for one in manifests() if one["kind"] == kind}


def pods():
    return {name: one["spec"]["template"]["spec"] for name, one in named("Deployment").items()}


def containers():
    return [one for pod in pods().values() for one in (*pod.get("initContainers", ()), *pod["containers"])]


def commands():
    ours = [service["command"] for service in compose()["services"].values() if "command" in service]
    (image,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    return [*ours, json.loads(image), *(one["command"] for one in containers())]


@pytest.mark.parametrize("manifest", manifests(), ids=lambda one: f"{one['kind']} {one['metadata']['name']}")
def test_kubernetes_knows_every_field(manifest):
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    kubernetes_validate.validate(manifest, KUBERNETES_VERSION, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**manifest, "metdata": {}}, KUBERNETES_VERSION, strict=True)


@pytest.mark.parametrize("folder", ["docker", "vllm"])
def test_compose_knows_every_field(folder):
    schemas = pytest.importorskip("check_jsonschema")
    schema = json.loads((Path(schemas.__file__).parent / "builtin_schemas" / "vendor" / "compose-spec.json").read_text("utf-8"))
    written = yaml.safe_load((DEPLOYMENTS / folder / "compose.yaml").read_text("utf-8"))
    jsonschema.validate(written, schema)
    for service in written["services"].values():
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**written, "services": {"one": {**service, "comand": []}}}, schema)


def test_every_command_of_a_manifest_names_what_exists():
    assert len(commands()) == 9
    for words in commands():
        exists(words)


def exists(words):
    """Expect that the command could be run in the image: module, subcommand, options, files and the pool that is named."""
    if words[:2] == ["python", "-m"]:
        assert importlib.util.find_spec(words[2]), words
        return
    if words[0] == "flowreader":
        done = subprocess.run([sys.executable, "-m", "flows.cli.main", *words[1:]], capture_output=True, cwd=ROOT, check=False)
        assert done.returncode == 0, words
        return
    assert words[0] == "prefect", words
    group = [word for word in words[1:] if word != "--no-prompt"]
    depth = 1 if group[0] == "deploy" else 2
    help_ = prefect_help(*group[:depth])
    for word in group[depth:]:
        assert not word.startswith("--") or word in help_, (word, words)
        assert not word.endswith((".yaml", ".json")) or (ROOT / word).is_file(), (word, words)
    declared = {one["name"]: one["work_pool"]["name"] for one in declarations()}
    deployed = {value for option, value in pairwise(group) if option == "--name"} or set(declared)
    pool = group[2] if group[:2] == ["work-pool", "create"] else dict(pairwise(group)).get("--pool")
    assert deployed <= set(declared) and (pool is None or pool in declared.values()), words
    assert group[0] != "deploy" or {declared[name] for name in deployed} == {"flowreader"}, words


def declarations():
    return yaml.safe_load((DEPLOYMENTS / "prefect.yaml").read_text("utf-8"))["deployments"]


@functools.cache
def prefect_help(*words):
    done = subprocess.run(
        [sys.executable, "-m", "prefect", *words, "--help"], capture_output=True, text=True, check=False, env=plain_environment()
    )
    assert done.returncode == 0, words
    # A command that does not exist shows its group's help.
    assert re.search(rf"Usage: prefect {' '.join(words)}\b", done.stdout), words
    return set(re.findall(r"--[a-z-]+", done.stdout))


def plain_environment():
    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}


def test_what_is_open_is_open_on_this_machine_alone():
    ports = {name: service.get("ports", []) for name, service in compose()["services"].items()}
    assert ports == {"database": [], "server": ["127.0.0.1:4200:4200"], "worker": [], "questions": []}
    assert all("type" not in service["spec"] for service in named("Service").values())
    (policy,) = named("NetworkPolicy").values()
    server = named("Deployment")["flowreader-server"]["spec"]["template"]["metadata"]["labels"]
    assert policy["spec"]["podSelector"]["matchLabels"] == server and policy["spec"]["ingress"][0]["from"] == [{"podSelector": {}}]


def test_secrets_come_from_the_environment_or_from_the_cluster():
    for name, service in compose()["services"].items():
        for variable, value in service["environment"].items():
            if re.search("PASSWORD|KEY|CONNECTION_URL", variable):
                assert value is None or "${FLOWREADER_DATABASE_PASSWORD:?" in value, (name, variable)
    for container in containers():
        for variable in container["env"]:
            if re.search("PASSWORD|KEY|CONNECTION_URL", variable["name"]):
                assert "secretKeyRef" in variable["valueFrom"] and "value" not in variable, variable
    assert not named("Secret")


def test_no_container_is_root_or_can_become_it():
    assert f"USER {USER}:{USER}" in DOCKERFILE and f"--uid {USER}" in DOCKERFILE
    for pod in pods().values():
        assert pod["securityContext"]["runAsNonRoot"] is True and pod["securityContext"]["runAsUser"] == USER
    for container in containers():
        assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        assert container["resources"]["requests"] and container["resources"]["limits"]
    for name, service in compose()["services"].items():
        assert service["security_opt"] == ["no-new-privileges:true"] and (name == "database" or service["cap_drop"] == ["ALL"])


def test_what_must_be_up_first_is_waited_for_and_watched():
    services = compose()["services"]
    assert services["server"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    for name in ("worker", "questions"):
        assert services[name]["depends_on"] == {"server": {"condition": "service_healthy"}}
    for name, service in services.items():
        first, *words = service["healthcheck"]["test"]
        assert first == "CMD", name
        if words[0] == "python":
            compile(words[2], name, "exec")
    for pod in pods().values():
        (container,) = pod["containers"]
        opened = {port["name"] for port in container.get("ports", ())}
        probes = [container[probe] for probe in ("livenessProbe", "readinessProbe")]
        assert {probe["httpGet"]["port"] for probe in probes if "httpGet" in probe} == opened
        assert opened or all(f":{FRONT_DOOR}/health" in probe["exec"]["command"][2] for probe in probes)


def test_the_parts_name_each_other_rightly():
    services, volumes = compose()["services"], compose()["volumes"]
    for service in services.values():
        for volume in service.get("volumes", ()):
            assert volume.startswith("${FLOWREADER_DOCUMENTS:?") or volume.split(":")[0] in volumes
    address = services["worker"]["environment"]["PREFECT_API_URL"]
    assert address == f"http://server:{services['server']['environment']['PREFECT_SERVER_API_PORT']}/api"
    assert services["worker"]["environment"]["FLOWREADER_INGEST_PATHS"] == services["worker"]["volumes"][1].split(":")[-2]
    (service,) = named("Service").values()
    (worker,) = pods()["flowreader-worker"]["containers"]
    told = {one["name"]: one["value"] for one in worker["env"]}
    assert told["PREFECT_API_URL"] == f"http://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}/api"
    assert service["spec"]["selector"] == named("Deployment")["flowreader-server"]["spec"]["selector"]["matchLabels"]
    (binding,) = named("RoleBinding").values()
    assert binding["roleRef"]["name"] in named("Role") and binding["subjects"][0]["name"] in named("ServiceAccount")
    assert pods()["flowreader-worker"]["serviceAccountName"] in named("ServiceAccount")
    template = json.loads((DEPLOYMENTS / "kubernetes" / "base-job-template.json").read_text("utf-8"))["variables"]["properties"]
    assert template["data_claim"]["default"] in named("PersistentVolumeClaim")
    assert template["namespace"]["default"] in named("Namespace")
    images = {one["image"] for one in containers()} | {services["worker"]["image"], template["image"]["default"]}
    (version,) = re.findall(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert images == {f"flowreader:{version}"}


def test_the_image_is_made_of_files_that_exist_and_what_was_tested_together():
    copied = [shlex.split(line)[1:-1] for line in re.findall(r"^COPY .*$", DOCKERFILE, re.MULTILINE)]
    sources = {name for names in copied for name in names}
    assert all((ROOT / name).exists() for name in sources)
    allowed = (DEPLOYMENTS / "docker" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in allowed if line.startswith("!")} == sources and "*" in allowed
    assert "-c constraints.txt" in DOCKERFILE and "FROM python:3.11-slim" in DOCKERFILE
    assert "VOLUME /data" in DOCKERFILE and "FLOWREADER_HOME=/data" in DOCKERFILE
