"""The papers' document, read in once for all workers; each has a copy of the home to ask in."""

import shutil
from pathlib import Path

import pytest

from tests import scripted_reader
from tests.flows.duties import made, worlds
from tests.kept_worlds import kept_world


@pytest.fixture(scope="session")
def papers(tmp_path_factory):
    kept = kept_world("papers", made.make_papers, Path(made.__file__), Path(scripted_reader.__file__))
    return worlds.Papers(kept, shutil.copytree(kept / "home", tmp_path_factory.mktemp("papers") / "home"))
