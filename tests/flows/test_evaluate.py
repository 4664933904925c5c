"""An evaluation is a Prefect run that asks only what was not asked before, and leaves its figures, lines, pictures and pages.

The commands follow one another in this process; the Prefect server of the session is asked at the end what it saw.
"""

import asyncio
import json

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter
from reportlab.pdfgen.canvas import Canvas

from flows.cli.main import main
from tasks.asking.weights import read_weights, shipped_weights
from tasks.evaluation.scoring import CITED, REFUSED_RIGHTLY, REFUSED_WRONGLY, difference_of
from tasks.settings.ask import load_settings
from tests.asking_worlds import TOLD
from tests.evaluation_plans import UNANSWERABLE, small_benchmark
from tests.program import flowreader
from tests.tasks.evaluation.benchmarks.test_formats import DECK, DUDE, MP_DOCVQA

MEASURED = ("flow", "top-k")
"""The readers that are measured where none is named."""
PIER = "How long is the pier at Oddvik?"
PAGE = "<h1>Oddvik</h1><p>The pier at Oddvik is 84 metres long.</p><h2>Crews</h2><p>Twelve crews sail from it each spring.</p>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("evaluating")


@pytest.fixture(scope="module")
def small(folder):
    return small_benchmark(folder / "reports")


@pytest.fixture(scope="module")
def plans(folder):
    """The same with a question of a further document, so that there are several pages to tell apart without any one of them."""
    asked = {"document": "budget.xlsx", "id": "budget", "question": "What is the budget of the workshop?", "answer": ""}
    return small_benchmark(folder / "plans", asked | {"evidence_pages": [1]})


@pytest.fixture(scope="module")
def harbour(folder):
    """A benchmark of one page that no corpus holds yet."""
    folder = folder / "harbour [é]"
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "oddvik.html").write_text(PAGE)
    asked = {"document": "oddvik.html", "id": "pier", "question": PIER, "answer": "84 metres", "evidence_pages": [1]}
    nothing = {"document": "oddvik.html", "id": "none", "question": UNANSWERABLE, "answer": "Not answerable", "evidence_pages": []}
    (folder / "questions.jsonl").write_text(f"{json.dumps(asked)}\n{json.dumps(nothing)}\n")
    return folder


@pytest.fixture(scope="module")
def releases(folder):
    """A question on page 2 of a PDF in the form of each release that is of PDFs or pictures, by the name of its loader."""
    told = {
        "dude": ("ab12", DUDE, 1),
        "mp-docvqa": ("pybv0228_p80-pybv0228_p81", MP_DOCVQA, 1),
        "slidevqa": ("piers-2015", DECK, 2),
    }
    for kind, (name, record, page) in told.items():
        (folder / kind / "pages").mkdir(parents=True)
        canvas = Canvas(str(folder / kind / "pages" / f"{name}.pdf"))
        for text in ("A list of crews.", "The pier is 9 m high."):
            canvas.drawString(72, 700, text)
            canvas.showPage()
        canvas.save()
        pages = {"answers_page_bounding_boxes": [[{"page": page}]], "answer_page_idx": page, "evidence_pages": [page]}
        asked = record | {key: value for key, value in pages.items() if key in record}
        written = asked if kind == "slidevqa" else {"dataset_name": kind, "data": [asked]}
        (folder / kind / ("dev.jsonl" if kind == "slidevqa" else "val.json")).write_text(json.dumps(written))
    return tuple(told)


@pytest.fixture(scope="module")
def first(asked_home, small, folder):
    """The first evaluation of all."""
    return flowreader(
        "evaluate", "retrieval", small, "--corpus", "small", "--out", folder / "lines.jsonl", home=asked_home, check=0
    )


