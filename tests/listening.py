"""Where processes listen, as the kernel tells it."""

import ipaddress
import re
import struct
from pathlib import Path

LISTENS = "0A"


def listening_addresses(pids):
    """Return the address and the port of every TCP socket on which one of the processes listens."""
    sockets = {name for pid in pids for name in _sockets_of(pid)}
    return {where for table in ("tcp", "tcp6") for where, inode in _listeners(Path("/proc/net") / table) if inode in sockets}


def _sockets_of(pid):
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = re.fullmatch(r"socket:\[(\d+)\]", str(entry.readlink()))
        except FileNotFoundError:
            continue
        if target:
            yield target[1]


def _listeners(table):
    for line in table.read_text().splitlines()[1:]:
        _, local, _, state, _, _, _, _, _, inode, *_ = line.split()
        if state == LISTENS:
            address, _, port = local.partition(":")
            words = [int(address[start : start + 8], 16) for start in range(0, len(address), 8)]
            yield (str(ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))), int(port, 16)), inode
