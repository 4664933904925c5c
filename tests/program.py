"""The program as people run it, and the documents to run it on."""

import os
import subprocess
import sys
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
CHEAP = ("maintenance_manual.docx", "budget.xlsx", "strategy.pptx", "product_page.html")
"""Documents that take no OCR of whole pages: the whole ingest of them takes seconds."""


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