@pytest.fixture(scope="module")
def series(asked_home, small, plans, harbour, releases, folder, first):
    """What each further command showed, and the runs that Prefect saw, by their ids."""
    (folder / "other.toml").write_text("[ask.selection]\nread = 1\n")
    retrieval, given = ["retrieval", small, "--corpus", "small"], ["--reader", "direct,oracle"]
    commands = {
        "again": [*retrieval, "--json"],
        "otherwise": [*retrieval, "--settings", folder / "other.toml", "--json"],
        "given": [*retrieval, "--reader", "adjusted,agent,oracle", "--out", folder / "given.jsonl", "--json"],
        **{kind: ["retrieval", folder / kind, *given, "--out", folder / f"{kind}.jsonl", "--json"] for kind in releases},
        "answers": ["answers", harbour, "--out", folder / "answers.jsonl", "--json"],
        "ablations": ["ablations", harbour, "--only", "BM25 only", "--only", "rounds 0", "--json"],
        "probe": ["probe", "--corpus", "small", "--limit", "6", "--out", folder / "probes.jsonl"],
        "fit to probes": ["fit", "--probe", "--corpus", "small", "--limit", "12", "--out", folder / "of_probes.json"],
        "fit": ["fit", plans, "--corpus", "small", "--out", folder / "weights.json"],
        "transfer": ["transfer", plans, small, "--corpus", "small"],
    }
    done = {name: flowreader("evaluate", *arguments, home=asked_home, check=0) for name, arguments in commands.items()}
    listed = json.loads(flowreader("evaluate", "list", "--json", home=asked_home, check=0).stdout)["evaluations"]
    return {"done": done, "runs": asyncio.run(seen_by_prefect([one["run_id"] for one in listed]))}


async def seen_by_prefect(run_ids):
    seen = {}
    async with get_client() as client:
        for run_id in run_ids:
            only = FlowRunFilter(id={"any_": [run_id]})
            run = await client.read_flow_run(run_id)
            left = [one for one in await client.read_artifacts(flow_run_filter=only) if one.key]
            seen[run_id] = {
                "flow": (await client.read_flow(run.flow_id)).name,
                "state": run.state.name,
                "tasks": [task.name for task in await client.read_task_runs(flow_run_filter=only)],
                "keys": sorted(one.key for one in left),
                "left": {one.type: one.data for one in left},
            }
    return seen


@pytest.fixture
def call(in_asked_home, capsys):
    """Look at what was measured, in this process."""

    def run(*arguments):
        assert main(["evaluate", *arguments]) == 0
        return capsys.readouterr().out

    return run


def evaluation(series, name):
    return json.loads(series["done"][name].stdout)


def first_run_id(call):
    return json.loads(call("list", "--json"))["evaluations"][-1]["run_id"]


def figures(printed, group="all"):
    return {(one["arm"], one["metric"]): one for one in printed["figures"] if one["group"] == group}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_people_read_tables_with_intervals_and_where_the_rest_is(first, folder):
    assert "The ranking, 3 questions" in first.stdout and "100.0-100.0" in first.stdout
    assert "flowreader evaluate show" in first.stdout and "picture: " in first.stdout
    assert str(folder / "lines.jsonl") in first.stderr and "Traceback" not in first.stderr


def test_a_line_for_each_question_and_reader_holds_what_a_script_needs_to_measure_for_itself(first, folder):
    found = lines(folder / "lines.jsonl")
    assert [(line["reader"], line["id"]) for line in found] == [(reader, f"q{n}") for reader in MEASURED for n in range(3)]
    gold = {f"q{number}": [page] for number, (_document, page, _told) in enumerate(TOLD.values())}
    for line in found:
        assert line["gold_pages"] == gold[line["id"]] and line["seconds"] > 0
        assert line["ranked_pages"][0] == gold[line["id"]][0]
        assert len(set(line["ranked_pages"])) == len(line["ranked_pages"])
        assert set(line["evidence_pages_returned"]) <= set(line["ranked_pages"])
    assert len({line["key"] for line in found}) == len(found)


def test_the_run_is_completed_in_prefect_with_a_page_of_tables_and_pictures(first, series, call):
    run = series["runs"][first_run_id(call)]
    assert (run["flow"], run["state"]) == ("evaluate", "Completed")
    assert sorted(name.partition(":")[0] for name in run["tasks"]) == ["ask-batch flow", "ask-batch top-k"]
    assert set(run["left"]) == {"markdown"}
    page = run["left"]["markdown"]
    assert page.startswith("# Evaluation of retrieval: reports") and page.count("](data:image/png;base64,") >= 2
    printed = json.loads(call("show", first_run_id(call), "--json"))
    assert len(printed["pictures"]) == page.count("](data:image/png;base64,")
    odd = series["runs"][evaluation(series, "answers")["run_id"]]
    assert odd["keys"] == ["evaluate-answers-harbour----"]


