"""The command `mcp`: FlowReader for one program that speaks the Model Context Protocol, on standard input and output.

While it serves, the SDK keeps standard output for the protocol: whatever else is written there goes to standard error.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from flows.ask import ask, read_locally
from flows.cli.loading import end_by_ctrl_c
from flows.display.output import Output
from flows.service.ingests import run_ingest_command
from flows.service.mcp_tools import Tools
from storage.locations import corpus_location
from storage.runs.answer_json import answer_json
from tasks.asking.request import AskRequest
from tasks.models.process import interrupt_models
from tasks.progress import request_stop


def mcp(arguments: argparse.Namespace, _output: Output) -> int:
    corpus = corpus_location(arguments.corpus).name if arguments.corpus else ""
    # As an exception it would wait for the next line of the program.
    with end_by_ctrl_c("stopped"):
        asyncio.run(_serve(Tools(answer_here, corpus=corpus, ingesting=run_ingest_command if arguments.allow_writes else None)))
    return 0


async def _serve(tools: Tools) -> None:
    """Serve until the program closes our input; then nobody waits for what is at work."""
    try:
        await tools.run_stdio_async()
    finally:
        request_stop()
        interrupt_models()


async def answer_here(request: AskRequest) -> Sequence[Mapping[str, Any]]:
    """Answer in this process; the local model reads where the environment names one, as in the query service."""
    async with aclosing(ask(read_locally(request))) as answers:
        return [answer_json(answer) async for answer in answers]
