"""The papers' document, read in once for all workers; each has a copy of the home to ask in."""

import shutil
from pathlib import Path

import pytest

from tests import scripted_reader
from tests.kept_worlds import kept_world


@pytest.fixture(scope="session")
def papers(tmp_path_factory):
    # Not above: this file may be loaded before Prefect knows its address, which it keeps as it first finds it.
    from tests.flows.duties import made, worlds

    kept = kept_world("papers", made.make_papers, Path(made.__file__), Path(scripted_reader.__file__))
    return worlds.Papers(kept, shutil.copytree(kept / "home", tmp_path_factory.mktemp("papers") / "home"))
