"""Where something listens, as people write it: HOST:PORT, with brackets about an address of IPv6."""

import re
from ipaddress import ip_address

WRITTEN = re.compile(r"(?:\[([0-9A-Fa-f:.%\w]+)\]:|([^\[\]:]*):)?([0-9]{1,5})", re.ASCII)
NAMED = re.compile(r"(?:\[([^\[\]]+)\]|([^\[\]:]+))(?::[0-9]+)?", re.ASCII)
HIGHEST_PORT = 65_535


def host_and_port(written: str) -> tuple[str, int] | None:
    """Return what "HOST:PORT", "[HOST]:PORT" or "PORT" names, the host "" where none is; None for what is none of these."""
    match = WRITTEN.fullmatch(written.strip())
    if match is None or not 0 < int(match[3]) <= HIGHEST_PORT:
        return None
    return match[1] or match[2] or "", int(match[3])


def host_of(written: str) -> str:
    """Return the host that "HOST", "[HOST]" or either with a port names, "" for what is none of these."""
    match = NAMED.fullmatch(written)
    return "" if match is None else match[1] or match[2]


def address_of(host: str, port: int) -> str:
    """Return host and port as they stand in an address of the web."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_this_machine(host: str) -> bool:
    """Say whether only this machine reaches what listens there."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
