"""What a model is sent of each node while the papers' document is read in: its own words, its own picture, its neighbours."""

from collections import defaultdict

import pytest

from storage.records.documents import Modality, NodeKind
from tests.flows.duties.worlds import PAGES, SCAN, forms_of, plain, words_of
from tests.scripted_reader import pieces_of

pytestmark = pytest.mark.torture
DESCRIBED, LOOKED_AT = ("flowreader", "g2"), ("lad", "dmap")
"""The presets whose papers have a model describe the nodes, and those whose papers have it look at the pages."""
CONTEXT = "Text before it: "
WORDS, NEAR, BRIEF = 6, 5, 200
"""What has fewer words says itself what it is; how far from a figure the text around it may stand; characters of a summary."""


@pytest.fixture(scope="module")
def descriptions(papers):
    """The calls that describe nodes, by ordinal: what each was headed by and shown, and its pictures."""
    sent = papers.sent_at_ingest("flowreader")
    found = {}
    for request in [*forms_of(sent, "Descriptions"), *forms_of(sent, "VisualDescriptions")]:
        ((name, (_heading, text)),) = pieces_of(request.prompt).items()
        assert int(name[1:]) not in found, "no node is described twice"
        found[int(name[1:])] = request.form, text, papers.pictures_of(request)
    return found


def test_each_passage_is_described_once_by_its_own_words_alone_and_a_scanned_one_beside_its_page(papers, descriptions):
    running = [
        node
        for node in papers.nodes
        if node.modality is Modality.TEXT and node.kind not in (NodeKind.TITLE, NodeKind.CAPTION) and not node.meaningless
    ]
    wanted = {node.ordinal for node in running if len(node.content.split()) >= WORDS}
    assert wanted and wanted == {ordinal for ordinal, (form, *_) in descriptions.items() if form == "Descriptions"}
    for ordinal in wanted:
        _form, text, pictures = descriptions[ordinal]
        node = papers.nodes[ordinal]
        assert plain(text) == plain(node.content) and pictures == [SCAN] * (f"page {node.page}" == SCAN)


def test_each_figure_and_table_is_described_by_its_own_crop_its_caption_and_the_text_around_it(papers, descriptions):
    visual = [node for node in papers.nodes if node.modality is not Modality.TEXT]
    assert {node.modality for node in visual} == {Modality.FIGURE, Modality.TABLE} and all(node.content for node in visual)
    assert {node.ordinal for node in visual} == {place for place, (form, *_) in descriptions.items() if form != "Descriptions"}
    for node in visual:
        _form, text, pictures = descriptions[node.ordinal]
        assert pictures == [f"n{node.ordinal}"], "neither the page nor another figure"
        assert f"Caption: {node.caption}" in text and plain(words_of(node)) in plain(text)
        around = papers.nodes_in(text) - {node.ordinal}
        assert all(abs(other - node.ordinal) <= NEAR for other in around), "and no text from afar"
    assert any(CONTEXT in descriptions[node.ordinal][1] for node in visual)


def judgements_of(papers, preset):
    """Return the calls that judge each node, by ordinal and in order of the rounds: candidates, what each shows, pictures."""
    found = defaultdict(list)
    for request in forms_of(papers.sent_at_ingest(preset), "NoteJudgements"):
        pieces = pieces_of(request.prompt)
        ((name, heading),) = [(name, heading) for name, (heading, _) in pieces.items() if "candidates: " in heading]
        candidates = heading.partition("candidates: ")[2].split()
        found[int(name[1:])].append((candidates, {name: text for name, (_, text) in pieces.items()}, papers.pictures_of(request)))
    return found


