"""What stands in the object that is a corpus's lease: who holds it, and for how long without a sign of life."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from storage.lock import Holder

NAME = "lease"


@dataclass(frozen=True, slots=True)
class Terms:
    """What stands in the object. `beat` counts renewals, so that each is another object; `free` says that the holder let go."""

    holder: Holder
    good_seconds: float
    beat: int = 0
    free: bool = False

    def written(self) -> bytes:
        """Return the terms as the object's bytes."""
        return json.dumps(asdict(self)).encode()


def read_terms(data: bytes) -> Terms | None:
    """Return what an object says, None where it is no lease."""
    try:
        said = json.loads(data)
        return Terms(Holder(**said["holder"]), float(said["good_seconds"]), int(said["beat"]), bool(said["free"]))
    except (ValueError, TypeError, KeyError):
        return None
