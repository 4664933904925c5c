"""Pages and sections that a model sums up: what it costs, and what stays where it gives no reply."""

import json

import pytest

from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.memo import home_memo
from storage.records.documents import DocumentState
from tasks.finding.plan import UNFINISHED
from tests.chat_server import Misbehaviour
from tests.flows.ingest_by_model.worlds import MANUAL, MAPPED, SETTINGS, command, documents, kept, read
from tests.program import flowreader
from tests.scripted_reader import pieces_of


@pytest.fixture
def mapped(folder):
    """The folder, to be described by rules and mapped by the model."""
    (folder.parent / "model.toml").write_text(f"[reading.analysis]\n{MAPPED}")
    return folder


def test_pages_and_sections_get_the_models_summaries_and_cost_nothing_a_second_time(mapped, server, home):
    command(mapped, "--json", home=home, check=0)
    with open_for_reading(corpus_location("default")) as snapshot:
        (record,) = snapshot.documents()
        pages, sections = snapshot.page_summaries([record.id]), snapshot.sections_of([record.id])
        nodes = snapshot.nodes(record.id)
    assert record.state is DocumentState.READY and not record.notes and record.attempt == ""
    assert all(summary.startswith("It holds ") for summary in [*pages.values(), *(one.summary for one in sections)])
    assert len(sections) > 3 and not any(node.summary.startswith("It tells") for node in nodes), "rules described the nodes"
    assert server.calls == sum(kept().values()) == -(-len(pages) // 8) + calls_for(sections)
    told = json.loads(command(mapped, "--estimate", "--json", home=home.with_name("empty"), check=0).stdout)
    assert told["calls"] == server.calls and told["output_tokens"] == 80 * (len(pages) + len(sections))
    exported, asked = documents(home), server.calls
    home_memo(home).forget(record.id)
    assert json.loads(command(mapped, "--estimate", "--json", home=home, check=0).stdout)["calls"] == 0
    (outcome,) = read(mapped)
    assert outcome.graph.sections == tuple(sections) and server.calls == asked and documents(home) == exported
    flowreader("documents", "remove", MANUAL, home=home, check=0)
    with open_for_reading(corpus_location("default")) as snapshot:
        assert snapshot.sections_of([record.id]) == [] and snapshot.page_summaries([record.id]) == {} and kept() == {}


def calls_for(sections):
    """Return the calls that sections take, eight in a call, those under others first."""
    heights = {}
    for section in reversed(sections):
        heights[section.id] = 1 + max((heights[one.id] for one in sections if one.parent_id == section.id), default=0)
    return sum(-(-list(heights.values()).count(height) // 8) for height in set(heights.values()))


@pytest.mark.torture
def test_what_the_model_does_not_sum_up_is_told_and_asked_again_where_no_reply_came(mapped, server, home):
    for how, attempt in ((Misbehaviour.UNKNOWN_IDS, ""), (Misbehaviour.ERROR, UNFINISHED)):
        server.misbehave = lambda request, how=how: how if {"p1", "s1"} & pieces_of(request.prompt).keys() else None
        (outcome,) = read(mapped)
        assert outcome.record.state is DocumentState.READY and outcome.record.attempt == attempt
        for note in ("1 page summed up by rules", "1 section without a summary"):
            assert f"{note}, because the model gave no usable reply" in " ".join(outcome.record.notes)
        assert outcome.graph.pages[0].summary and not outcome.graph.pages[0].summary.startswith("It holds ")
        first, *others = outcome.graph.sections
        assert first.summary == "" and all(section.summary.startswith("It holds ") for section in others)
        home_memo(home).forget(outcome.record.id)


@pytest.mark.torture
def test_after_the_rounds_of_a_model_the_map_rests_on_what_they_wrote(folder, server):
    (folder.parent / "model.toml").write_text(SETTINGS.replace("[reading.evolution]", 'map = "model"\n[reading.evolution]'))
    (outcome,) = read(folder)
    (page,) = [request for request in server.requests if "p1" in pieces_of(request.prompt)]
    assert "Rewritten: " in pieces_of(page.prompt)["p1"][1] and outcome.graph.pages[0].summary.startswith("It holds ")
    assert any(node.summary.startswith("Rewritten: ") for node in outcome.graph.nodes)
