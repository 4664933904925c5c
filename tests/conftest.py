"""What many tests share: a home of its own for each, and one small corpus that was really ingested."""

import gc
import json
import os
import shutil
import signal
from uuid import uuid4

import pytest
from hypothesis import settings

from tests import session_server
from tests.kept_worlds import kept_world
from tests.object_server import object_server
from tests.program import CHEAP, CORPUS, environment_kept, flowreader, process

# The same examples every time: what lands must not hang on luck. `make torture` takes more, `make campaign` looks for new ones.
settings.register_profile("change", derandomize=True, deadline=None, max_examples=15)
settings.register_profile("torture", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("campaign", deadline=None, max_examples=1000)
settings.load_profile("change")

pytest_plugins = ("tests.library",)
MODELS = (
    "FLOWREADER_CHAT_",
    "FLOWREADER_EMBED_",
    "FLOWREADER_SECOND_",
    "FLOWREADER_RERANK_",
    "FLOWREADER_RATER_",
    "FLOWREADER_JUDGE_",
    "FLOWREADER_LOCAL_MODEL",
)


def pytest_configure(config):
    # readline tells the workers how wide the terminal of the session is; what is tested must not hang on it
    # nor on the home of who runs them, and nothing may be written there
    for name in ("COLUMNS", "LINES", "FLOWREADER_HOME"):
        os.environ.pop(name, None)
    for name in [name for name in os.environ if name.startswith(MODELS)]:
        os.environ.pop(name)  # what is asked of models, tests say themselves
    # pytest in the background of a script ignores Ctrl-C, and so would the programs that the tests start and interrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)
    runs_tests = getattr(config.option, "dist", "no") == "no"
    session_server.choose(import_prefect=runs_tests)
    if runs_tests:
        gc.disable()


def pytest_collection_finish():
    # Modules and tests stay until the end: looking through them again and again is a tenth of the session.
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure():
    # what stays frozen is no longer let go at the end of the process, and DuckDB complains of leaks
    gc.unfreeze()
    session_server.forget()


@pytest.fixture(autouse=True)
def environment_as_found(tmp_path_factory):
    """What a run in this process set in the environment, Prefect's folder above all, does not reach the next test.

    A test that names no home has one of its own all the same: what it learns of a scripted server is no other's.
    """
    with environment_kept():
        os.environ.setdefault("FLOWREADER_HOME", str(tmp_path_factory.getbasetemp() / "homes" / uuid4().hex))
        yield


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


def read_cheap_documents_in(folder):
    (folder / "documents").mkdir()
    for name in CHEAP:
        (folder / "documents" / name).write_bytes((CORPUS / name).read_bytes())
    done = flowreader("ingest", folder / "documents", "--corpus", "small", "--json", home=folder / "home", check=0)
    assert json.loads(done.stdout)["totals"]["documents"] == len(CHEAP)


@pytest.fixture(scope="session")
def small_world():
    """The cheap documents, and a home in which the corpus `small` holds them."""
    return kept_world("small", read_cheap_documents_in)


@pytest.fixture(scope="session")
def cheap_documents(small_world):
    """A folder with copies of the cheap documents."""
    return small_world / "documents"


@pytest.fixture(scope="session")
def library(small_world, tmp_path_factory):
    """A home in which the corpus `small` holds the cheap documents; no test may change it."""
    return shutil.copytree(small_world / "home", tmp_path_factory.mktemp("library") / "home")


@pytest.fixture(scope="session")
def whole_world(small_world):
    """A folder with a home in which the corpus `demo` holds all documents of the tests, the cheap ones as they were read before."""

    def read_corpus_in(folder):
        shutil.copytree(small_world / "home", folder / "home")
        process("ingest", CORPUS, "--corpus", "demo", "--json", home=folder / "home", check=0)

    return kept_world("whole", read_corpus_in)


@pytest.fixture(scope="module")
def asked_home(library, tmp_path_factory):
    """A home of the module's own with the corpus `small`: each question leaves a run."""
    return shutil.copytree(library, tmp_path_factory.mktemp("asking") / "home")


@pytest.fixture
def in_asked_home(asked_home, monkeypatch):
    """The module's home as that of this process."""
    monkeypatch.setenv("FLOWREADER_HOME", str(asked_home))


@pytest.fixture(scope="module")
def service_home(asked_home):
    """The module's home as that of this process for the whole module; Prefect's server is that of the session."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FLOWREADER_HOME", str(asked_home))
        environment.setenv("PREFECT_API_URL", session_server.session_server())
        yield asked_home


@pytest.fixture(scope="module")
def service(service_home):
    """The address of the query service, on a real socket, with the corpus `small`."""
    from tests.flows.service.worlds import served

    with served() as (address, _intake):
        yield address


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
