"""System 2 edits the terrain once, for the reason that the gate gave, within bounds, and says what it edited."""

import numpy as np
import pytest

from tasks.algorithms.refinement import Trigger
from tasks.path_reader import PathReading, Quote
from tests.asking_worlds import Passage, at_desk, published, run_of, written
from tests.tasks.refining_worlds import ISLANDS, scene


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    with at_desk(published(tmp_path_factory.mktemp("world"), ISLANDS)) as desk:
        yield desk


@pytest.mark.parametrize("formulation", ["paper", "prizes"])
@pytest.mark.parametrize("trigger", list(Trigger))
def test_an_edit_keeps_the_terrain_whole_and_names_nodes_of_the_snapshot(desk, formulation, trigger):
    before = scene(desk, formulation=formulation)
    after = before.refined(trigger).terrain
    nodes, arcs = len(before.graph), len(before.terrain.tails)
    assert len(after.tails) == len(after.heads) == len(after.similarities) >= arcs
    assert np.array_equal(after.tails[:arcs], before.terrain.tails) and after.heads.max(initial=0) < nodes
    assert ((after.similarities >= 0) & (after.similarities <= 1)).all() and len(after.scores) == nodes
    assert np.array_equal(after.sources[: len(before.terrain.sources)], before.terrain.sources)
    known = {*before.graph.ids, ""}
    edits = before.refined(trigger).edits
    assert edits and all({edit.source, edit.target} <= known and edit.before != edit.after for edit in edits)


def test_nodes_that_readers_quoted_are_lifted_and_none_beyond_one(desk):
    before = scene(desk, cited_boost=0.9)
    node = before.desk.snapshot.nodes_by_id([before.graph.ids[before.place(5)]])[0]
    quote = Quote(**{**dict.fromkeys(Quote.__dataclass_fields__), "node": node})
    after = before.refined(Trigger.LOW_CONSISTENCY, (PathReading("a harbour", (quote,)),)).terrain
    changed = np.flatnonzero(after.scores != before.terrain.scores).tolist()
    assert changed == [before.place(5)] and after.scores.max() <= 1.0
    assert after.scores[before.place(5)] == pytest.approx(min(1.0, before.terrain.scores[before.place(5)] + 0.9))


def test_without_a_quote_no_score_moves(desk):
    before = scene(desk)
    for trigger in Trigger:
        assert np.array_equal(before.refined(trigger).terrain.scores, before.terrain.scores)


@pytest.mark.parametrize("trigger", list(Trigger))
def test_where_there_is_nothing_to_edit_nothing_is(tmp_path, trigger):
    with at_desk(published(tmp_path, written("note", Passage("a cable")))) as desk:
        before = scene(desk, "which cable?")
        refined = before.refined(trigger)
        assert refined.edits == () and len(refined.terrain.tails) == 0 and len(refined.terrain.sources) == 1


def test_an_edit_leaves_its_record_and_repeats_to_the_last_bit(desk):
    before = scene(desk)
    one, two = before.refined(Trigger.LOW_SATURATION), before.refined(Trigger.LOW_SATURATION)
    assert one.edits == two.edits and np.array_equal(one.terrain.similarities, two.terrain.similarities)
    first, second = run_of(desk.snapshot.location).steps()[-2:]
    assert first.step == second.step == "refine" and first.outputs == second.outputs and set(first.outputs) == {"edits"}
