"""Which nodes a model is shown, how many in a call, and what of each."""

import pytest

from storage.artifacts import ArtifactStore
from storage.records import NodeKind
from tasks.description_calls import (
    Description,
    Descriptions,
    VisualDescription,
    VisualDescriptions,
    described_places,
    description_calls,
    named,
    says_nothing,
    telling_pictures,
    wrong_description,
)
from tasks.settings import AnalysisSettings, OcrSettings
from tests.scripted_reader import pieces_of
from tests.tasks.describing_worlds import asking_about, node, passages, picture

TAGS = ["chart", "energy", "report"]


def texts(*told):
    return Descriptions(nodes=[Description(id=name, keywords=[], summary=summary, tags=[]) for name, summary in told])


def visual(summary, tags):
    return VisualDescriptions(nodes=[VisualDescription(id="n1", keywords=[], summary=summary, tags=tags, words="")])


def test_each_asked_node_once_and_with_a_summary_is_right():
    assert wrong_description(texts(("n2", "It grows."), ("n1", "It falls.")), ("n1", "n2")) == ""
    assert wrong_description(visual("Figure 1 - it grows", TAGS), ("n1",)) == ""


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ((("n1", "It grows."), ("n9", "It falls.")), "an id stands there that is none of the ids"),
        ((("n1", "It grows."),), "n2 is missing"),
        ((("n1", "It grows."), ("n2", "It falls."), ("n1", "It grows.")), "an id stands twice"),
        ((("n1", "It grows."), ("n2", " ")), "the summary of n2 is empty"),
    ],
)
def test_a_reply_about_other_nodes_or_with_nothing_to_say_is_wrong(told, said):
    assert said in wrong_description(texts(*told), ("n1", "n2"))


def test_an_unknown_id_is_not_repeated():
    assert "obey" not in wrong_description(texts(("obey me", "It grows.")), ("n1",))


def test_a_figure_has_three_tags_unless_it_says_nothing():
    assert "2 tags" in wrong_description(visual("Figure 1 - it grows", TAGS[:2]), ("n1",))
    assert wrong_description(visual("No meaningful information", []), ("n1",)) == ""


@pytest.mark.parametrize("summary", ["No meaningful information", " no meaningful information. ", '"No meaningful information"'])
def test_the_words_of_saying_nothing_are_known_however_they_are_dressed(summary):
    assert says_nothing(Description(id="n1", keywords=[], summary=summary, tags=[]))


LONG = "The tide turns twice a day, and nobody has ever asked it why."


def test_titles_captions_furniture_and_a_few_words_are_not_described():
    nodes = [
        node(0, LONG, NodeKind.TITLE),
        node(1, LONG, NodeKind.CAPTION),
        node(2, LONG, NodeKind.HEADER),
        node(3, "Three short words"),
        node(4, LONG, meaningless=True),
        node(5, LONG),
        node(6, "", NodeKind.TABLE, caption=LONG),
    ]
    assert described_places(nodes, AnalysisSettings(), OcrSettings()) == [5, 6]


def test_a_picture_without_words_is_described_and_an_ornament_or_a_logo_is_not():
    small = (0.0, 0.0, 0.1, 0.1)
    figures = [node(0, "", NodeKind.FIGURE, picture="p", meaningless=True), node(1, "", NodeKind.FIGURE, picture="q", box=small)]
    logos = [node(2 + page, "", NodeKind.FIGURE, picture="logo", page=page) for page in range(3)]
    assert telling_pictures([*figures, *logos], OcrSettings()) == {0: "p"}
    assert described_places([*figures, *logos], AnalysisSettings(), OcrSettings()) == [0]


def test_small_nodes_share_a_call_and_every_node_is_in_one(tmp_path):
    calls = description_calls(asking_about(passages(30), tmp_path))
    shown = [list(pieces_of(call.prompt)) for call in calls]
    assert [len(names) for names in shown] == [16, 14]
    assert [name for names in shown for name in names] == [f"n{place}" for place in range(30)]
    assert calls[0].item == "16 nodes of report.pdf, from 0 to 15" and calls[0].max_output_tokens == 100 + 16 * 300
    assert len({call.prompt.split("Every line that starts")[0] for call in calls}) == 1, "what they begin with a server reads once"


def test_a_call_has_only_so_many_characters_and_pictures(tmp_path):
    assert len(description_calls(asking_about(passages(12), tmp_path, model={"characters_per_call": 500}))) == 2
    artifacts = ArtifactStore(tmp_path / "artifacts")
    figures = [node(place, "", NodeKind.FIGURE, picture=picture(artifacts, size=(80, 60 + place))) for place in range(9)]
    calls = description_calls(asking_about(figures, tmp_path))
    assert [len(call.images) for call in calls] == [4, 4, 1]


def test_a_figure_comes_with_its_picture_its_caption_and_the_text_around(tmp_path):
    name = picture(ArtifactStore(tmp_path / "artifacts"))
    nodes = [
        node(0, LONG),
        node(1, "A title", NodeKind.TITLE),
        node(2, "", NodeKind.FIGURE, picture=name, caption="Figure 2: Tides", section_path=("Sea", "Tides")),
        node(3, "| a | b |\n| --- | --- |\n| 1 | 2 |", NodeKind.TABLE, caption="Table 1: Two by two of something"),
        node(4, "What follows is another story altogether, told at length."),
    ]
    call = description_calls(asking_about(nodes, tmp_path))[1]
    (figure, text), (table, cells) = pieces_of(call.prompt).values()
    assert figure == "n2: figure, picture 1" and table == "n3: table, no picture" and len(call.images) == 1
    assert "Caption: Figure 2: Tides" in text and "Section: Sea > Tides" in text
    assert f"Text before it: {LONG}" in text and "Text behind it: What follows" in text
    assert "| 1 | 2 |" in cells


def test_a_long_text_is_cut_and_says_so(tmp_path):
    nodes = [node(0, LONG * 200), node(1, "| a |\n" * 2000, NodeKind.TABLE)]
    text, table = description_calls(asking_about(nodes, tmp_path, model={"context_characters": 20}))
    assert "characters left out]" in pieces_of(text.prompt)["n0"][1] and len(text.prompt) < 7000
    assert "Text before it: The tide turns [... " in pieces_of(table.prompt)["n1"][1]


def test_a_text_with_a_picture_is_shown_with_it(tmp_path):
    scan = node(0, LONG, picture=picture(ArtifactStore(tmp_path / "artifacts")))
    (call,) = description_calls(asking_about([scan], tmp_path))
    assert pieces_of(call.prompt)["n0"][0] == "n0: text, picture 1" and len(call.images) == 1


@pytest.mark.parametrize(("group", "said"), [([4], "node 4 of a.pdf"), ([4, 7], "2 nodes of a.pdf, from 4 to 7")])
def test_an_error_names_the_nodes(group, said):
    assert named(group, "a.pdf") == said
