"""Where something listens, as people write it: HOST:PORT, with brackets around an address of IPv6."""

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit


def host_and_port(written: str) -> tuple[str, int] | None:
    """Read "HOST:PORT", "[HOST]:PORT" or "PORT" (its host is ""); return None for anything else."""
    text = written.strip()
    parts = _parts(f":{text}" if text.isdecimal() else text)
    return (parts.hostname or "", parts.port) if parts and parts.port else None


def host_of(written: str) -> str:
    """Return the host of "HOST" or "[HOST]", with or without a port; "" for anything else."""
    parts = _parts(written)
    return parts.hostname or "" if parts else ""


def _parts(written: str) -> SplitResult | None:
    try:
        parts = urlsplit(f"//{written}")
        alone = parts.netloc == written and parts.username is None and (parts.port is None or parts.port > 0)
        alone = alone and ("[" not in written or bool(re.fullmatch(r"\[[^\[\]]+\](:\d*)?", written)))
    except ValueError:
        return None
    return parts if alone else None


def address_of(host: str, port: int) -> str:
    """Return host and port as they stand in an address of the web."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_this_machine(host: str) -> bool:
    """Say whether only this machine reaches what listens on the host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.removesuffix(".") == "localhost"
