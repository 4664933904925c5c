"""The walk goes both ways: an answer that is listed for a document lists that document, and the other way round."""

from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.cleaning.removing import remove_document
from storage.corpus.writer import open_for_writing
from storage.errors import UnknownError
from storage.locations import corpus_location
from storage.records.answers import NamedDocument
from storage.records.documents import WHOLE_PAGE
from storage.runs.log import RunLog
from tasks.lineage.records import Damage, DocumentInRun, RunKind, Standing
from tasks.parsing.parse import parser_identity
from tasks.views.runs import UNNAMED_REMOVAL, AnswerLineageView, DocumentLineageView, lineage_json
from tests.asking_worlds import COAST, TORQUE, WEIGHT, Passage, answer_at, answers_to, at_context, published, written
from tests.lineage_worlds import INGEST, asking_run, call, ingest_run, small_corpus, step, walked
from tests.scripted_answers import Reader, read_by
from tests.storage import worlds
from tests.storage.answer_worlds import answer, named

NAMES = ("report", "paper", "letter")


@pytest.fixture(scope="module")
def asked_corpus(asked_home):
    """The corpus `small`, asked by both readers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLOWREADER_HOME", str(asked_home))
        answers = [*answers_to(COAST, TORQUE, WEIGHT), *answers_to(COAST, WEIGHT, reader="top-k")]
        yield corpus_location("small"), answers


def test_from_an_answer_one_walks_to_the_bytes_the_parser_and_the_run(asked_corpus, cheap_documents):
    location, (coast, *_) = asked_corpus
    told = walked(location, coast.answer_id[:8])
    assert isinstance(told, AnswerLineageView) and (told.answer_id, told.question) == (coast.answer_id, COAST)
    assert (told.snapshot, told.published, told.damaged) == (coast.snapshot, coast.snapshot, ())
    assert told.run.kind is RunKind.ASK and told.run.outcome == "ended" and told.run.began == coast.asked
    assert (told.steps[0].step, told.steps[-1].step, told.calls) == ("keywords", "record", ())
    assert all(step.subject == coast.answer_id for step in told.steps), "three questions share the run"
    assert [(each.page, each.node_id) for each in told.citations] == [(each.page, each.node_id) for each in coast.citations]
    (strategy,) = (each for each in told.documents if each.document.name == "strategy.pptx")
    assert strategy.paths == (str(cheap_documents / "strategy.pptx"),) and strategy.parser == parser_identity()
    assert {step.step for step in strategy.readings[0].steps} >= {"parse", "structure", "analyze", "embed", "evolve"}
    assert strategy.readings[0].published and strategy.readings[0].run.kind is RunKind.INGEST


def test_every_node_of_a_path_has_its_place_and_every_page_its_parser(asked_corpus):
    location, answers = asked_corpus
    for kept in answers:
        told = walked(location, kept.answer_id)
        assert [[node.id for node in path.nodes] for path in told.paths] == [list(path.nodes) for path in kept.paths]
        nodes = [node for path in told.paths for node in path.nodes]
        assert all(node.kind and node.page and node.document_id and node.box != WHOLE_PAGE for node in nodes)
        read = {(each.document_id, page) for each in told.read_by for page in each.pages}
        assert read == {(each.document.id, each.page) for each in (*kept.citations, *kept.evidence_pages)}
        assert {each.parser for each in told.read_by} <= {"mineru", "plain", "ocr", "pdfium"}


USES = st.lists(st.tuples(*[st.lists(st.sampled_from(NAMES), max_size=2)] * 3), max_size=4)


@pytest.fixture(scope="module")
def named_corpus(tmp_path_factory):
    """A corpus that knows three documents by their names."""
    location = worlds.corpus_in(tmp_path_factory.mktemp("world"))
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        corpus.publish(graphs=[], records=[worlds.failed(worlds.graph(name)) for name in NAMES])
    return location


@settings(max_examples=10)
@given(USES)
def test_both_directions_agree_whatever_answers_cite_read_and_rank(named_corpus, given_answers):
    answers, expected = [], set()
    for number, (cited, read, ranked) in enumerate(given_answers):
        paths, pages = answer(*read), answer(*ranked).pages
        whole = replace(answer(*cited), paths=paths.paths, evidence_pages=paths.evidence_pages, pages=pages)
        answers.append(replace(whole, answer_id=f"{number:032x}"[::-1]))
        expected |= {(f"{name}.pdf", answers[-1].answer_id) for name in (*cited, *read)}
    (named_corpus.runs / "ask-aa00bb.jsonl").unlink(missing_ok=True)
    asking_run(named_corpus, "aa00bb", answers)
    forth = {(each.document.name, kept.answer_id) for kept in answers for each in walked(named_corpus, kept.answer_id).documents}
    back = {(f"{name}.pdf", use["answer"]["answer_id"]) for name in NAMES for use in walked(named_corpus, f"{name}.pdf").answers}
    assert back == forth == expected


def test_calls_of_an_answer_are_told_with_their_prompts(tmp_path, home):
    location = published(tmp_path, written("harbour", Passage("The harbour is 20 metres deep.")))
    with at_context(location) as context, read_by(context, Reader({"20 metres deep": "20 metres"})) as (place, _server):
        kept = answer_at(place, "How deep is the harbour?")
    told = walked(location, kept.answer_id)
    assert {call.prompt for call in told.calls} >= {"worker.md"} and told.calls[0].about == kept.answer_id
    assert sum(call.input_tokens for call in told.calls) == kept.usage.input_tokens > 0
    assert told.documents[0].parser.startswith("not known") and told.run.outcome == "ended"


@pytest.fixture
def location(home):
    place = small_corpus(home, *NAMES)
    graphs = [worlds.graph(name) for name in NAMES]
    ingest_run(place, *graphs, paths=["/files/report.pdf", "/files/paper.pdf"])
    asking_run(place, "aa00bb", [answer("report", "paper")], documents=["paper.pdf"])
    return place


def test_of_a_removed_document_no_name_and_no_word_comes_back(location):
    remove_document(location, "paper.pdf", now=True)
    gone = worlds.document_id("paper")
    kept = answer("report", "paper").answer_id
    walks = [walked(location, asked) for asked in (kept, "report.pdf", gone[:8], "ask-aa00bb", "1f2e3d4c")]
    told = "".join(repr(lineage_json(each)) for each in walks)
    assert "paper.pdf" not in told and "words of paper" not in told and "heading of paper" not in told and "SECRET" not in told
    of_answer, _, of_gone, of_asking, of_ingest = walks
    assert UNNAMED_REMOVAL in of_answer.notes and of_answer.documents[1].standing is Standing.GONE
    assert isinstance(of_gone, DocumentLineageView) and [use["cited_pages"] for use in of_gone.answers] == [[2]]
    assert of_gone.document.readings[0].steps, "which run read it is no word of it"
    assert of_asking.parameters["documents_of_nothing_published"] == 1 == of_ingest.parameters["paths_of_nothing_published"]
    with pytest.raises(UnknownError):
        walked(location, "paper.pdf")


def test_an_answer_that_can_be_seen_and_not_read_is_an_error_in_words(location):
    path = location.runs / "ask-aa00bb.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"why": ', b'"wye": '))
    with pytest.raises(UnknownError, match="cannot be read any more"):
        walked(location, answer("report", "paper").answer_id)
    assert len(walked(location, "report.pdf").answers) == 1


REPORT, GONE = worlds.graph("report"), worlds.graph("gone")
EARLIER = NamedDocument(worlds.document_id("report before"), "report.pdf")


def of_earlier(kept):
    """The same answer, of what the report's file held before."""
    cited = replace(kept.citations[0], document=EARLIER, page=7)
    return replace(kept, citations=(cited,), paths=(), evidence_pages=(), answer_id="e" * 32)


