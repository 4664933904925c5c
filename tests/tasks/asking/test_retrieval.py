"""The candidates of a question and their scores: inside the scope, the same from whichever side, and never NaN."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from storage.corpus.snapshot import open_for_reading
from storage.graph import view
from storage.graph.candidates import EDGE_KINDS
from storage.graph.search import Scope
from storage.graph.store import GraphDamagedError, explain_damage
from storage.graph.tables import TableName
from storage.records.documents import EdgeKind, Modality, NodeKind
from tasks.asking.candidates import arc_cosines, find_candidates, page_ranking, score, score_by_relevance
from tasks.asking.question import context_of
from tasks.asking.request import QuestionError
from tasks.models.embedding.embedder import open_question_embedder
from tasks.reading.rules import ExtractiveReader
from tasks.settings.ask import AskSettings, method_of
from tests.asking_worlds import (
    COAST,
    TORQUE,
    WEIGHT,
    Passage,
    asked,
    at_context,
    at_place,
    at_work,
    candidates_of,
    ordinals_of,
    published,
    run_of,
    written,
)
from tests.library import NOTE, alone
from tests.storage import worlds
from tests.storage.worlds import document_id

REPORT = written(
    "report",
    Passage("the tide", arcs=((1, EdgeKind.NEXT, 0.5), (2, EdgeKind.SEMANTIC, 0.6))),
    Passage("the tide and the blade", page=2, arcs=((3, EdgeKind.REFERS_TO, 1.0),)),
    Passage("the tide in a harbour", page=2, kind=NodeKind.FIGURE, arcs=((0, EdgeKind.SEMANTIC, 0.6),)),
    Passage("blade: 7\nblade: 9", page=3, kind=NodeKind.TABLE),
)
LONELY = written("lonely", *[Passage(f"storm {word}", page=1 + place) for place, word in enumerate(("steel", "price", "crew"))])
WALK = written(
    "walk",
    Passage("the tide", arcs=((1, EdgeKind.SEMANTIC, 0.97), (2, EdgeKind.SEMANTIC, 0.7))),
    Passage("a storm", page=2),
    Passage("the crew", page=3),
)
ALONE = {"relevance": 0.0, "propagation": 0.0, "diffusion": 1.0, "seeds": 1}


WORLD = (REPORT, LONELY, NOTE)


@pytest.fixture(scope="module")
def small(library, tmp_path_factory):
    """A context in the corpus `small`; its run is written elsewhere."""
    run = worlds.corpus_in(tmp_path_factory.mktemp("run"))
    with open_for_reading(worlds.corpus_in(library, "small")) as snapshot, at_work(run, snapshot):
        settings, embedder = AskSettings(), open_question_embedder(snapshot.embedder)
        yield context_of(snapshot, Scope(), settings, embedder, ExtractiveReader(settings.reading))


def ranked(text, context):
    return dict(page_ranking(*candidates_of(text, context)[1:]))


@pytest.mark.parametrize(
    "scope",
    [
        Scope(documents=(document_id("report"),)),
        Scope(first_page=2, last_page=2),
        Scope(first_page=2),
        Scope(modality=Modality.TABLE),
        Scope(documents=(document_id("report"), document_id("note")), first_page=1, last_page=2, modality=Modality.TEXT),
    ],
)
@pytest.mark.parametrize("candidates", [{}, {"whole_limit": 1}, {"whole_limit": 1, "by_vector": 1, "by_text": 1, "hops": 0}])
def test_candidates_stay_inside_the_scope(context, scope, candidates):
    place = at_place(context, scope, candidates=candidates)
    graph = find_candidates(asked("the tide in the storm, blade by blade", place), place)
    first, last = scope.pages
    assert len(graph) and (graph.pages >= first).all() and (graph.pages <= last).all()
    assert not scope.documents or set(graph.document_ids) <= set(scope.documents)
    assert scope.modality is None or set(graph.modalities.tolist()) == {list(Modality).index(scope.modality)}


@pytest.mark.parametrize(
    ("scope", "says"),
    [
        (Scope(documents=(document_id("note"),), modality=Modality.FIGURE), "there is no 'figure' in the documents asked; ask"),
        (Scope(first_page=3, last_page=4, modality=Modality.FIGURE), "there is no 'figure' on the pages '3-4' of the corpus; ask"),
        (Scope(first_page=9, last_page=9), "there is no passage on the pages '9-9' of the corpus; ask"),
    ],
)
@pytest.mark.parametrize("whole_limit", [1, 4000])
def test_a_scope_that_holds_nothing_is_an_error_and_no_silent_not_found(context, scope, says, whole_limit):
    place = at_place(context, scope, candidates={"whole_limit": whole_limit})
    with pytest.raises(QuestionError, match=says):
        find_candidates(asked("the tide", place), place)


def test_similar_arcs_keep_their_cosine_and_the_layouts_get_that_of_their_ends(context):
    graph = find_candidates(asked("tide", context), context)
    cosines, at = arc_cosines(graph), ordinals_of(graph, context)
    found = {
        (int(at[tail]), int(at[head])): round(float(cosine), 4)
        for tail, head, cosine in zip(graph.tails, graph.heads, cosines, strict=True)
        if graph.document_ids[graph.documents[tail]] == document_id("report")
    }
    assert found[0, 2] == found[2, 0] == 0.6
    assert found[0, 1] == found[1, 3] == round(0.5**0.5, 4)
    assert (cosines >= 0).all() and (cosines <= 1).all()


def test_a_neighbour_of_what_is_relevant_gains_by_the_arc(context):
    place = at_place(context, alone("report"), relevance={"page_share": 0.0})
    _, graph, scores = candidates_of("tide", place)
    table = ordinals_of(graph, place).index(3)
    assert scores.relevance[table] < scores.propagated[table]
    assert ((scores.combined >= 0) & (scores.combined <= 1)).all()


def test_without_arcs_nothing_flows_and_the_order_is_that_of_relevance(context):
    _, graph, scores = candidates_of("steel in the storm", at_place(context, alone("lonely")))
    assert not len(graph.tails) and np.array_equal(scores.propagated, scores.relevance)
    assert np.argsort(-scores.combined).tolist() == np.argsort(-scores.relevance).tolist() and scores.combined.max() > 0


def test_one_node_is_scored(context):
    _, graph, scores = candidates_of("which cable?", at_place(context, alone("note")))
    assert len(graph) == 1 and np.isfinite(scores.combined).all() and 0 < scores.combined[0] <= 1


def test_where_nothing_is_relevant_all_scores_are_zero_and_every_page_is_ranked(context):
    place = at_place(context, alone("lonely"), relevance={"lexical_share": 1.0})
    _, graph, scores = candidates_of("zebra", place)
    assert not scores.combined.any() and page_ranking(graph, scores) == [((document_id("lonely"), page), 0.0) for page in (1, 2, 3)]


def test_the_score_of_a_page_is_its_best_nodes(context):
    _, graph, scores = candidates_of("the tide in a harbour", context)
    found = page_ranking(graph, scores)
    assert found == sorted(found, key=lambda item: (-item[1], item[0]))
    for (document, page), value in found:
        own = (graph.pages == page) & (np.array(graph.document_ids)[graph.documents] == document)
        assert value == scores.combined[own].max()
    assert len(found) == 3 + 3 + 1


def test_the_baseline_scores_by_relevance_alone(context):
    question = asked("the tide in a harbour", context)
    graph = find_candidates(question, context)
    scores = score_by_relevance(question, graph, context)
    assert np.array_equal(scores.combined, scores.relevance) and np.array_equal(scores.propagated, scores.relevance)
    assert np.array_equal(scores.relevance, score(question, graph, context).relevance)


@pytest.mark.parametrize("settings", [{"score": {"scale_diffusion": False}}, {"score": {"keep_unreached": False}}])
def test_the_papers_reading_can_be_chosen(context, settings):
    *_, plain = candidates_of("a cable in the tide", context)
    *_, paper = candidates_of("a cable in the tide", at_place(context, **settings))
    assert not np.array_equal(plain.combined, paper.combined) and np.isfinite(paper.combined).all()


def test_the_papers_walker_goes_by_the_edges_and_the_defaults_passes_by_what_says_the_same(tmp_path):
    def visits(**score):
        _, graph, scores = candidates_of("tide", at_place(context, score=ALONE | score))
        return [scores.combined[ordinals_of(graph, context).index(place)] for place in (1, 2)]

    with at_context(published(tmp_path, WALK)) as context:
        near, further = visits()
        assert near / further == pytest.approx((0.97 * (1 - 0.97**2) ** 0.5) / (0.7 * (1 - 0.7**2) ** 0.5)) and near < further
        near, further = visits(diffusion_weights=method_of("paper").ask.score.diffusion_weights)
        assert near / further == pytest.approx(0.97 / 0.7)


def test_the_papers_graph_has_similarities_alone(context):
    kinds = {
        arcs: {EDGE_KINDS[code] for code in candidates_of("the tide", at_place(context, candidates={"arcs": arcs}))[1].arc_kinds}
        for arcs in ("all", "paper")
    }
    assert kinds["paper"] == {EdgeKind.SEMANTIC} < kinds["all"]


@pytest.mark.parametrize("text", [TORQUE, COAST, WEIGHT])
def test_candidates_of_a_large_scope_are_ranked_nearly_as_the_whole_of_it(small, text):
    whole = ranked(text, small)
    for few in ({"whole_limit": 1}, {"whole_limit": 1, "by_vector": 20, "by_text": 20, "hops": 1, "limit": 40}):
        found = ranked(text, at_place(small, candidates=few))
        assert max(found, key=found.get) == max(whole, key=whole.get)
        shared = sorted(found.keys() & whole.keys())
        assert len(shared) >= 4
        assert spearmanr([whole[key] for key in shared], [found[key] for key in shared]).statistic > 0.7


def test_what_the_answer_before_cites_is_a_candidate_of_a_large_scope_and_nothing_outside_it(small):
    place = at_place(small, candidates={"whole_limit": 1, "by_vector": 1, "by_text": 1, "hops": 0})
    question = asked(TORQUE, place)
    whole, few = find_candidates(question, small), find_candidates(question, place)
    cited = replace(question, cited=(*sorted(set(whole.ids) - set(few.ids))[:3], "0" * 32))
    assert set(find_candidates(cited, place).ids) == {*few.ids, *cited.cited[:3]}
    inside = at_place(place, Scope(documents=(few.document_ids[0],)))
    assert set(find_candidates(cited, inside).document_ids) == {few.document_ids[0]}


@pytest.mark.parametrize(
    ("text", "name", "page"),
    [
        ("What does page 3 of the strategy show?", "strategy.pptx", 3),
        ("What does Table 1 list of bolts?", "maintenance_manual.docx", 1),
        ('What is said in the section "What could stop us"?', "strategy.pptx", 6),
        ("What is on the last slide of the strategy?", "strategy.pptx", 6),
    ],
)
def test_a_place_that_is_named_is_ranked_first(small, text, name, page):
    for candidates in ({}, {"whole_limit": 1}):
        found = ranked(text, at_place(small, candidates=candidates))
        own = {key: value for key, value in found.items() if small.names[key[0]].name == name}
        assert max(own, key=own.get)[1] == page


def test_what_was_asked_before_does_not_change_the_scores(small):
    alone = candidates_of(COAST, small)[2].combined
    for text in (TORQUE, WEIGHT, "What does page 3 show?"):
        candidates_of(text, small)
    assert np.array_equal(candidates_of(COAST, small)[2].combined, alone)


@pytest.mark.parametrize("whole_limit", [1, 4000])
def test_a_stored_vector_that_is_not_finite_is_named(tmp_path, whole_limit, monkeypatch):
    broken = written("broken", *[Passage(f"the tide of day {day}") for day in range(5)])
    vectors = broken.initial_vectors.copy()
    vectors[2, 1] = np.nan
    # As a damaged disk would have it: what is published is checked.
    monkeypatch.setattr("storage.corpus.writer.check_graph", lambda *_graph: None)
    store = published(tmp_path, replace(broken, initial_vectors=vectors))
    with at_context(store, candidates={"whole_limit": whole_limit}) as context, pytest.raises(GraphDamagedError) as raised:
        find_candidates(asked("the tide", context), context)
    assert broken.nodes[2].id in str(raised.value) and "run `flowreader doctor`" in str(raised.value)


def test_a_read_that_fails_for_a_moment_is_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr("tasks.step.RETRY_SECONDS", 0.0)
    faults, reads = ["lance error: LanceError(IO): x.lance: Too many open files (os error 24), core/src/result.rs"], view.every_row

    def shaky(*arguments):
        with explain_damage(TableName.NODES):
            if faults:
                raise RuntimeError(faults.pop())
        return reads(*arguments)

    location = published(tmp_path, NOTE)
    with at_context(location) as context:
        question = asked("a cable", context)
        monkeypatch.setattr(view, "every_row", shaky)
        assert len(find_candidates(question, context).ids) == 1
    tried = [(record.attempts, bool(record.error)) for record in run_of(location).steps() if record.step == "candidates"]
    assert tried == [(1, True), (2, False)]


NIKE, OTHERS = "What does Nike say of the tide?", ("other", "third", "fourth")
SHARES = {"nike": (("nike", 0.9), ("tide", 0.2))} | dict.fromkeys(OTHERS, (("tide", 0.5),))


def of_several(tmp_path, *names):
    texts = {"nike": "the tide of a blade"} | dict.fromkeys(OTHERS, "the tide and the tide")
    return published(tmp_path, *[replace(written(name, Passage(texts[name])), words=SHARES[name]) for name in names])


def test_a_question_leans_to_the_document_whose_pages_say_its_name(tmp_path):
    with at_context(of_several(tmp_path, "nike", *OTHERS)) as context:
        for scored in (score, score_by_relevance):
            plain, leaning = (
                dict(page_ranking(graph, scored(question, graph, place)))
                for place in (at_place(context, named={"document": weight}) for weight in (0.0, 1.5))
                for question, graph, _scores in (candidates_of(NIKE, place),)
            )
            nike, other = ((document_id(name), 1) for name in ("nike", "other"))
            assert plain[nike] < plain[other], "the other says the word more often"
            # by hand: t is 0.9 ln(4 / 0.9) for the name and share ln(4 / 1.7) for the other word
            expected = 0.9 * np.log(4 / 0.9) + (0.2 - 0.5) * np.log(4 / 1.7)
            grown = np.log(leaning[nike] / plain[nike]) - np.log(leaning[other] / plain[other])
            assert grown == pytest.approx(1.5 * expected) and leaning[nike] > leaning[other]


def test_one_document_alone_is_leaned_to_by_nothing(tmp_path):
    with at_context(of_several(tmp_path, "nike", "other"), scope=alone("nike")) as context:
        question, graph, scores = candidates_of(NIKE, context)
        without = score(question, graph, at_place(context, named={"document": 0.0}))
        assert np.array_equal(scores.combined, without.combined)


def test_where_one_document_is_older_than_its_words_the_question_leans_to_none(tmp_path):
    with at_context(of_several(tmp_path, "nike", *OTHERS)) as context:
        question, graph, scores = candidates_of(NIKE, context)
        known = frozenset(document_id(name) for name in ("nike", "other"))
        context.snapshot.words.__dict__["documents"] = known
        without = score(question, graph, at_place(context, named={"document": 0.0}))
        assert np.array_equal(score(question, graph, context).combined, without.combined)
        assert not np.array_equal(scores.combined, without.combined)
