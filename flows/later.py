"""Commands by name: what a command needs is loaded when it runs, not before; a question to a server needs next to nothing."""

from __future__ import annotations

import argparse
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from flows.showing import Output


@dataclass(frozen=True, slots=True)
class Later:
    """A command that is looked up when it is called: `Later("flows.commands:status")`."""

    name: str

    def __call__(self, arguments: argparse.Namespace, output: Output) -> int:
        """Do the command and return its exit code."""
        command = cast(Callable[[argparse.Namespace, Output], int], pkgutil.resolve_name(self.name))
        return command(arguments, output)
