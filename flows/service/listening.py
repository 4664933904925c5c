"""The query service's environment: FLOWREADER_ASK_ADDRESS, _TOKEN, _QUEUE and _SETTINGS."""

import os
import socket

from storage.errors import RequestError
from tasks.address import address_of, host_and_port, is_this_machine

USUAL_ADDRESS = "127.0.0.1:4280"
USUAL_ROOM, MOST_ROOM = 64, 512
"""Questions inside, waiting ones included. With 64 the last waits some seconds; a longer wait is worse than a refusal. Each may
hold a thread while its corpus is fetched, which bounds the number."""


def address() -> tuple[str, int]:
    """Return the query service's host and port; raise RequestError for a value that is no HOST:PORT."""
    named = os.environ.get("FLOWREADER_ASK_ADDRESS", USUAL_ADDRESS)
    meant = host_and_port(named)
    if meant is None or not meant[0]:
        remedy = f"set it to an address such as {USUAL_ADDRESS} or [::1]:4280"
        raise RequestError(f"FLOWREADER_ASK_ADDRESS {named!r} is no HOST:PORT", named, remedy)
    return meant


def check_question_settings() -> None:
    """Raise RequestError where the query service could not begin now."""
    # `ask --server` loads no settings.
    from tasks.settings.ask import load_settings
    from tasks.settings.environment import settings_file

    required_token(address()[0])
    room()
    load_settings(settings_file())
    listen(*address()).close()


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise RequestError where the address is taken or not of this machine."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=256)
    except (OSError, OverflowError) as error:
        raise RequestError(
            f"the query service cannot listen on {address_of(host, port)!r} ({error})",
            address_of(host, port),
            "set FLOWREADER_ASK_ADDRESS to another HOST:PORT",
        ) from error


def required_token(host: str) -> str:
    """Return the token that questions must bring, "" for none; raise RequestError where one is needed."""
    token = os.environ.get("FLOWREADER_ASK_TOKEN", "")
    if not token and not is_this_machine(host):
        raise RequestError(
            f"the query service is to listen on {host!r}, where others may ask",
            host,
            "set FLOWREADER_ASK_TOKEN to a secret, or FLOWREADER_ASK_ADDRESS to 127.0.0.1:4280",
        )
    return token


def room() -> int:
    """Return how many questions may be inside at once; raise RequestError for a value that is not 1 to MOST_ROOM."""
    named = os.environ.get("FLOWREADER_ASK_QUEUE", str(USUAL_ROOM))
    if not named.isdecimal() or not 1 <= int(named) <= MOST_ROOM:
        raise RequestError(f"FLOWREADER_ASK_QUEUE is {named!r}", named, f"set it to a number of questions, 1 to {MOST_ROOM}")
    return int(named)
