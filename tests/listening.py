"""Where processes listen, as the kernel tells it, and where one may."""

import ipaddress
import random
import re
import socket
import struct
from contextlib import suppress
from pathlib import Path

LISTENS = "0A"
LISTENABLE = range(10_000, 32_768)
"""Below the ports that the kernel gives, by default, to whoever names none: what is free stays free until it is listened on."""


def free_port() -> int:
    while True:
        port = random.SystemRandom().choice(LISTENABLE)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def listening_addresses(pids):
    """Return the address and the port of every TCP socket on which one of the processes listens."""
    sockets = {name for pid in pids for name in _sockets_of(pid)}
    return {where for table in ("tcp", "tcp6") for where, inode in _listeners(Path("/proc/net") / table) if inode in sockets}


def _sockets_of(pid):
    # What is closed, or has ended, meanwhile listens no more.
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                if target := re.fullmatch(r"socket:\[(\d+)\]", str(entry.readlink())):
                    yield target[1]


def _listeners(table):
    for line in table.read_text().splitlines()[1:]:
        _, local, _, state, _, _, _, _, _, inode, *_ = line.split()
        if state == LISTENS:
            address, _, port = local.partition(":")
            words = [int(address[start : start + 8], 16) for start in range(0, len(address), 8)]
            yield (str(ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))), int(port, 16)), inode
