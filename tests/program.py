"""The program as people run it, and the documents to run it on."""

import gc
import io
import json
import os
import pty
import re
import subprocess
import sys
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import pytest

from flows.cli.main import main
from tests.kept_worlds import give_prefect_data
from tests.session_server import session_server

CORPUS = Path(__file__).parent / "corpus"
CHEAP = ("maintenance_manual.docx", "budget.xlsx", "strategy.pptx", "product_page.html")
"""Documents that take no OCR of whole pages: the whole ingest of them takes seconds."""
WITH_SERVER = ("ingest", "evaluate")
"""Commands that are runs of Prefect."""


@contextmanager
def terminal(monkeypatch, columns):
    """Make standard output a terminal so many columns wide; the list that is given holds the lines shown, after the block."""
    ours, theirs = pty.openpty()
    for name, value in (("COLUMNS", str(columns)), ("TERM", "xterm"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    shown, written = [], b""
    with os.fdopen(theirs, "w") as screen, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", screen)
        yield shown
    with os.fdopen(ours, "rb", buffering=0) as window, suppress(OSError):
        # Of a terminal that was closed, Linux gives what was written and then an error.
        while part := window.read(4096):
            written += part
    shown += re.sub(r"\x1b\[[0-9;]*m", "", written.decode()).splitlines()


@contextmanager
def environment_kept():
    """Undo at the end of the block what was done to the environment."""
    found = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - found.keys():
            del os.environ[name]
        os.environ.update(found)


@contextmanager
def quiet_ends(collecting):
    """Let go of what a process drops at its end without a word: connections of Prefect's clients."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        if collecting:
            gc.collect()


def flowreader(*arguments, home, check=None, input=""):
    """Run the command line in this process, with the session's Prefect server for the commands that need one."""
    out, err, words = (io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (b"", b"", input.encode()))
    with_server = arguments[0] in WITH_SERVER
    with (
        environment_kept(),
        quiet_ends(with_server),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.MonkeyPatch.context() as patched,
    ):
        patched.setattr("sys.stdin", words)
        patched.setattr("sys.argv", ["flowreader", *map(str, arguments)])
        os.environ["FLOWREADER_HOME"] = str(home)
        if with_server:
            os.environ |= {"PREFECT_HOME": str(home / "prefect"), "PREFECT_API_URL": session_server()}
        try:
            code = main([*map(str, arguments)])
        except SystemExit as end:
            code = end.code
    for written in (out, err):
        written.flush()
    done = subprocess.CompletedProcess(arguments, code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())
    return checked(done, check)


def process(*arguments, home, check=None, **more):
    """Run the command line in a process of its own, where the process itself is what is tested."""
    if arguments[0] in WITH_SERVER:
        give_prefect_data(home)
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli.main", *map(str, arguments)],
        env={**os.environ, "FLOWREADER_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
        **more,
    )
    return checked(done, check)


@contextmanager
def started(command, **more):
    """Start a process that the block sees to its end; where the block fails, it is killed: `Popen` would wait for it for ever."""
    with subprocess.Popen(command, **more) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def checked(done, code):
    """Return what was done, once it ended with this code."""
    assert code is None or done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def said(*arguments, home, check=0):
    """Run the command line and return its JSON."""
    return json.loads(flowreader(*arguments, "--json", home=home, check=check).stdout)