@pytest.mark.parametrize("preset", DESCRIBED)
def test_a_node_is_judged_by_its_content_and_its_own_picture_among_the_summaries_of_its_neighbours(papers, preset):
    judged = judgements_of(papers, preset)
    assert {node.ordinal for node in papers.nodes if node.modality is not Modality.TEXT} < judged.keys()
    for ordinal, rounds in judged.items():
        node = papers.nodes[ordinal]
        for candidates, texts, pictures in rounds:
            assert set(texts) == {f"n{ordinal}", *candidates} and f"n{ordinal}" not in candidates
            assert words_of(node)[:60] in plain(texts[f"n{ordinal}"])
            if node.modality is not Modality.TEXT:
                assert pictures == [f"n{ordinal}"], "none of a neighbour, however near"
            else:
                assert set(pictures) <= {f"page {node.page}"}
            for other in candidates:
                assert "Text: " not in texts[other] and "Keywords: " not in texts[other], "a neighbour is its summary"


@pytest.mark.parametrize("preset", DESCRIBED)
def test_the_neighbours_are_the_window_and_the_nearest_and_from_the_second_round_on_those_that_were_named(papers, preset):
    running = [node.ordinal for node in papers.nodes if node.modality is Modality.TEXT]
    mute = {node.ordinal for node in papers.nodes if node.meaningless}
    for ordinal, (first, *later) in judgements_of(papers, preset).items():
        candidates = {int(name[1:]) for name in first[0]}
        place = running.index(ordinal) if ordinal in running else None
        window = set() if place is None else {*running[max(0, place - 3) : place + 4]} - {ordinal} - mute
        assert window <= candidates and len(candidates - window) <= 5 and (window or len(candidates) == 5)
        named = {*first[0][::2]}
        assert all(named <= {*after} and len(after) <= len(named) + 5 for after, *_ in later[:1]), "every other one was named"


@pytest.mark.parametrize("preset", DESCRIBED)
def test_a_later_round_shows_what_the_round_before_made_of_each_note(papers, preset):
    rounds = judgements_of(papers, preset)
    again = [(ordinal, judged[1]) for ordinal, judged in rounds.items() if len(judged) > 1]
    assert again and all(len(judged) <= 3 for judged in rounds.values()), "there are three rounds"
    for _ordinal, (candidates, texts, _pictures) in again:
        assert all("Rewritten: " in texts[other] for other in candidates if int(other[1:]) in rounds)


def test_the_two_papers_ask_for_another_summary_of_the_same_notes(papers):
    """G2-Reader completes a summary from the neighbours; FlowReader's rests on the note alone."""
    instructions = {
        preset: {
            request.prompt.partition("Every line that starts")[0]
            for request in forms_of(papers.sent_at_ingest(preset), "NoteJudgements")
        }
        for preset in DESCRIBED
    }
    assert [len(each) for each in instructions.values()] == [1, 1] and instructions["g2"] != instructions["flowreader"]
    assert not forms_of(papers.sent_at_ingest("g2"), "Descriptions"), "what was described for the one is not asked again"


def test_each_page_is_read_in_turn_by_its_own_picture_with_what_is_remembered_of_those_before(papers):
    readings = forms_of(papers.sent_at_ingest("lad"), "PageReading")
    pages = []
    for request in readings:
        pieces = pieces_of(request.prompt)
        of_page = {name for name, (heading, _) in pieces.items() if name != "memory" and "remembered" not in heading}
        (page,) = {f"page {papers.nodes[int(name[1:])].page}" for name in of_page}
        assert papers.pictures_of(request) == [page], "and none of the page before"
        before = {int(name[1:]) for name in pieces.keys() - of_page - {"memory"}}
        assert all(f"page {papers.nodes[node].page}" in pages for node in before), "and nothing of a page to come"
        assert all(len(pieces[f"n{node}"][1]) < BRIEF for node in before), "by its summary"
        assert bool(before) == bool(pages)
        own = {int(name[1:]) for name in of_page}
        assert papers.nodes_in(request.text) <= {node for place in own for node in range(place - NEAR, place + NEAR + 1)}
        pages.append(page)
    assert pages == sorted(pages) and {*pages} == {*PAGES}
    assert papers.sent_at_ingest("dmap") == [], "DMAP's outline is made of the same looks, which are not paid twice"
