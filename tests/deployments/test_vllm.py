"""What serves the models: the files agree with each other, keep to themselves, and are what the README says."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tasks.models.endpoints import FULL_CONTEXT_TOKENS
from tasks.settings.ask import AllSettings, load_settings
from tests.deployments.test_manifests import KUBERNETES_VERSION

FOLDER = Path(__file__).parents[2] / "deployments" / "vllm"
README = (FOLDER / "README.md").read_text("utf-8")
LARGE, SMALL, EMBEDDINGS = "qwen3-vl-32b.yaml", "qwen3-vl-8b.yaml", "embeddings.yaml"
SERVED = (LARGE, SMALL, EMBEDDINGS)
PINNED = re.compile(r"vllm/vllm-openai:v(\d+\.\d+\.\d+)")


def read(name):
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


@pytest.fixture(scope="module")
def compose():
    return read("compose.yaml")


@pytest.fixture(scope="module")
def manifest():
    return list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text("utf-8")))


def of(manifest, kind):
    return {resource["metadata"]["name"]: resource for resource in manifest if resource["kind"] == kind}


def container_of(deployment):
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return container


def flags_file(arguments):
    """The file that a command line names; whatever else it says must be where it listens, nothing of the model."""
    said = dict(zip(arguments[::2], arguments[1::2], strict=True))
    assert set(said) <= {"--config", "--host", "--port"}
    return Path(said["--config"]).name


def devices(service):
    (reserved,) = service["deploy"]["resources"]["reservations"]["devices"]
    return len(reserved["device_ids"])


def test_kubernetes_knows_every_field(manifest):
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    for resource in manifest:
        kubernetes_validate.validate(resource, KUBERNETES_VERSION, strict=True)


def test_the_flags_stand_in_one_place(compose, manifest):
    script = compose["x-vllm"]["entrypoint"][2].split(" exec vllm serve ")[1]
    assert flags_file(script.split()) == "serve.yaml"
    mounted = {name: service["configs"][0]["source"] for name, service in compose["services"].items()}
    assert all(service["configs"][0]["target"] == "/etc/vllm/serve.yaml" for service in compose["services"].values())
    files = {name: Path(compose["configs"][source]["file"]).name for name, source in mounted.items()}
    assert files == {"chat-large": LARGE, "chat-small": SMALL, "embeddings": EMBEDDINGS}

    served = {name: flags_file(container_of(one)["args"]) for name, one in of(manifest, "Deployment").items()}
    assert served == {"flowreader-chat": LARGE, "flowreader-embeddings": EMBEDDINGS}
    (generated,) = read("kustomization.yaml")["configMapGenerator"]
    assert sorted(generated["files"]) == sorted(SERVED) and read("kustomization.yaml")["resources"] == ["kubernetes.yaml"]
    told = re.findall(r"bin/vllm serve (.*?)(?:  |$)", README, re.MULTILINE)
    assert told == [f"--config deployments/vllm/{name}" for name in (LARGE, EMBEDDINGS)]


def test_the_two_chat_models_differ_in_nothing_but_their_size():
    large, small = read(LARGE), read(SMALL)
    assert {flag for flag in large | small if large.get(flag) != small.get(flag)} == {"model", "tensor-parallel-size"}
    assert (large["model"], large["tensor-parallel-size"]) == ("Qwen/Qwen3-VL-32B-Instruct", 4)
    assert (small["model"], small["tensor-parallel-size"]) == ("Qwen/Qwen3-VL-8B-Instruct", 1)


def test_a_reply_cannot_run_away_and_no_address_can_be_fetched():
    for name in (LARGE, SMALL):
        flags = read(name)
        # "auto" would keep vLLM from starting
        assert flags["structured-outputs-config"] == {"backend": "xgrammar", "disable_any_whitespace": True}
        # an empty list would allow every address; .invalid exists nowhere (RFC 2606)
        (domain,) = flags["allowed-media-domains"]
        assert domain.endswith(".invalid") and "allowed-local-media-path" not in flags
        assert flags["limit-mm-per-prompt"] == {"image": 16, "video": 0} and "trust-remote-code" not in flags
        assert flags["generation-config"] == "vllm" and flags["enable-prefix-caching"] is True


def test_what_is_asked_by_default_fits_what_is_served():
    settings = AllSettings()
    for name in (LARGE, SMALL):
        flags = read(name)
        assert flags["max-model-len"] >= FULL_CONTEXT_TOKENS
        assert flags["limit-mm-per-prompt"]["image"] >= settings.reading.analysis.model.pictures_per_call
        assert flags["limit-mm-per-prompt"]["image"] >= settings.ask.reading.model.pictures
        assert flags["gpu-memory-utilization"] + read(EMBEDDINGS)["gpu-memory-utilization"] < 0.95, "they share a GPU"


def test_both_deployments_take_the_same_pinned_version_and_the_readme_names_it(compose, manifest):
    images = {service["image"] for service in compose["services"].values()}
    images |= {container_of(one)["image"] for one in of(manifest, "Deployment").values()}
    (image,) = images
    version = PINNED.fullmatch(image)[1]
    assert f"vllm=={version}" in README and f"vLLM {version}" in README


def test_each_model_gets_the_gpus_that_its_flags_count_on(compose, manifest):
    for name, file in (("chat-large", LARGE), ("chat-small", SMALL), ("embeddings", EMBEDDINGS)):
        assert devices(compose["services"][name]) == read(file).get("tensor-parallel-size", 1)
    for deployment in of(manifest, "Deployment").values():
        container = container_of(deployment)
        wanted = read(flags_file(container["args"])).get("tensor-parallel-size", 1)
        assert container["resources"]["limits"] == {"nvidia.com/gpu": str(wanted)}


def test_only_this_machine_can_ask(compose, manifest):
    assert {read(name)["host"] for name in SERVED} == {"127.0.0.1"}
    published = [port for service in compose["services"].values() for port in service["ports"]]
    assert published and all(port.startswith("127.0.0.1:") and port.endswith(":8000") for port in published)
    assert {service["spec"].get("type", "ClusterIP") for service in of(manifest, "Service").values()} == {"ClusterIP"}
    (policy,) = (one["spec"] for one in of(manifest, "NetworkPolicy").values())
    (guarded,) = policy["podSelector"]["matchExpressions"]
    assert policy["policyTypes"] == ["Ingress"] and guarded["operator"] == "In"
    assert set(guarded["values"]) == set(of(manifest, "Deployment"))
    peers = [peer for rule in policy["ingress"] for peer in rule["from"]]
    assert peers == [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": "flowreader"}}}]


def test_the_key_comes_from_a_secret(compose, manifest):
    assert compose["secrets"] == {"api_key": {"file": "./api_key"}} and compose["x-vllm"]["secrets"] == ["api_key"]
    assert "api_key" in (FOLDER / ".gitignore").read_text("utf-8").split()
    assert 'VLLM_API_KEY="$$(cat /run/secrets/api_key)"' in compose["x-vllm"]["entrypoint"][2]
    for deployment in of(manifest, "Deployment").values():
        (key,) = (variable for variable in container_of(deployment)["env"] if variable["name"] == "VLLM_API_KEY")
        secret = key["valueFrom"]["secretKeyRef"]
        assert "value" not in key and f"generic {secret['name']} --from-literal={secret['key']}=" in README


def test_the_key_of_the_file_is_in_the_environment_of_what_the_shell_starts(compose, tmp_path):
    (tmp_path / "api_key").write_text("sesame\n")
    (tmp_path / "vllm").write_text('#!/bin/sh\necho "$VLLM_API_KEY" "$@"\n')
    (tmp_path / "vllm").chmod(0o755)
    shell, flag, line = compose["x-vllm"]["entrypoint"]
    line = line.replace("$$", "$").replace("/run/secrets/api_key", str(tmp_path / "api_key"))
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run([shell, flag, line], env={"PATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout == "sesame serve --config /etc/vllm/serve.yaml --host 0.0.0.0 --port 8000\n"


def test_each_server_says_when_it_is_well(compose, manifest):
    assert "/health" in compose["x-vllm"]["healthcheck"]["test"][-1]
    for deployment in of(manifest, "Deployment").values():
        container = container_of(deployment)
        probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]
        assert probes == [{"path": "/health", "port": "http"}] * 3
        (port,) = container["ports"]
        assert port["name"] == "http" and port["containerPort"] == read(flags_file(container["args"]))["port"]


def test_what_the_manifest_refers_to_is_there(manifest):
    deployments, services = of(manifest, "Deployment"), of(manifest, "Service")
    (generated,) = read("kustomization.yaml")["configMapGenerator"]
    assert set(services) == set(deployments)
    for name, deployment in deployments.items():
        spec, service, container = deployment["spec"], services[name]["spec"], container_of(deployment)
        labels = spec["template"]["metadata"]["labels"]
        assert spec["selector"]["matchLabels"].items() <= labels.items() and service["selector"].items() <= labels.items()
        assert [port["port"] for port in service["ports"]] == [port["containerPort"] for port in container["ports"]]
        volumes = {volume["name"]: volume for volume in spec["template"]["spec"]["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
        assert volumes["flags"]["configMap"]["name"] == generated["name"]
        assert volumes["models"]["persistentVolumeClaim"]["claimName"] in of(manifest, "PersistentVolumeClaim")


def test_the_readme_names_every_file_and_no_other():
    named = set(re.findall(r"\]\(([\w.-]+)\)", README))
    there = {path.name for path in FOLDER.iterdir() if path.is_file()} - {"README.md", ".gitignore", "api_key"}
    assert named == there
    spoken_of = set(re.findall(r"deployments/vllm/([\w.-]+)", README))
    assert spoken_of <= there


def test_the_settings_switch_everything_to_the_model(tmp_path):
    settings = load_settings(FOLDER / "settings.toml")
    assert settings.reading.analysis.by == settings.reading.evolution.mode == settings.ask.reading.by == "model"
    assert settings.models.limits.in_flight == 64 and settings.ask.models.limits.in_flight == 16
    written = (FOLDER / "settings.toml").read_text("utf-8")
    (tmp_path / "all.toml").write_text(re.sub(r"^#     ", "", written, flags=re.MULTILINE), "utf-8")
    assert load_settings(tmp_path / "all.toml").models.budget.money == 25.0, "what stands in a comment is right, too"
