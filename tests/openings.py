"""How often this process opens the files of a corpus: Python by an audit hook, which sees nothing of what DuckDB opens itself."""

import os
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

_counting: list[Counter[str]] = []


def _count(event, arguments):
    # a hook stays until the process ends: it is quick where nobody counts
    if _counting and event == "open" and isinstance(arguments[0], str | os.PathLike):
        _counting[-1][Path(arguments[0]).name] += 1


sys.addaudithook(_count)


@contextmanager
def openings():
    """Count by name the files that the block opens, and as `DuckDB NAME` those that DuckDB does."""
    import duckdb  # here: what the hook's module holds is never let go, and DuckDB complains of it

    opened, connect = Counter(), duckdb.connect

    def connected(path=":memory:", *arguments, **named):
        opened[f"DuckDB {Path(path).name}"] += 1
        return connect(path, *arguments, **named)

    _counting.append(opened)
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(duckdb, "connect", connected)
            yield opened
    finally:
        _counting.pop()
