"""A corpus on a disk that hangs: its CURRENT is a named pipe, and reading it waits for a write."""

import asyncio
import os

from storage.locations import corpus_location


class HungCorpus:
    """`asked` waits until CURRENT is read; `end` lets the readers find a damaged one."""

    def __init__(self, name):
        self.pipe = corpus_location(name).current
        self.pipe.parent.mkdir(parents=True)
        os.mkfifo(self.pipe)
        self.opened = []

    async def asked(self):
        self.opened.append(await asyncio.to_thread(os.open, self.pipe, os.O_WRONLY))

    def end(self):
        self.pipe.unlink()
        for descriptor in self.opened:
            os.close(descriptor)