def test_the_second_run_asks_nothing_and_gives_the_same_figures(series, call):
    again = evaluation(series, "again")
    assert not any(name.startswith("ask-batch") for name in series["runs"][again["run_id"]]["tasks"])
    assert again["figures"] == json.loads(call("show", first_run_id(call), "--json"))["figures"]
    assert series["done"]["again"].stderr == ""


def test_oracle_reads_the_pages_of_the_evidence_and_adjusted_as_many_of_the_best_as_agent_read(series, folder):
    by = {(line["reader"], line["id"]): line for line in lines(folder / "given.jsonl")}
    for name in ("q0", "q1", "q2"):
        agent, adjusted, oracle = (by[reader, name] for reader in ("agent", "adjusted", "oracle"))
        read = adjusted["evidence_pages_returned"]
        assert len(read) == len(agent["evidence_pages_returned"]) and read == adjusted["ranked_pages"][: len(read)]
        assert oracle["evidence_pages_returned"] == oracle["gold_pages"] == oracle["ranked_pages"][:1]


@pytest.mark.parametrize("kind", ["dude", "mp-docvqa", "slidevqa"])
def test_a_release_is_read_with_its_pdfs_and_its_pages_counted_as_it_counts_them(series, folder, kind):
    direct, oracle = lines(folder / f"{kind}.jsonl")
    assert direct["evidence_pages_returned"] == [1, 2] and oracle["evidence_pages_returned"] == oracle["gold_pages"] == [2]
    assert evaluation(series, kind)["benchmark"] == kind


def test_nothing_changed_between_the_two_and_another_setting_is_named_with_what_it_moved(series, call):
    before, again, other = first_run_id(call), evaluation(series, "again"), evaluation(series, "otherwise")
    same = json.loads(call("compare", before, again["run_id"], "--json"))
    assert same["differs"] == [] and all(one["difference"] == one["low"] == one["high"] == 0 for one in same["changes"])
    assert "nothing else differs" in call("compare", before[:8], again["run_id"][:8])
    moved = json.loads(call("compare", again["run_id"], other["run_id"], "--json"))
    assert [one["name"] for one in moved["differs"]] == ["ask.selection.read"] and moved["differs"][0]["after"] == "1"
    by = {(one["arm"], one["metric"]): one["difference"] for one in moved["changes"]}
    # Of `flow` the price of a page says how many are returned, and not how many paths are read.
    assert by["top-k", "pages returned"] < 0.0 == by["flow", "pages returned"]
    assert "ask.selection.read: " in call("compare", again["run_id"], other["run_id"])


def test_without_a_corpus_the_documents_are_read_in_first_into_one_of_the_benchmarks_own(series, call):
    answers = evaluation(series, "answers")
    assert (answers["corpus"], answers["what"]) == ("evaluate-harbour-", "answers")
    assert any(name.startswith("ingest") for name in series["runs"][answers["run_id"]]["tasks"])
    assert main(["status", "--corpus", "evaluate-harbour-", "--json"]) == 0


def test_what_rules_quote_is_measured_by_its_pages_and_refusals(series, folder):
    printed = figures(evaluation(series, "answers"))
    for reader in MEASURED:
        worth = [printed[reader, metric]["value"] for metric in (CITED, REFUSED_RIGHTLY, REFUSED_WRONGLY, "calls")]
        assert worth == [1.0, 1.0, 0.0, 0.0]
    found = {(line["reader"], line["id"]): line for line in lines(folder / "answers.jsonl")}
    assert set(found) == {(reader, name) for reader in MEASURED for name in ("pier", "none")}
    assert found["flow", "pier"]["answer"] == "" and found["flow", "pier"]["cited_pages"] == [["oddvik.html", 1]]
    assert {name: line["correct"] for (_reader, name), line in found.items()} == {"pier": None, "none": True}
    assert {line["kind"] for (_reader, name), line in found.items() if name == "none"} == {"abstained"}