@pytest.fixture
def quiet(tmp_path):
    return small_corpus(tmp_path)


def test_an_answer_that_cites_or_read_a_document_is_listed_with_the_pages_the_newest_first(quiet):
    both = answer("report", "paper")
    read = replace(answer("report", asked="2027"), citations=())
    ranked = replace(answer("paper"), pages=both.pages)
    asking_run(quiet, "aa00bb", [both, read, ranked, of_earlier(both)])
    found = walked(quiet, "report.pdf")
    assert [each.document for each in found.earlier] == [EARLIER]
    uses = [(use["answer"]["answer_id"], use["document_id"], use["cited_pages"], use["read_pages"]) for use in found.answers]
    assert uses[0] == (read.answer_id, REPORT.document_id, [], [2])
    assert sorted(uses[1:]) == sorted([(both.answer_id, REPORT.document_id, [2], [2]), ("e" * 32, EARLIER.id, [7], [])]), (
        "an answer that only ranked a page did not use it"
    )
    earlier = walked(quiet, EARLIER.id)
    assert (earlier.document.document, earlier.document.standing, earlier.earlier) == (EARLIER, Standing.REPLACED, ())
    assert [(use["document_id"], use["cited_pages"]) for use in earlier.answers] == [(EARLIER.id, [7])]


