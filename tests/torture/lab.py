"""What the torture shares: runs that can be killed, what they leave in /proc, and the export that must always come out the same."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from flows.prefect_runs.server import QUIET, answers
from storage.corpus.doctor import examine
from storage.corpus.export import export_document
from storage.corpus.snapshot import open_for_reading
from storage.errors import Finding
from storage.locations import CorpusLocation
from storage.records.documents import DocumentState
from tests.kept_worlds import give_prefect_data
from tests.listening import free_port
from tests.program import CHEAP, CORPUS
from tests.waiting import wait_until

NAME = "torture"
Case = TypeVar("Case")
LIMIT_SECONDS = 300.0
PROMPT_SECONDS = 30.0
"""Where people wait for an end. It comes sooner by far, on a machine that is not busy."""

CAMPAIGN = "CAMPAIGN" in os.environ


def sampled(cases: Sequence[Case], count: int) -> list[Case]:
    """Return so many of the cases, the same each time and in their order; `make campaign` takes them all."""
    chosen = range(len(cases)) if CAMPAIGN else sorted(random.Random(7).sample(range(len(cases)), count))
    return [cases[place] for place in chosen]


def copies(folder: Path, names: tuple[str, ...] | None = CHEAP) -> Path:
    """Make the folder with copies of documents of our corpus, of all of them without names."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(CORPUS.iterdir()) if names is None else [CORPUS / name for name in names]:
        shutil.copyfile(path, folder / path.name)
    return folder


def settings_file(folder: Path, **work: float) -> Path:
    """Write settings of the group `work`, which never change what comes out."""
    path = folder / ("-".join(["work", *(f"{name}-{value}" for name, value in work.items())]) + ".toml")
    path.write_text("[work]\n" + "".join(f"{name} = {value}\n" for name, value in work.items()))
    return path


class Run:
    """The program in a process group of its own, as a terminal starts it; its words go to files next to the home."""

    def __init__(
        self, *arguments: object, home: Path, server: str | None = None, module: tuple[str, ...] = ("flows.cli.main",)
    ) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in {"PREFECT_API_URL", "PREFECT_HOME"}}
        environment |= {"FLOWREADER_HOME": str(home)} | ({"PREFECT_API_URL": server} if server else {})
        self.home, self.began = home, time.monotonic()
        self._out, self._err = (home.with_name(f"{home.name}.{time.monotonic_ns()}.{kind}") for kind in ("out", "err"))
        with self._out.open("wb") as out, self._err.open("wb") as err:
            command = [sys.executable, "-m", *module, *map(str, arguments)]
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, start_new_session=True
            )

    def wait(self, seconds: float = LIMIT_SECONDS) -> int:
        """Wait for the end; one that does not come ends the whole group, and the test."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"no end after {seconds:.0f} s: {self.words[-2000:]}") from None

    def ended(self, code: int) -> "Run":
        """Wait, and expect this exit code and no traceback."""
        found = self.wait()
        assert found == code, f"exit {found} instead of {code}: {self.words[-3000:]}"
        assert "Traceback" not in self.words, self.words[-3000:]
        return self

    def kill(self) -> None:
        """Send SIGKILL to the parent alone: what it started must notice."""
        self.process.kill()
        self.process.wait()

    def interrupt(self) -> None:
        """Send SIGINT to the group, as Ctrl-C in a terminal does."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGINT)

    @property
    def words(self) -> str:
        """All that it said."""
        return self._out.read_text("utf-8", "replace") + self._err.read_text("utf-8", "replace")

    @property
    def said(self) -> dict:
        """Its JSON."""
        return json.loads(self._out.read_text("utf-8"))

    @property
    def error(self) -> str:
        """Its error in JSON, as one line."""
        return " | ".join(self.said["error"].values())

    def survivors(self, seconds: float = PROMPT_SECONDS) -> list[str]:
        """Return what this run started and what still lives after so many seconds: a child ends when its modules are loaded."""
        deadline = time.monotonic() + seconds
        while (left := living(self.home, self.process.pid)) and time.monotonic() < deadline:
            time.sleep(0.1)
        return left


def ingest(*paths: object, home: Path, corpus: str = NAME, settings: Path | None = None, **more) -> Run:
    """Start an ingest."""
    chosen = ("--settings", settings) if settings else ()
    return Run("ingest", *paths, "--corpus", corpus, "--json", *chosen, home=home, **more)


def living(home: Path, pid: int) -> list[str]:
    """Return the processes, zombies apart, that work in this home or were started by this parent; the parent too."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            environment = (entry / "environ").read_bytes().split(b"\0")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        # parser processes get no environment of ours, but the number of their parent
        of_parent = any(word.startswith(b"tasks.") for word in words) and str(pid).encode() in words
        if state not in "ZX" and (f"FLOWREADER_HOME={home}".encode() in environment or of_parent):
            found.append(f"{entry.name} {b' '.join(words).decode(errors='replace')}")
    return found


def location(home: Path, corpus: str = NAME) -> CorpusLocation:
    """Return where a corpus of this home lies."""
    return CorpusLocation(name=corpus, folder=home / "corpora" / corpus)


def export(home: Path, corpus: str = NAME) -> bytes:
    """Return what `documents export` writes."""
    with open_for_reading(location(home, corpus)) as snapshot:
        ready = sorted(record.id for record in snapshot.documents() if record.state is DocumentState.READY)
        return b"[" + b",\n".join(export_document(snapshot, document) for document in ready) + b"]\n"


def findings(home: Path, corpus: str = NAME) -> list[Finding]:
    """Return what the doctor finds."""
    return examine(location(home, corpus))


def seeded_home(home: Path, words: Path) -> Path:
    """Make a home that remembers the words in pictures and nothing else: OCR is not what is tortured here."""
    home.mkdir(parents=True)
    if (words / "words").exists():
        shutil.copytree(words / "words", home / "words")
    return home


def check_oracle(home: Path, expected: bytes, corpus: str = NAME) -> None:
    """Expect the export of an uninterrupted run, and a store without a broken promise."""
    assert export(home, corpus) == expected
    assert findings(home, corpus) == []


def damage(path: Path, kind: str, random_: random.Random) -> None:
    """Truncate, empty, zero or flip a bit of a file."""
    data = bytearray(path.read_bytes())
    if kind == "truncated":
        data = data[: len(data) // 2]
    elif kind == "empty":
        data = bytearray()
    elif kind == "zeroed":
        data = bytearray(len(data))
    elif kind == "garbled":
        data = bytearray(random_.randbytes(max(64, len(data))))
    else:
        data[random_.randrange(len(data))] ^= 1 << random_.randrange(8)
    path.write_bytes(data)


def peak_megabytes(pid: int) -> float:
    """Return a living process's peak of resident memory, 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


@contextmanager
def prefect_server_in(home: Path) -> Iterator[str]:
    """Give the address of a Prefect server for many runs."""
    give_prefect_data(home)
    port, quiet = free_port(), subprocess.DEVNULL
    environment = {**QUIET, **os.environ, "FLOWREADER_HOME": str(home), "PREFECT_HOME": str(home / "prefect")}
    command = [sys.executable, "-m", "flows.prefect_runs.server", str(port), str(os.getpid())]
    address = f"http://127.0.0.1:{port}/api"
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as process:
        try:
            wait_until(lambda: answers(address, seconds=5.0), 90, lambda: "the shared Prefect server does not come up")
            yield address
        finally:
            process.kill()
