"""Commands by name: what a command needs is loaded when it runs, not before; a question to a server needs next to nothing."""

from __future__ import annotations

import argparse
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from flows.showing import Output

Command = Callable[[argparse.Namespace, Output], int]
"""Does what was said on the command line and returns the exit code."""


@dataclass(frozen=True, slots=True)
class Later:
    """A command that is looked up when it is to run: `Later("flows.commands:status")`."""

    name: str

    def load(self) -> Command:
        """Load what the command needs and return it."""
        return cast(Command, pkgutil.resolve_name(self.name))
