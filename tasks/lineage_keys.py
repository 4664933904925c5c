"""How a page of lineage is found in Prefect's UI: by the key of what it explains, and by a link there."""

from __future__ import annotations


def lineage_key(key: str) -> str:
    """Return the key of the page that tells how what another page shows came to be."""
    return f"{key}-lineage"


def lineage_link(key: str) -> str:
    """Return a link to that page as the UI has it, for Markdown."""
    return f"[How it came to be](/artifacts/key/{lineage_key(key)})"
