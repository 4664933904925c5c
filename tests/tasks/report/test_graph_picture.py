"""The evidence graph as a file of its own: XML that needs nothing beside itself."""

from xml.etree import ElementTree

import pytest

from tasks.report.gathering import gather_evidence
from tasks.report.graph_picture import draw_picture
from tasks.report.page_pictures import PictureDesk
from tasks.report.report_settings import ReportSettings
from tasks.settings import LimitSettings, WorkSettings
from tests.tasks.report.report_worlds import a_path, an_answer, cite, squares_and_letter

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with squares_and_letter(tmp_path_factory.mktemp("world")) as (snapshot, artifacts, paper, (square, *_), letter, (table, *_)):
        citations = (cite(square, paper), cite(table, letter, "Part: <Gearbox> & more"))
        answer = an_answer(citations, (a_path(0.5, square, table, names={paper.id: paper.name}),))
        desk = PictureDesk(artifacts, ReportSettings(), LimitSettings(), WorkSettings())
        yield answer, gather_evidence(answer, snapshot, desk)


def test_it_is_one_drawing_with_its_style_inside(world):
    answer, evidence = world
    picture = ElementTree.fromstring(draw_picture(answer, evidence, ReportSettings()))
    assert picture.tag == f"{SVG}svg" and picture.get("viewBox")
    assert ".ribbon" in picture.find(f"{SVG}style").text
    assert [words.text for words in picture.iter(f"{SVG}text")].count("Question") == 1
    assert not list(picture.iter(f"{SVG}image"))


def test_without_paths_there_is_none(world):
    answer, evidence = world
    assert draw_picture(an_answer(answer.citations), evidence, ReportSettings()) == ""
