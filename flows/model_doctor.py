"""What `doctor --models` shows: each server, a line for each thing that was looked at, and what to do where it is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from flows.showing import Output
from flows.tables import counting
from tasks.models.checkup import Checkup


def checkups_json(checkups: Sequence[Checkup]) -> dict[str, Any]:
    """Return what `doctor --models --json` says; `findings` are as those of `doctor --json`."""
    findings = [
        {"check": f"{checkup.server}: {check.check}", "what": check.found, "remedy": check.remedy}
        for checkup in checkups
        for check in checkup.wrong
    ]
    return {"servers": [asdict(checkup) for checkup in checkups], "findings": findings}


def show_checkups(checkups: Sequence[Checkup], output: Output) -> None:
    """Show every line, what is wrong in red and with its remedy."""
    for checkup in checkups:
        output.line(f"{checkup.server} {checkup.address}", style="bold")
        for check in checkup.checks:
            output.line(f"  {check.check}: {check.found}", style="red" if check.remedy else "")
            if check.remedy:
                output.line(f"    {check.remedy}")
    wrong = sum(len(checkup.wrong) for checkup in checkups)
    output.line(f"models: {counting(wrong, 'findings')}" if wrong else "models: all is well")
