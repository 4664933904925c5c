"""The program as people run it, and the documents to run it on."""

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
CHEAP = ("maintenance_manual.docx", "budget.xlsx", "strategy.pptx", "product_page.html")
"""Documents that take no OCR of whole pages: the whole ingest of them takes seconds."""


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


def flowreader(*arguments, home, check=None, **more):
    """Run the command line in a process of its own, as people do."""
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", *map(str, arguments)],
        env={**os.environ, "FLOWREADER_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
        **more,
    )
    assert check is None or done.returncode == check, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def said(*arguments, home, check=0):
    """Run the command line and return its JSON."""
    return json.loads(flowreader(*arguments, "--json", home=home, check=check).stdout)
