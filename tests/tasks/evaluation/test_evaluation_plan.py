"""What an evaluation is made of, and what is refused before any work."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import RequestError
from storage.locations import corpus_location
from tasks.evaluation.arms import FULL, EvaluationRequest, ablation_arms
from tasks.evaluation.plan import notes_of, plan_evaluation, require_read, variants_of, work_to_do
from tasks.evaluation.tables.ablations import OF_READERS, ablations_of
from tasks.settings.ask import AllSettings, method_of
from tasks.settings.base import change_settings, list_dotted
from tasks.settings.presets import DIFFERENCES
from tasks.settings.readers import PRESETS, READERS
from tests.asking_worlds import Passage, published, written
from tests.evaluation_plans import small_benchmark
from tests.program import CHEAP
from tests.storage import worlds


def ablations_of_flow(settings):
    return ablations_of(settings, "flow")


TELLING = Passage("The crew of the Merrow repaired the steel cables after the storm.")


@pytest.fixture
def folder(tmp_path):
    return small_benchmark(tmp_path / "small")


def plan_of(folder, **asked):
    return plan_evaluation(EvaluationRequest(dataset=str(folder), **asked))


def test_retrieval_asks_what_has_evidence_and_answers_what_has_an_answer_or_none(folder):
    assert [one.id for one in plan_of(folder).questions] == ["q0", "q1", "q2"]
    assert [one.id for one in plan_of(folder, what="answers").questions] == ["q0", "q1", "q2", "q-none"]


def test_a_limit_takes_questions_from_all_over(folder):
    assert [one.id for one in plan_of(folder, what="answers", limit=2).questions] == ["q0", "q2"]
    assert len(plan_of(folder, limit=50).questions) == 3


def test_the_documents_go_into_a_corpus_of_their_own_or_into_the_one_named(folder):
    assert [name for name, _ in plan_of(folder).by_corpus()] == ["evaluate-small"]
    assert [name for name, _ in plan_of(folder, corpus="mine").by_corpus()] == ["mine"]


def test_arms_that_need_documents_read_otherwise_have_a_corpus_of_their_own(folder):
    found = list(plan_of(folder, what="ablations", only=("rounds 0", "rounds 1", "without BM25")).by_corpus())
    names_of_arms = [[arm.name for arm in arms] for _, arms in found]
    assert names_of_arms == [["full", "without BM25"], ["evolution rounds 0"], ["evolution rounds 1"]]
    names = [name for name, _ in found]
    assert names[0] == "evaluate-small" and all(name.startswith("evaluate-small-") for name in names[1:])
    assert len(set(names)) == 3


def test_the_longest_name_of_a_corpus_leaves_room_for_its_hash(tmp_path):
    plan = plan_of(small_benchmark(tmp_path / ("long name " * 12)), what="ablations", only=("rounds 0",))
    assert all(len(name) <= 64 and " " not in name for name, _ in plan.by_corpus())


def test_a_benchmark_without_what_is_measured_is_refused_with_what_can_be(tmp_path):
    folder = small_benchmark(tmp_path / "d")
    lines = (folder / "questions.jsonl").read_text().splitlines()
    (folder / "questions.jsonl").write_text(lines[-1] + "\n")
    with pytest.raises(RequestError, match=r"none of the 1 questions of 'd' has evidence pages; `flowreader evaluate answers`"):
        plan_of(folder)


def test_oracle_is_asked_what_has_evidence_or_no_answer_and_adjusted_beside_agent_alone(folder, tmp_path):
    bare = small_benchmark(tmp_path / "bare", {"id": "bare", "document": CHEAP[0], "question": "Why?", "answer": "so"})
    plan = plan_of(bare, what="answers", readers=("oracle", "agent", "adjusted"))
    assert [one.id for one in plan.questions] == ["q0", "q1", "q2", "q-none"]
    assert [arm.reader for arm in plan.arms] == ["oracle", "agent", "adjusted"]
    assert "bare" in [one.id for one in plan_of(bare, what="answers").questions]
    with pytest.raises(RequestError, match="as many pages as 'agent', which is not asked; --reader adjusted,agent"):
        plan_of(folder, readers=("adjusted", "oracle"))
    (folder / "questions.jsonl").write_text((folder / "questions.jsonl").read_text().splitlines()[-1] + "\n")
    with pytest.raises(RequestError, match="no question of 'small' has evidence pages, which 'oracle' reads"):
        plan_of(folder, what="answers", readers=("oracle",))


def test_a_measurement_without_a_dataset_is_refused():
    with pytest.raises(RequestError, match="evaluate retrieval"):
        plan_evaluation(EvaluationRequest())


def test_a_fit_asks_every_question_of_its_documents_and_of_all_by_flow_and_top_k(folder):
    plan = plan_of(folder, what="fit")
    assert [one.id for one in plan.questions] == ["q0", "q1", "q2", "q-none"]
    assert [one.id for one in plan.with_evidence] == ["q0", "q1", "q2"] and plan.scope == "document and corpus"
    assert [(arm.name, arm.reader, arm.whole_corpus) for arm in plan.arms] == [
        ("flow, own documents", "flow", False),
        ("top-k, own documents", "top-k", False),
        ("flow, all documents", "flow", True),
        ("top-k, all documents", "top-k", True),
    ]


@pytest.mark.parametrize("asked", [{"what": "fit"}, {"what": "transfer"}])
def test_nothing_is_fitted_to_one_document_or_for_the_paper(folder, tmp_path, asked):
    other = small_benchmark(tmp_path / "alone")
    lines = (other / "questions.jsonl").read_text().splitlines()
    (other / "questions.jsonl").write_text("\n".join([lines[0], lines[-1]]) + "\n")
    fitted = {"fitted_on": str(other)} if asked["what"] == "transfer" else {}
    with pytest.raises(RequestError, match=r"nothing can be fitted to 'alone': its 1 questions .* are of 1 document"):
        plan_of(folder if fitted else other, **asked, **fitted)
    with pytest.raises(RequestError, match="preset 'paper' has no weights to fit; leave out --preset"):
        plan_of(folder, **asked, **({"fitted_on": str(folder)} if fitted else {}), preset="paper")


def test_what_is_asked_for_a_fit_is_ranked_with_the_reranker(folder):
    reranked = change_settings(AllSettings(), {"ask.rerank": "a-model"})
    assert {arm.ask.rerank for arm in plan_of(folder, what="fit", settings=reranked).arms} == {"a-model"}


def test_a_transfer_is_scored_on_one_dataset_and_fitted_on_the_other(folder, tmp_path):
    other = small_benchmark(tmp_path / "other")
    plan = plan_of(folder, what="transfer", fitted_on=str(other), scope="corpus", limit=2)
    assert (plan.benchmark.name, plan.fitted_on.benchmark.name) == ("small", "other")
    assert [arm.name for arm in plan.arms] == ["flow", "top-k"] and [arm.name for arm in plan.fitted_on.arms] == ["flow"]
    assert plan.scope == plan.fitted_on.scope == "corpus"
    assert [name for name, _ in plan.fitted_on.by_corpus()] == ["evaluate-other"]


def test_settings_and_ways_to_fit_are_variants_and_readers_and_scopes_are_none(folder, home, monkeypatch):
    tried = {arm.variant for arm in plan_of(folder, what="fit").arms} | {arm.variant for arm in plan_of(folder).arms}
    assert len(tried) == 1
    assert len({arm.variant for arm in plan_of(folder, what="ablations", only=("rounds 0", "BM25 only")).arms} - tried) == 2
    plans = [plan_of(folder), plan_of(folder, what="fit"), plan_of(folder, what="transfer", fitted_on=str(folder))]
    assert [variants_of(plan, "today")[0][:10] for plan in plans] == ["variant 1 "] * 3
    monkeypatch.setattr("tasks.evaluation.plan.fitting_identity", lambda: "another")
    assert [variants_of(plan, "today")[0][:10] for plan in plans] == ["variant 2 "] * 3


def test_what_is_read_in_already_is_not_read_again_and_documents_are_known_by_their_bytes(own_home, folder):
    plan = plan_of(folder, corpus="small")
    missing, ids = work_to_do(plan, "small", plan.arms[0])
    assert missing is None
    assert sorted(ids) == sorted(set(CHEAP) & {name for one in plan.questions for name in one.documents} | {CHEAP[0]})
    other = change_settings(AllSettings(), {"reading.evolution.rounds": 0})
    again = plan_of(folder, corpus="small", settings=other)
    request, _ = work_to_do(again, "small", again.arms[0])
    assert request is not None and request.settings.reading.evolution.rounds == 0


def test_probes_are_asked_of_every_readable_document_those_without_a_probe_too(home):
    with_probe, without = written("tide", TELLING), written("mute", Passage("Too few words"))
    location = published(home, with_probe, without)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=5) as corpus:
        corpus.publish(graphs=[], records=[worlds.failed(worlds.graph("broken"))], cross_edges=[])
    plan = plan_evaluation(EvaluationRequest(what="probe"))
    assert set(plan.benchmark.documents) == {"tide.pdf"}
    _, ids = work_to_do(plan, "default", plan.arms[0])
    assert ids == {"tide.pdf": with_probe.document_id, "mute.pdf": without.document_id}


def test_a_question_that_cannot_be_asked_is_refused_by_its_id_before_anything_is_read(tmp_path):
    folder = small_benchmark(
        tmp_path / "d", {"id": "odd", "document": CHEAP[0], "question": "???", "answer": "x", "evidence_pages": [1]}
    )
    with pytest.raises(RequestError, match=r"question 'odd' of 'd': the question '\?\?\?' holds no word"):
        plan_of(folder)


def test_only_documents_that_are_asked_are_read_unless_all_are_searched_at_once(folder):
    (folder / "documents" / "beside.html").write_text("<p>Nobody asks of this.</p>")
    plans = {scope: plan_of(folder, scope=scope) for scope in ("document", "corpus")}
    names = {scope: {Path(path).name for path in plan.reading("small", plan.arms[0]).paths} for scope, plan in plans.items()}
    asked = {name for one in plans["document"].questions for name in one.documents}
    assert names == {"document": asked, "corpus": {*CHEAP, "beside.html"}}


def test_documents_that_were_read_otherwise_meanwhile_are_not_measured(own_home, folder):
    plan = plan_of(folder, corpus="small")
    other = plan_of(folder, corpus="small", settings=change_settings(AllSettings(), {"reading.evolution.rounds": 0}))
    probes = plan_evaluation(EvaluationRequest(what="probe", corpus="small", limit=2))
    with open_for_reading(corpus_location("small")) as snapshot:
        require_read(plan, plan.arms[0], snapshot)
        require_read(probes, probes.arms[0], snapshot)
        with pytest.raises(RequestError, match=r"3 documents of corpus 'small' were removed or read differently"):
            require_read(other, other.arms[0], snapshot)


def test_notes_name_what_the_figures_do_not_show(own_home, tmp_path):
    beyond = {"id": "far", "document": CHEAP[0], "question": "Where?", "answer": "x", "evidence_pages": [77, 0]}
    plan = plan_of(small_benchmark(tmp_path / "d", beyond), corpus="small")
    _, ids = work_to_do(plan, "small", plan.arms[0])
    with open_for_reading(corpus_location("small")) as snapshot:
        assert notes_of(plan, snapshot, ids) == (
            "1 of 5 questions are left out: they have no evidence pages",
            f"2 evidence pages are not in their document: far (page 77 of {CHEAP[0]}), far (page 0 of {CHEAP[0]})",
        )


def test_what_is_fitted_on_few_documents_says_so_a_transfer_too(own_home, folder):
    plans = [plan_of(folder, what="fit"), plan_of(folder, what="transfer", fitted_on=str(folder)), plan_of(folder)]
    with open_for_reading(corpus_location("small")) as snapshot:
        warned = ["fitted on 3 documents only: weights of fewer than 10" in str(notes_of(plan, snapshot, {})) for plan in plans]
    assert warned == [True, True, False]


def test_each_ablation_differs_from_the_default_in_the_settings_it_names_and_in_no_other():
    plain = dict(list_dotted(AllSettings().model_dump()))
    for name, change in ablations_of_flow(AllSettings()).items():
        other = dict(list_dotted(change_settings(AllSettings(), change).model_dump()))
        assert {key for key in plain if plain[key] != other[key]} <= set(change), name
        assert other != plain, name


def test_every_part_of_the_method_has_an_ablation():
    wanted = {"relevance only", "propagation", "diffusion", "BM25", "rounds 0", "rounds 5", "OCR"}
    ours = {"paper's routing", "paper's arcs", "summary and keywords", "evolved vectors", "places named", "glossary"}
    papers = {"gate", "greedy", "mixing 0", "start by flow", "diverse sources"}
    for preset, parts in (("default", wanted | ours), ("paper", wanted | papers)):
        names = set(ablations_of_flow(method_of(preset)))
        assert all(any(part in name for name in names) for part in parts), preset
    assert not papers & set(ablations_of_flow(AllSettings()))


def test_only_answers_are_read_by_the_model_of_the_environment_unless_it_is_asked_for(folder, monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    read = {"ask": {"reading": {"by": "model"}}}
    by = {what: [plan_of(folder, what=what, **more) for more in ({}, {"settings": read})] for what in ("answers", "retrieval")}
    found = {what: [{arm.ask.reading.by for arm in plan.arms} for plan in plans] for what, plans in by.items()}
    assert found == {"answers": [{"model"}, {"model"}], "retrieval": [{"rules"}, {"model"}]}
    monkeypatch.delenv("FLOWREADER_CHAT_BASE_URL")
    assert plan_of(folder, what="answers").request.settings.ask.reading.by == "rules"


def test_every_difference_of_the_presets_is_what_some_ablation_changes_where_a_model_reads():
    read = change_settings(AllSettings(), {"ask.reading.by": "model"})
    changes = [change for reader in READERS for change in ablations_of(read, reader).values()]
    by_model = ("reading.analysis.model.", "reading.evolution.model.")
    differ = {name for own in DIFFERENCES.values() for name in own if not name.startswith(by_model)}
    assert differ <= {name for change in changes for name in change}, "documents are read anew for none of the others"
    model_only = {name for name in ablations_of_flow(read) if name not in ablations_of_flow(AllSettings())}
    assert model_only == {"the model's keywords", "pairs rated as in the paper", "without the gate", "without pictures"}


def test_a_second_look_is_taken_away_where_there_is_one():
    both = change_settings(AllSettings(), {"reading.embedding.second": "other"})
    assert set(ablations_of_flow(both)) - set(ablations_of_flow(AllSettings())) == {"without the second embedder"}
    assert change_settings(both, ablations_of_flow(both)["without the second embedder"]).ask.second.weight == 0.0


def test_weights_still_sum_to_one_when_a_signal_is_taken_away():
    for name in ("without propagation", "without diffusion", "relevance only"):
        score = change_settings(AllSettings(), ablations_of_flow(AllSettings())[name]).ask.score
        assert score.relevance + score.propagation + score.diffusion == pytest.approx(1.0)


def test_what_is_set_already_is_no_ablation():
    assert "mixing 0" not in ablations_of_flow(change_settings(method_of("paper"), {"ask.selection.mixing": 0.0}))
    assert "paper's routing" not in ablations_of_flow(method_of("paper"))
    assert f"evolution rounds {AllSettings().reading.evolution.rounds}" not in ablations_of_flow(AllSettings())


def test_the_whole_method_comes_first_and_only_what_is_named_follows():
    assert [arm.name for arm in ablation_arms(AllSettings(), "flow", ["BM25 only", "OCR"])] == [FULL, "BM25 only", "without OCR"]
    with pytest.raises(RequestError, match=r"'BM52'.*BM25 only"):
        ablation_arms(AllSettings(), "flow", ["BM52"])


def test_a_request_survives_the_form_of_a_deployment_whose_fields_say_what_they_mean():
    settings = change_settings(AllSettings(), {"ask.selection.read": 3, "reading.ocr.enabled": False})
    request = EvaluationRequest(what="ablations", dataset="reports", readers=("top-k",), only=("OCR",), settings=settings)
    assert EvaluationRequest.model_validate_json(request.model_dump_json()) == request
    fields = EvaluationRequest.model_json_schema()["properties"]
    assert all(field.get("description") for name, field in fields.items() if name != "settings")


@pytest.mark.parametrize("reader", OF_READERS)
def test_a_reader_that_finds_its_own_way_has_ablations_of_its_own_before_those_that_all_share(reader):
    arms = ablation_arms(AllSettings(), reader)
    names = [arm.name for arm in arms]
    own = [name for name, change in OF_READERS[reader].items() if change_settings(AllSettings(), change) != AllSettings()]
    assert names[: len(own) + 1] == [FULL, *own] and len({arm.variant for arm in arms}) == len(arms)
    assert {"BM25 only", "evolution rounds 0"} <= set(names) and "paper's routing" not in names
    assert {arm.reader for arm in arms} == {reader}


def test_a_number_is_set_for_one_evaluation_and_what_is_read_by_it_stays_apart(folder):
    plan = plan_of(folder, what="ablations", readers=("walk",), only=("5 pages",), set={"ask.walk.hops": 1})
    assert {arm.ask.walk.hops for arm in plan.arms} == {1} and [arm.ask.walk.pages for arm in plan.arms] == [3, 5]
    assert EvaluationRequest.model_validate_json(plan.request.model_dump_json()) == plan.request
    assert [name for name, _ in plan_of(folder, corpus="mine", set={"ask.walk.hops": 1}).by_corpus()] == ["mine"]
    apart = [name for name, _ in plan_of(folder, corpus="mine", set={"reading.evolution.rounds": 1}).by_corpus()]
    assert len(apart) == 1 and apart[0].startswith("mine-")
    wrongs = {
        "ask.walk.hop": (1, "did you mean ask.walk.hops"),
        "ask.walk.hops": ("x", "valid integer"),
        "ask.pages.pages": (-1, "below 0"),
        "ask.relevance.lexical_share": (1.1, "lexical_share = 1.1: input should be less than or equal to 1"),
    }
    for wrong, words in (({name: value}, words) for name, (value, words) in wrongs.items()):
        with pytest.raises(RequestError, match=words):
            EvaluationRequest(dataset=str(folder), set=wrong)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"what": "table"}, "a table has a name"),
        ({"what": "answers", "table": "molorag-2"}, "a table has a name"),
        ({"what": "table", "table": "molorag-2", "preset": "g2"}, "of the preset molorag, not of g2"),
        ({"what": "answers", "answers": True}, "only ablations measure answers"),
        ({"what": "probe", "set": {"reading.evolution.rounds": 1}}, "probes read nothing in"),
    ],
)
def test_what_does_not_go_together_is_refused_in_words(asked, words):
    with pytest.raises(ValidationError, match=words):
        EvaluationRequest(**asked)


def test_ablations_of_answers_take_questions_without_evidence_pages(folder):
    asked = {what: plan_of(folder, what="ablations", only=("BM25 only",), answers=what) for what in (True, False)}
    assert [one.id for one in asked[True].questions] == ["q0", "q1", "q2", "q-none"] and len(asked[False].questions) == 3


def test_presets_that_read_documents_alike_share_a_corpus(folder):
    names = {preset: next(plan_of(folder, preset=preset).by_corpus())[0] for preset in PRESETS}
    assert names["default"] == "evaluate-small" and names["paper"] == names["flowreader"] == "evaluate-small-paper"
    assert names["dmap"] == names["molorag"] == "evaluate-small-dmap" and names["lad"] == "evaluate-small-lad"
