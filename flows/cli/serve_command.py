"""The command `serve`: the query service without the rest of `make up`, until Ctrl-C."""

import argparse
import os
import signal
from typing import NoReturn

from flows.cli.loading import end_by_ctrl_c
from flows.display.output import Output
from flows.prefect_runs.server import prefect_server
from flows.service.listening import check_question_settings


def serve(arguments: argparse.Namespace, output: Output) -> NoReturn:
    if arguments.address:
        os.environ["FLOWREADER_ASK_ADDRESS"] = arguments.address
    # First: report a taken address at once.
    check_question_settings()

    def ready(address: str) -> None:
        output.line(f"open {address}/ to ask; Ctrl-C ends it")
        output.console.file.flush()

    with end_by_ctrl_c("stopped"), prefect_server() as wait_until_ready:
        # Prefect learns where its server is when it is imported.
        from prefect.deployments.runner import RunnerDeployment
        from prefect.types.entrypoint import EntrypointType

        from flows.ask_deployed import ask_deployed
        from flows.service.resident import answer_until_ended, exit_now

        declared = RunnerDeployment.from_flow(ask_deployed, name="ask", entrypoint_type=EntrypointType.MODULE_PATH)
        wait_until_ready()
        answer_until_ended(declared, ready, ending=signal.SIGINT)
    exit_now()
