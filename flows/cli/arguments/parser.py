"""What the commands' arguments have in common: a parser whose errors are for people and programs, and how a command is added."""

import argparse
import sys
from pathlib import Path
from typing import Any

from flows.display.output import Output
from storage.errors import RequestError
from tasks.settings.readers import PRESETS, PRESETS_HELP

USAGE_EXIT = 2
BY = ("auto", "rules", "model")
BY_HELP = "what reads, for once: rules, which quote; the chat model; or auto: the model where there is one (default: as set)"


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have what, value and remedy, as JSON with --json."""

    def error(self, message: str) -> Any:  # noqa: ANN401 - argparse says NoReturn, SystemExit does it
        Output(as_json="--json" in sys.argv).error(RequestError(message, " ".join(sys.argv[1:]), f"see `{self.prog} --help`"))
        raise SystemExit(USAGE_EXIT)


def command(verbs: Any, name: str, run: str, text: str, *parents: Parser, description: str = "") -> Parser:  # noqa: ANN401
    """Add a command that a function of `flows` runs; argparse keeps the type of `verbs` private."""
    command: Parser = verbs.add_parser(name, parents=parents, help=text, description=description or text)
    command.set_defaults(run=f"flows.{run}", json=False)
    return command


def actions_of(verbs: Any, name: str, text: str, metavar: str = "ACTION", description: str = "") -> Any:  # noqa: ANN401
    """Add a command with several actions, and return their subparsers."""
    command = verbs.add_parser(name, help=text, description=description or text)
    return command.add_subparsers(dest="action", required=True, metavar=metavar, parser_class=Parser)


def add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", choices=PRESETS, default="default", help=f"{PRESETS_HELP} (default: %(default)s)")
    parser.add_argument("--settings", type=Path, metavar="FILE.toml", help="settings that differ from the defaults")
