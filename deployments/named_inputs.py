"""What the environment names for the deployments to read and to measure: folders, addresses, a dataset."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from storage.object_address import check_source, is_address

SOURCES = re.compile("s3://[^:@/]*:[^:@]*@[^:]*|s3://[^:]*|[^:]+")
"""The colon joins, as in PATH; that of `s3://` is part of an address, and so is that of a password, which is refused there."""

INGEST_PATHS, EVALUATE_DATASET = "FLOWREADER_INGEST_PATHS", "FLOWREADER_EVALUATE_DATASET"


def named_input(name: str) -> Mapping[str, Any]:
    """Return what the environment names for a deployment: folders and addresses to read, or a dataset; paths are made absolute."""
    paths = [_whole(source) for source in SOURCES.findall(os.environ.get(INGEST_PATHS, ""))]
    dataset = os.environ.get(EVALUATE_DATASET, "")
    if name == "ingest" and paths:
        return {"paths": paths}
    if name == "evaluate" and dataset:
        return {"dataset": _whole(dataset)}
    return {}


def _whole(source: str) -> str:
    return check_source(source) if is_address(source) else str(Path(source).expanduser().absolute())
