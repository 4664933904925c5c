"""An estimate looks at pages without asking a model, and is near to what is asked then."""

import pytest

from storage.artifacts import ArtifactStore, hash_bytes
from storage.locations import artifacts_folder, calls_folder, steps_folder
from storage.memo import StepMemo
from storage.records.documents import identify
from storage.runs.replies import CachedReply, CallCache
from tasks.finding.plan import DocumentWork
from tasks.ingest import estimate as estimating
from tasks.ingest.estimate import STARTING_SECONDS, estimate
from tasks.ingest.steps import evolve
from tasks.prompts.prompt import load_prompt
from tasks.settings.ingest import IngestSettings
from tests.program import CORPUS

BY_MODEL = {"reading": {"analysis": {"by": "model"}, "evolution": {"mode": "model"}}}


@pytest.fixture(autouse=True)
def own_home(home):
    return home


def work(name, folder=CORPUS):
    path = str(folder / name)
    document = hash_bytes((folder / name).read_bytes())
    return DocumentWork(document, identify(document), path, (path,), (folder / name).stat().st_size, "")


def by_model(**models):
    return IngestSettings.model_validate({**BY_MODEL, "models": models})


def test_pages_of_a_pdf_are_counted_and_other_files_are_one():
    guess = estimate([work("annual_report.pdf"), work("budget.xlsx")], IngestSettings())
    assert guess.documents == 2 and guess.pages == 17 and guess.seconds > STARTING_SECONDS and guess.megabytes > 0.1
    assert (guess.calls, guess.input_tokens, guess.output_tokens, guess.cost) == (0, 0, 0, 0.0)
    assert [(one.name, one.pages) for one in guess.by_document] == [("annual_report.pdf", 16), ("budget.xlsx", 1)]


def test_nothing_to_do_takes_no_time():
    assert estimate([], IngestSettings()).seconds == 0 and estimate([], by_model()).calls == 0


def test_a_model_is_estimated_by_the_calls_that_would_be_made():
    prices = {"prices": {"input_per_million": 1.0, "output_per_million": 10.0}}
    guess = estimate([work("paper.pdf"), work("maintenance_manual.docx")], by_model(**prices))
    paper, manual = guess.by_document
    assert paper.pages == 6 and 10 <= paper.calls <= 30 and 40_000 < paper.input_tokens + paper.output_tokens < 160_000
    assert 4 <= manual.calls <= 12 and guess.calls == paper.calls + manual.calls
    assert guess.cost == pytest.approx((guess.input_tokens + 10 * guess.output_tokens) / 1e6)
    lite = IngestSettings.model_validate({"reading": {"analysis": {"by": "model"}}})
    assert 0 < estimate([work("maintenance_manual.docx")], lite).calls < manual.calls


def test_calls_about_one_node_with_its_content_read_the_rules_each_time():
    manual, usual = work("maintenance_manual.docx"), {"by": "model"}
    asks = {"nodes_per_call": 1, "content_characters": 4000}
    alone = {"analysis": {"by": "model", "model": {"nodes_per_call": 1}}, "evolution": {"mode": "model", "model": asks}}
    together, each = (
        estimate([manual], IngestSettings.model_validate({"reading": reading}))
        for reading in ({"analysis": usual, "evolution": {"mode": "model"}}, alone)
    )
    assert each.calls > 4 * together.calls and each.input_tokens > 2 * together.input_tokens
    assert each.output_tokens == together.output_tokens


@pytest.mark.torture
def test_the_map_takes_a_call_for_eight_pages_or_sections_beside_the_descriptions():
    def guess(**analysis):
        return estimate([work("paper.pdf")], IngestSettings.model_validate({"reading": {"analysis": analysis}}))

    described, mapped, both = guess(by="model"), guess(map="model"), guess(by="model", map="model")
    assert 3 <= mapped.calls <= 6 and mapped.output_tokens % 80 == 0 and mapped.input_tokens > 2000
    assert (both.calls, both.output_tokens) == (described.calls + mapped.calls, described.output_tokens + mapped.output_tokens)


@pytest.mark.torture
def test_reading_page_by_page_shows_every_page_and_describes_nothing_twice():
    def guess(**analysis):
        return estimate([work("paper.pdf")], IngestSettings.model_validate({"reading": {"analysis": analysis}}))

    described, paged, both = guess(by="model"), guess(pages="model"), guess(by="model", pages="model")
    assert paged == both and paged.calls >= 6 and paged.input_tokens > described.input_tokens + 6 * 500


def test_a_long_document_is_sampled_and_scaled():
    whole = estimate([work("annual_report.pdf")], by_model())
    assert whole.pages == 16 and 15 <= whole.calls <= 45


def test_of_many_documents_some_are_sampled_and_the_others_are_like_them(monkeypatch):
    monkeypatch.setattr(estimating, "SAMPLED_DOCUMENTS", 1)
    names = ["maintenance_manual.docx", "paper.pdf", "product_page.html"]
    manual, paper, page = estimate([work(name) for name in names], by_model()).by_document
    assert (paper.pages, page.pages) == (6, 1)
    assert paper.calls == 6 * manual.calls and page.calls == manual.calls


def test_a_file_that_cannot_be_read_is_a_page_without_calls(tmp_path):
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    guess = estimate([work("broken.pdf", tmp_path)], by_model())
    assert (guess.pages, guess.calls) == (1, 0)


def test_what_is_remembered_costs_nothing_and_replies_that_were_kept_are_left_out():
    manual, paper = work("maintenance_manual.docx"), work("paper.pdf")
    before = estimate([manual, paper], by_model()).by_document
    artifacts = ArtifactStore(artifacts_folder())
    key = identify(evolve.name, evolve.version, manual.version)
    StepMemo(steps_folder(), artifacts).remember(manual.document_id, evolve.name, key, {"0": artifacts.put(b"graph")})
    for number in range(5):
        reply = CachedReply("{}", "m", 1, 1, load_prompt("analyze_text").hash)
        CallCache(calls_folder()).keep(paper.document_id, identify(number), reply)
    after = estimate([manual, paper], by_model()).by_document
    assert (after[0].pages, after[0].calls, after[0].input_tokens) == (0, 0, 0)
    assert after[1].calls == before[1].calls - 5 and after[1].input_tokens < before[1].input_tokens


@pytest.mark.torture
def test_replies_to_another_prompt_or_of_another_model_are_asked_for_again(monkeypatch):
    paper, today = work("paper.pdf"), load_prompt("evolve").hash
    (before,) = estimate([paper], by_model()).by_document
    for number, (model, prompt) in enumerate([("m", "yesterday's"), ("m", ""), ("other", today)]):
        CallCache(calls_folder()).keep(paper.document_id, identify(number), CachedReply("{}", model, 1, 1, prompt))
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    for named, kept in (("m", 0), ("other", 1)):
        monkeypatch.setenv("FLOWREADER_CHAT_MODEL", named)
        assert estimate([paper], by_model()).by_document[0].calls == before.calls - kept


def test_the_servers_limits_hold_the_time_back():
    documents = [work("maintenance_manual.docx")]
    quick = estimate(documents, by_model()).seconds
    assert estimate(documents, by_model(limits={"requests_per_minute": 1})).seconds > quick + 60
    assert estimate(documents, by_model(limits={"tokens_per_minute": 1000})).seconds > quick + 60
