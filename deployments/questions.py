"""The query service as `make up` starts it: `PREFECT_API_URL=... python -m deployments.questions`. SIGTERM ends it in order."""

import signal
import sys
from functools import partial

from deployments.children import say_ready
from deployments.declared import read_deployment
from flows.prefect_runs.server import START_SECONDS, require_configured_server
from flows.service.resident import answer_until_ended, exit_now
from storage.errors import ExpectedError
from tasks.settings.environment import check_environment
from tasks.watching.json_log import LogFileError


def main() -> int:
    """Answer until SIGTERM, and end the process; return 1 where the service cannot begin."""
    try:
        check_environment()
        require_configured_server(START_SECONDS)
        answer_until_ended(read_deployment("ask"), partial(say_ready, "questions"), ending=signal.SIGTERM)
    except (ExpectedError, LogFileError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return exit_now()


if __name__ == "__main__":
    sys.exit(main())
