"""The steps that make a graph of a document: keyed by what decides them, refusing what cannot be read."""

from dataclasses import replace

import pytest

from storage.records import DocumentState, PageParser, ParsedDocument, ParsedPage
from tasks import document_steps as steps
from tasks.parsing import ParseError


def page(parser, image=None, note=""):
    return ParsedPage(number=1, width_points=1, height_points=1, parser=parser, blocks=(), image=image, note=note)


@pytest.mark.parametrize(
    ("pages", "enabled", "state", "said"),
    [
        ([page(PageParser.NONE, image="i" * 64)], False, DocumentState.OCR_REQUIRED, "ocr.enabled = true"),
        ([page(PageParser.NONE, note="MinerU used more than 3072 MB")], True, DocumentState.FAILED, "more than 3072 MB"),
        ([page(PageParser.NONE)], True, DocumentState.FAILED, "no page holds text"),
    ],
)
def test_a_document_in_which_nothing_can_be_read_fails_with_the_reason(pages, enabled, state, said):
    parsed = ParsedDocument("d" * 64, "application/pdf", "", tuple(pages))
    with pytest.raises(ParseError) as raised:
        steps.require_something_to_read(parsed, ocr_enabled=enabled)
    assert raised.value.state is state and said in raised.value.reason


def test_a_document_without_words_in_a_page_that_was_read_is_fine():
    parsed = ParsedDocument("d" * 64, "application/pdf", "", (page(PageParser.MINERU),))
    steps.require_something_to_read(replace(parsed, title="empty but read"), ocr_enabled=True)
