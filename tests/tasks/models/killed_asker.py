"""Asks a server 200 questions, eight at once, until it is killed: `python -m tests.tasks.models.killed_asker URL FOLDER`."""

import sys
from pathlib import Path

from storage.runs.replies import CallCache
from tasks.models.chat.model import open_chat
from tasks.models.endpoints import Endpoint
from tests.tasks.models.chat_worlds import calls, settings

CALLS, IN_FLIGHT = 200, 8

if __name__ == "__main__":
    url, folder = sys.argv[1:]
    limited = settings(limits={"in_flight": IN_FLIGHT})
    with open_chat(Endpoint(url), limited, cache=CallCache(Path(folder))) as model:
        model.ask_all(calls(CALLS))
