"""Two homes exchange a corpus through an object server; a push is killed at each of its steps."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.program import flowreader, said
from tests.torture.lab import NAME, Run, check_oracle, export, ingest, sampled

pytestmark = pytest.mark.torture

QUESTION = "How often does the tide at Merrow Sound turn?"
TIDES = "<h1>Tides</h1><p>The tide at Merrow Sound turns eleven times a day.</p>"
OLD_STANDS = (
    "storage.corpus.transfer:snapshot_files:before:1",
    "storage.corpus.transfer:read_pushed:after:1",
    # the first three puts ask whether the store knows conditions; then comes the pointer
    "storage.object_client:ObjectPrefix.put:after:1",
    "storage.object_client:ObjectPrefix.require_conditions:after:1",
    "storage.corpus.transfer:describe_file:after:2",
    "storage.object_client:ObjectPrefix.sizes:after:1",
    "storage.object_client:ObjectPrefix.send:before:1",
    "storage.object_client:ObjectPrefix.send:after:1",
    "storage.object_client:ObjectPrefix.send:after:4",
    "storage.object_client:ObjectPrefix.put:before:4",
    "storage.corpus.transfer:move_pointer:before:1",
)
NEW_STANDS = (
    "storage.object_client:ObjectPrefix.put:after:4",
    "storage.corpus.transfer:clean_up:before:1",
    "storage.object_client:ObjectPrefix.sizes:after:2",
    "storage.object_client:ObjectPrefix.delete:before:1",
    "storage.corpus.transfer:clean_up:after:1",
)
POINTS = [*sampled(OLD_STANDS, 4), *sampled(NEW_STANDS, 2)]


@dataclass(frozen=True)
class State:
    """A home, what its corpus answers, and its export."""

    home: Path
    answer: dict
    export: bytes


def answered(home):
    """Return what `ask` says, without what is new each time."""
    answer = said("ask", QUESTION, "--corpus", NAME, home=home)
    for cited in answer["citations"]:
        del cited["link"]  # it names the answer
    return {name: answer[name] for name in ("answer", "status", "citations", "evidence_pages", "pages", "snapshot")}


def state_of(home):
    return State(home, answered(home), export(home))


def check_pulled(home, expected):
    """Expect the corpus in this home to answer as the original does, and to hold what it holds."""
    assert answered(home) == expected.answer
    check_oracle(home, expected.export)


@pytest.fixture(scope="module")
def states(cheap, server, tmp_path_factory):
    """The corpus before and after a page was read in that answers the question."""
    folder = tmp_path_factory.mktemp("states")
    old = state_of(shutil.copytree(cheap.home, folder / "old"))
    page = folder / "tides.html"
    page.write_text(TIDES)
    home = shutil.copytree(cheap.home, folder / "new")
    ingest(page, home=home, server=server).ended(0)
    new = state_of(home)
    assert "eleven times" in str(new.answer["citations"]) and "eleven" not in str(old.answer["citations"])
    return old, new


def transfer(action, what, *more, home):
    return said("corpora", action, what, *more, home=home)


@pytest.mark.sentinel
@pytest.mark.parametrize("point", POINTS)
def test_a_push_that_is_killed_leaves_a_snapshot_to_pull_and_goes_on(point, states, store, tmp_path, tell):
    old, new = states
    address = store.address(f"kept/{NAME}")
    assert transfer("push", NAME, address, home=old.home)["changed"]
    run = Run("corpora", "push", NAME, address, home=new.home, module=("tests.torture.dies_at", point))
    assert run.wait() == -9, f"it never came to {point}: {run.words[-2000:]}"
    assert run.survivors() == []
    transfer("pull", address, home=tmp_path / "pulled")
    check_pulled(tmp_path / "pulled", old if point in OLD_STANDS else new)
    assert transfer("push", NAME, address, home=new.home)["changed"] == (point in OLD_STANDS)
    transfer("pull", address, home=tmp_path / "pulled")
    check_pulled(tmp_path / "pulled", new)
    refused = flowreader("ingest", new.home.parent / "tides.html", "--corpus", NAME, "--json", home=tmp_path / "pulled", check=2)
    assert "read-only" in refused.stdout
    if point == POINTS[-1]:
        tell(f"N = {len(POINTS)} kills of a push; 95 % bound 3/N = {3 / len(POINTS):.3f}")