def test_ablations_ask_the_whole_method_once_and_read_documents_again_only_where_reading_differs(series):
    ablations = evaluation(series, "ablations")
    run = series["runs"][ablations["run_id"]]
    # The whole method is the reader `flow`, which the answers were asked of.
    assert sorted(name.partition(":")[0] for name in run["tasks"] if name.startswith("ask-batch")) == [
        "ask-batch BM25 only",
        "ask-batch evolution rounds 0",
    ]
    assert sum(name.startswith("ingest") for name in run["tasks"]) == 1
    printed = figures(ablations)
    assert {arm for arm, _metric in printed} == {"full", "BM25 only", "evolution rounds 0"}
    assert {arm for arm, metric in printed if metric == difference_of("recall@1")} == {"BM25 only", "evolution rounds 0"}


def test_a_probe_makes_its_own_questions_and_shows_how_many_pages_came_back(series, folder):
    shown = series["done"]["probe"].stdout
    assert "probe: probes of small" in shown and "100.0" in shown and "*" in shown
    found = lines(folder / "probes.jsonl")
    assert {line["reader"] for line in found} == {"flow"} and len(found) == 6
    assert all(line["gold_pages"][0] in line["ranked_pages"] for line in found)


def test_a_fit_writes_weights_that_questions_are_answered_by_and_says_how(series, folder, call):
    weights = read_weights(folder / "weights.json")
    assert (weights.fitted.dataset, weights.fitted.documents, weights.fitted.questions) == ("plans", 4, 4)
    fitted = json.loads(call("list", "--json"))["evaluations"][1]
    assert (fitted["what"], fitted["benchmark_hash"]) == ("fit", weights.fitted.benchmark)
    done = series["done"]["fit"]
    for told in (
        "fitted on 4 documents only: weights of fewer than 10 may not hold for others",
        "1 of 5 questions are left out: they have no evidence pages",
        "Sets by probability, out of fold",
        "flow, own documents",
        "flow, all documents",
        "variant 1 of this benchmark measured here",
    ):
        assert told in " ".join(done.stdout.split()), told
    named = f"weights = {json.dumps(str(folder / 'weights.json'))}"
    assert named in done.stderr
    (folder / "by_own_weights.toml").write_text(f"[ask]\n{named}\n")
    assert load_settings(folder / "by_own_weights.toml").ask.weights == str(folder / "weights.json")


def test_a_fit_without_labels_writes_weights_of_probes_which_refuse_what_other_documents_answer(series, folder):
    weights = read_weights(folder / "of_probes.json")
    assert (weights.fitted.dataset, weights.fitted.questions, weights.fitted.tokens) == ("probes of small", 12, True)
    assert set(weights.looks) == {"tokens_weight"} and weights.corpus.refusal is None
    assert "of_probes.json" in series["done"]["fit to probes"].stderr


def test_a_transfer_says_where_its_weights_come_from_and_that_they_are_of_few_documents(series, folder):
    shown = " ".join(series["done"]["transfer"].stdout.split())
    assert "transfer: reports, with weights fitted on plans" in shown and "Sets by probability, 3 questions" in shown
    assert f"weights plans, fitted on {read_weights(folder / 'weights.json').fitted.benchmark[:12]}" in shown
    assert "fitted on 4 documents only" in shown
    assert evaluation(series, "again")["models"]["fitted on"] == shipped_weights().fitted.benchmark[:12]
    # As many as the first, its other settings, and this one with them again.
    assert "variant 2 of this benchmark measured here" in shown


def test_no_evaluation_keeps_what_questions_are_answered_from_again(series, asked_home):
    assert list(asked_home.glob("corpora/*/evaluations")) and not list(asked_home.glob("corpora/*/asked"))


def test_every_evaluation_is_kept_as_it_was_printed(series, call):
    listed = json.loads(call("list", "--json"))["evaluations"]
    assert [one["what"] for one in listed] == [
        "transfer",
        "fit",
        "fit",
        "probe",
        "ablations",
        "answers",
        *["retrieval"] * 7,
    ]
    assert {run["flow"] for run in series["runs"].values()} == {"evaluate"} and len(series["runs"]) == len(listed)
    for name in ("again", "answers", "ablations"):
        printed = evaluation(series, name)
        assert json.loads(call("show", printed["run_id"], "--json")) == printed
