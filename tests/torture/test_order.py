"""What is published depends on the set of documents alone: not on order, number at once, or how they are cut into batches."""

import random
import shutil

import pytest

from tests.torture.lab import check_oracle, ingest, sampled, seeded_home, settings_file

pytestmark = pytest.mark.torture


@pytest.fixture
def home(tmp_path, whole):
    """A home that remembers the finished steps of every document, and has no corpus."""
    home = seeded_home(tmp_path / "home", whole.home)
    for part in ("steps", "artifacts"):
        shutil.copytree(whole.home / part, home / part)
    return home


@pytest.mark.parametrize("seed", sampled((1, 2), 1))
def test_one_by_one_in_any_order_gives_the_same(home, whole, server, seed):
    documents = sorted(whole.documents.iterdir())
    random.Random(seed).shuffle(documents)
    for document in documents:
        ingest(document, home=home, server=server).ended(0)
    check_oracle(home, whole.export)


def test_removed_and_read_again_gives_the_same(home, whole, server):
    ingest(whole.documents, home=home, server=server).ended(0)
    from tests.torture.lab import NAME, Run

    for name in ("paper.pdf", "budget.xlsx"):
        Run("documents", "remove", name, "--corpus", NAME, "--now", "--json", home=home).ended(0)
    ingest(whole.documents, home=home, server=server).ended(0)
    check_oracle(home, whole.export)


@pytest.mark.parametrize(
    "work", sampled(({"documents_at_once": 1}, {"documents_at_once": 4, "publish_documents": 1, "parsers_at_once": 1}), 1)
)
def test_any_number_at_once_gives_the_same(tmp_path, whole, server, work):
    home = seeded_home(tmp_path / "home", whole.home)
    ingest(whole.documents, home=home, server=server, settings=settings_file(tmp_path, **work)).ended(0)
    check_oracle(home, whole.export)
