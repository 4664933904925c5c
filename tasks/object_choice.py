"""Which of the objects that a store lists may be documents."""

from __future__ import annotations

from storage.object_address import StoreAddress
from tasks.object_source import ListedObject


def is_mark(found: ListedObject) -> bool:
    """Say whether an object only marks a folder, as consoles make them."""
    return found.key.endswith("/") and not found.size_bytes


def reason_against(found: ListedObject, address: StoreAddress, *, most_bytes: int) -> str:
    """Return why an object below the address is not to be fetched, "" where it may be a document."""
    parts = found.key.split("/")
    if any(part.startswith(".") and part.strip(".") for part in parts if not part.startswith("..")):
        return "hidden; name it to have it read" if found.key != address.key else ""
    if not parts[-1]:
        return "its key ends in '/': the mark of a folder, not a document"
    if found.size_bytes > most_bytes:
        return f"larger than {most_bytes >> 20} MB (limits.file_megabytes)"
    return ""
