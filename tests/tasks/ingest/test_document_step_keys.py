"""What a step makes is found again by what decides it, and by nothing else."""

from storage.artifacts import ArtifactStore
from storage.records.documents import EmbedderIdentity, PageParser, ParsedDocument, ParsedPage
from tasks.finding.plan import DocumentWork
from tasks.ingest import keys
from tasks.settings.ingest import IngestSettings, LimitSettings


class NamedEmbedder:
    identity = EmbedderIdentity("tiny", "fp32", 4)


WORK = DocumentWork("d" * 64, "v" * 64, "/in/a.pdf", ("/in/a.pdf",), 3, "")


def tools(tmp_path, **changes):
    return keys.Tools(IngestSettings(**changes), ArtifactStore(tmp_path), NamedEmbedder())


def test_limits_do_not_enter_a_key_and_settings_do(tmp_path):
    usual = keys.parse_key(WORK, tools(tmp_path))
    assert keys.parse_key(WORK, tools(tmp_path, limits=LimitSettings(memory_megabytes=500))) == usual
    for reading in ({"parse": {"crop_dpi": 100}}, {"ocr": {"enabled": False}}):
        assert keys.parse_key(WORK, tools(tmp_path, reading=reading)) != usual
    assert keys.vectors_key(WORK, ("a",), tools(tmp_path)) != keys.vectors_key(WORK, ("b",), tools(tmp_path))


def page(parser, image=None):
    return ParsedPage(number=1, width_points=1, height_points=1, parser=parser, blocks=(), image=image, note="")


def test_pictures_are_those_of_pages_and_blocks():
    parsed = ParsedDocument("d" * 64, "application/pdf", "", (page(PageParser.OCR, image="i" * 64), page(PageParser.OCR)))
    assert keys.pictures_of(parsed) == {"i" * 64}
