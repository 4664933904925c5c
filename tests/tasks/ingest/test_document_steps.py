"""The steps that make a graph of a document: what embedding, missing replies and pages without words come to, and their keys."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from storage.artifacts import ArtifactStore
from storage.records.documents import DocumentState, EmbedderIdentity, Page, PageParser, ParsedDocument, ParsedPage
from storage.records.embedded import Embedded
from tasks.asking.candidates import find_candidates
from tasks.asking.question import ask_for_keywords
from tasks.finding.plan import DocumentWork
from tasks.ingest import keys
from tasks.ingest.steps import (
    TooFewRepliesError,
    add_notes,
    analyze,
    embed,
    embed_nodes,
    judge_links,
    page_vectors,
    parse,
    require_enough_replies,
    require_something_to_read,
    structure,
)
from tasks.models.chat.errors import ChatError, Outcome
from tasks.models.embedding.vectors import unit_vectors
from tasks.parsing.parse import ParseError
from tasks.reading.paths import judge, read_paths
from tasks.reading.synthesis import synthesize
from tasks.routing.chains import refine
from tasks.settings.ingest import IngestSettings, LimitSettings
from tests.tasks.describing_worlds import node


def parsed_page(parser, image=None, note=""):
    return ParsedPage(number=1, width_points=1, height_points=1, parser=parser, blocks=(), image=image, note=note)


@pytest.mark.parametrize(
    ("page", "enabled", "state", "words"),
    [
        (parsed_page(PageParser.NONE, image="i" * 64), False, DocumentState.OCR_REQUIRED, "ocr.enabled = true"),
        (parsed_page(PageParser.NONE, note="MinerU used more than 3072 MB"), True, DocumentState.FAILED, "more than 3072 MB"),
        (parsed_page(PageParser.NONE), True, DocumentState.FAILED, "no page holds text"),
    ],
)
def test_a_document_in_which_nothing_can_be_read_fails_with_the_reason(page, enabled, state, words):
    parsed = ParsedDocument("d" * 64, "application/pdf", "", (page,))
    with pytest.raises(ParseError) as raised:
        require_something_to_read(parsed, ocr_enabled=enabled)
    assert raised.value.state is state and words in raised.value.reason
    require_something_to_read(replace(parsed, pages=(parsed_page(PageParser.MINERU),)), ocr_enabled=True)


class CountingEmbedder:
    """A tiny embedder whose vector says how long a text is; it remembers its batches."""

    identity = EmbedderIdentity("lengths", "fp32", 2)

    def __init__(self):
        self.batches = []

    def embed_documents(self, texts):
        self.batches.append(list(texts))
        return Embedded(unit_vectors([[len(text), 1] for text in texts], count=len(texts), dimension=2, source="lengths"))


def test_batches_are_cut_in_node_order_and_reported():
    embedder, seen = CountingEmbedder(), []
    texts = ["a" * length for length in (5, 1, 4, 2, 3)]
    vectors = embed_nodes(texts=texts, embedder=embedder, batch_nodes=2, on_nodes=lambda *done: seen.append(done)).vectors
    assert embedder.batches == [texts[:2], texts[2:4], texts[4:]]
    assert seen == [(2, 5), (4, 5), (5, 5)]
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], [5, 1, 4, 2, 3], rtol=1e-5)
    assert embed_nodes(texts=[], embedder=embedder, batch_nodes=2, on_nodes=lambda *_: None).vectors.shape == (0, 2)


def page(number, note=""):
    return Page(str(number), "d", "v", number, None, 600, 800, PageParser.MINERU, note, "", None)


def test_a_page_is_the_mean_of_its_nodes_by_words_and_an_empty_page_is_zero():
    vectors = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    nodes = [node(0, "word " * 3), node(1, "word " * 4), node(2, page=3)]
    means = page_vectors(pages=[page(1), page(2), page(3)], nodes=nodes, vectors=vectors)
    np.testing.assert_allclose(means, [[0.6, 0.8], [0, 0], [0, 1]], atol=1e-7)
    assert means.dtype == np.float32
    with pytest.raises(ValueError, match="zip"):
        page_vectors(pages=[page(1)], nodes=nodes[:1], vectors=np.eye(2, dtype=np.float32))


LOST = ChatError("node 3 of a.pdf: no reply")
WRONG, DECLINED = ChatError("wrong twice", Outcome.INVALID), ChatError("no", Outcome.REFUSED)


def test_a_few_failures_are_borne_and_many_are_not():
    require_enough_replies({3: LOST}, asked=2, share=0.2)
    require_enough_replies({3: LOST, 4: LOST}, asked=10, share=0.2)
    with pytest.raises(TooFewRepliesError, match=r"3 of 10 nodes .* node 3 of a\.pdf.* next ingest"):
        require_enough_replies({3: LOST, 4: LOST, 5: WRONG}, asked=10, share=0.2)
    require_enough_replies({}, asked=0, share=0.0)


def test_only_what_no_reply_came_for_may_be_mended_by_asking_again():
    assert keys.may_be_mended({1: WRONG, 2: LOST})
    assert not keys.may_be_mended({1: WRONG, 2: DECLINED}) and not keys.may_be_mended({})


def test_a_page_says_how_many_of_its_nodes_have_no_description_and_why():
    nodes = [node(0), node(1, page=2), node(2, page=2), node(3, page=2)]
    pages = [page(1), page(2, "text layer read by pdfium"), page(3)]
    noted = add_notes(pages, [one.page for one in nodes], {1: WRONG, 2: LOST, 3: WRONG}, "described by rules")
    assert noted[0] == pages[0] and noted[2] == pages[2]
    assert noted[1].note == (
        "text layer read by pdfium; 3 elements described by rules, because the model gave no usable reply (failed, invalid 2 times)"
    )
    (alone,) = add_notes([page(1)], [1], {0: DECLINED}, "described by rules")
    assert alone.note.startswith("1 element described by rules") and alone.note.endswith("(refused)")


WORK = DocumentWork("d" * 64, "v" * 64, "/in/a.pdf", ("/in/a.pdf",), 3, "")


def tools(tmp_path, **changes):
    return keys.IngestTools(IngestSettings(**changes), ArtifactStore(tmp_path), CountingEmbedder())


def test_limits_do_not_enter_a_key_and_settings_do(tmp_path):
    usual = keys.parse_key(WORK, tools(tmp_path))
    assert keys.parse_key(WORK, tools(tmp_path, limits=LimitSettings(memory_megabytes=500))) == usual
    for reading in ({"parse": {"crop_dpi": 100}}, {"ocr": {"enabled": False}}):
        assert keys.parse_key(WORK, tools(tmp_path, reading=reading)) != usual
    assert keys.vectors_key(WORK, ("a",), tools(tmp_path)) != keys.vectors_key(WORK, ("b",), tools(tmp_path))


def test_pictures_are_those_of_pages_and_blocks():
    pages = (parsed_page(PageParser.OCR, image="i" * 64), parsed_page(PageParser.OCR))
    parsed = ParsedDocument("d" * 64, "application/pdf", "", pages)
    assert keys.pictures_of(parsed) == {"i" * 64}


def test_a_step_has_the_tag_of_a_model_only_where_it_asks_one_in_this_run(tmp_path):
    by_rules = tools(tmp_path)
    by_model = tools(tmp_path, reading={"analysis": {"by": "model"}})
    served = replace(by_model, embedder=SimpleNamespace(identity=EmbedderIdentity("e", "served", 2)), chat=object())

    def tags(work_tools):
        return [step.tag("work", (), work_tools) for step in (parse, structure, analyze, embed)]

    assert tags(by_rules) == ["parse", "", "", ""] and tags(served) == ["parse", "", "model", "model"]
    assert tags(replace(by_rules, chat=object())) == ["parse", "", "", ""], "only the map is asked for"
    rules, model = (SimpleNamespace(reader=SimpleNamespace(model=name), embedder=by_rules.embedder) for name in ("", "m"))
    for step in (ask_for_keywords, read_paths, judge, refine, synthesize):
        assert (step.tag("question", rules), step.tag("question", model)) == ("", "model")
    assert find_candidates.tag("question", model) == ""


def test_what_only_asks_a_model_leaves_the_second_try_to_it():
    assert [one.retries for one in (judge_links, read_paths, judge, synthesize)] == [0] * 4
