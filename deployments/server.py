"""A Prefect server with its UI on this machine alone: `python -m deployments.server`, on PREFECT_SERVER_API_PORT.

Ctrl-C in a terminal is for its parent: runs that end in order still report to their server. SIGTERM ends it.
"""

import os
import signal
import sys
from socket import socket

from deployments.children import say_ready
from flows.prefect_runs.server import let_writers_wait, prepare_environment

HOST = "127.0.0.1"
LAST_WORDS_SECONDS = 2
"""Open connections of a browser would keep the server for ever."""


def main() -> int:
    """Serve until SIGTERM; return 1 where the server did not come up."""
    prepare_environment()
    # Kept in memory, the slot of a deployment would be forgotten at a restart, and never be freed.
    os.environ.setdefault("PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE", "prefect.server.concurrency.lease_storage.filesystem")
    import uvicorn
    from prefect.server.api.server import create_app
    from prefect.settings import get_current_settings

    let_writers_wait()
    config = uvicorn.Config(
        create_app(final=True),
        host=HOST,
        port=get_current_settings().server.api.port,
        log_level="warning",
        timeout_graceful_shutdown=LAST_WORDS_SECONDS,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                say_ready("Prefect's UI", f"http://{HOST}:{config.port}")

    server = Server(config)

    # It would take Ctrl-C for itself.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # At its end uvicorn raises the signal again, which must not end this process before `run` returns.
    signal.signal(signal.SIGTERM, lambda _number, _frame: None)
    server.run()
    return 0 if server.started else 1


if __name__ == "__main__":
    sys.exit(main())
