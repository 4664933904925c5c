"""What many tests share: a home of its own for each, and one small corpus that was really ingested."""

import json
import os
import shutil

import pytest
from hypothesis import settings

from tests.object_server import object_server
from tests.program import CHEAP, CORPUS, flowreader

# The same examples every time: what lands must not hang on luck. `--hypothesis-profile=default` looks for new ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def environment_as_found():
    """What a run in this process set in the environment, Prefect's folder above all, does not reach the next test."""
    found = dict(os.environ)
    yield
    for name in os.environ.keys() - found.keys():
        del os.environ[name]
    os.environ.update(found)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home."""
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="session")
def objects():
    """A running S3 server."""
    with object_server() as server:
        yield server


@pytest.fixture
def objects_found(objects, monkeypatch):
    """The S3 server, as boto3 finds it by the environment of this process and of those it starts."""
    for name, value in objects.environment.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    return objects


@pytest.fixture
def store(objects_found):
    """The S3 server with an empty bucket, to read documents from; how it misbehaved before is forgotten."""
    return objects_found.with_empty_bucket()


@pytest.fixture(scope="session")
def cheap_documents(tmp_path_factory):
    """A folder with copies of the cheap documents."""
    folder = tmp_path_factory.mktemp("documents")
    for name in CHEAP:
        (folder / name).write_bytes((CORPUS / name).read_bytes())
    return folder


@pytest.fixture(scope="session")
def library(tmp_path_factory, cheap_documents):
    """A home in which the corpus `small` holds the cheap documents; nobody may change it."""
    home = tmp_path_factory.mktemp("library")
    done = flowreader("ingest", cheap_documents, "--corpus", "small", "--json", home=home, check=0)
    assert json.loads(done.stdout)["totals"]["documents"] == len(CHEAP)
    return home


@pytest.fixture(scope="module")
def asked_home(library, tmp_path_factory):
    """A home of the module's own with the corpus `small`: whoever asks leaves a run."""
    return shutil.copytree(library, tmp_path_factory.mktemp("asking") / "home")


@pytest.fixture
def in_asked_home(asked_home, monkeypatch):
    """The module's home as that of this process."""
    monkeypatch.setenv("FLOWREADER_HOME", str(asked_home))


@pytest.fixture
def own_home(library, tmp_path, monkeypatch):
    """A home of this process with the corpus `small`, which the test may change."""
    home = shutil.copytree(library, tmp_path / "home")
    monkeypatch.setenv("FLOWREADER_HOME", str(home))
    return home


@pytest.fixture
def in_library(library, monkeypatch):
    """The library as the home of this process."""
    monkeypatch.setenv("FLOWREADER_HOME", str(library))
    return library