def test_another_published_document_of_the_same_name_is_no_earlier_content(quiet):
    copy = replace(worlds.record(worlds.graph("copy")), paths=("/elsewhere/report.pdf",))
    with open_for_writing(quiet, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        corpus.publish(graphs=[worlds.graph("copy")], records=[copy])
    kept = of_earlier(answer("report"))
    cited = replace(kept.citations[0], document=NamedDocument(copy.id, "report.pdf"))
    asking_run(quiet, "aa00bb", [replace(kept, citations=(cited,))])
    assert walked(quiet, REPORT.document_id).answers == () and len(walked(quiet, copy.id).answers) == 1


def test_damaged_files_are_named_whether_or_not_they_name_the_document(quiet):
    asking_run(quiet, "aa00bb", [answer("report")])
    for name, kept in (("bb", answer("paper")), ("cc", answer("report"))):
        path = asking_run(quiet, name, [kept])
        path.write_bytes(path.read_bytes()[:-9])
    (quiet.runs / "ask-dd.jsonl").mkdir()
    (quiet.runs / "3333.jsonl").mkdir()
    found = walked(quiet, "report.pdf")
    unread = (Damage("3333", 0, "Is a directory"), Damage("ask-bb", 1, ""), Damage("ask-cc", 1, ""))
    assert found.damaged == (*unread, Damage("ask-dd", 0, "Is a directory"))
    assert sorted(use["answer"]["run_id"] for use in found.answers) == ["ask-aa00bb", "ask-cc"]


def test_an_ingest_tells_its_documents_and_of_those_that_are_gone_no_name_and_no_word(quiet):
    path = ingest_run(quiet, REPORT, GONE, paths=["/files/report.pdf", "/files/gone.pdf"])
    for graph in (REPORT, GONE):
        RunLog(path).step(step(INGEST, "parse", graph.document_id, error=f"ParseError: {graph.title}.pdf is torn"))
    walk = walked(quiet, INGEST)
    assert (walk.run.kind, walk.run.outcome, walk.damaged) == (RunKind.INGEST, "ended", ())
    assert walk.documents == (
        DocumentInRun(named("report"), True),
        DocumentInRun(NamedDocument(GONE.document_id, ""), False),
    )
    summed = [(each["step"], each["times"], each["failed"]) for each in walk.steps]
    assert summed == [("parse", 4, 2), ("publish", 1, 0), ("evolve", 2, 0)]
    assert [each.error for each in walk.failed] == ["ParseError: report.pdf is torn", "ParseError"]
    assert walk.calls[0]["outcomes"] == {"ok": 2} and walk.parameters["paths_of_nothing_published"] == 1
    assert "gone.pdf" not in repr(asdict(walk)) and walk.settings["reading"]


def test_an_evaluation_counts_questions_by_batches_that_are_no_documents(quiet):
    log = RunLog(quiet.runs / "0123456789ab.jsonl")
    log.begin(run_id="0123456789ab", parameters={"what": "probe"}, settings={}, code_version="1")
    log.step(step("0123456789ab", "ask-batch", "b" * 64, error="ChatEndedError: the server is gone"))
    log.call(call("c" * 64) | {"answer_id": "d" * 32})
    walk = walked(quiet, "0123456789ab")
    assert (walk.run.kind, walk.documents, walk.answers) == (RunKind.EVALUATE, (), ())
    assert walk.run.outcome == "killed" and walk.failed[0].error == "ChatEndedError: the server is gone"
