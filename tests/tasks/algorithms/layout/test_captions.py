import pytest

from storage.records.documents import Block, NodeKind
from tasks.algorithms.layout.boxes import Element
from tasks.algorithms.layout.captions import join_captions, read_label


def element(serial, kind, text, box, page=1, **more):
    return Element(serial, page, Block(kind=kind, text=text, box=box, **more))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Figure 3: Growth", "Figure 3"),
        ("Fig. 2. Growth of it", "Figure 2"),
        ("Table 4 - Costs", "Table 4"),
        ("TABLE IV Costs", "Table IV"),
        ("Exhibit 1", "Exhibit 1"),
        ("Chart 5", "Chart 5"),
        ("Fig. 3a. A part", "Figure 3"),
        ("Table A.1: More", "Table A.1"),
        ("Figure 1\u20132: More", "Figure 1-2"),
        ("Figure 3 shows growth", ""),
        ("Exhibit No.", ""),
        ("Source: Table 3", ""),
        ("Figures are in millions", ""),
    ],
)
def test_a_caption_opens_with_its_label_and_a_sentence_does_not(text, label):
    assert read_label(text) == label


def test_the_nearest_figure_gets_the_caption_and_keeps_its_place_in_reading_order():
    page = [
        element(0, NodeKind.FIGURE, "", (0.1, 0.1, 0.5, 0.3)),
        element(1, NodeKind.PARAGRAPH, "Figure 1: Above it.", (0.1, 0.31, 0.5, 0.33)),
        element(2, NodeKind.FIGURE, "", (0.1, 0.4, 0.5, 0.6)),
    ]
    first, caption, second = join_captions(page)
    assert (first.label, first.block.caption) == ("Figure 1", "Figure 1: Above it.")
    assert (caption.block.kind, caption.caption_of, caption.label) == (NodeKind.CAPTION, 0, "Figure 1")
    assert second.label == ""


def test_habits_decide_between_equal_distances():
    page = [
        element(0, NodeKind.TABLE, "a", (0.1, 0.1, 0.5, 0.3)),
        element(1, NodeKind.PARAGRAPH, "Table 1: Below is mine.", (0.1, 0.32, 0.5, 0.34)),
        element(2, NodeKind.TABLE, "b", (0.1, 0.36, 0.5, 0.6)),
    ]
    assert join_captions(page)[1].caption_of == 2


def test_a_second_caption_finds_its_figure_taken():
    page = [
        element(0, NodeKind.FIGURE, "", (0.1, 0.1, 0.5, 0.3)),
        element(1, NodeKind.PARAGRAPH, "Figure 1: Near.", (0.1, 0.31, 0.5, 0.33)),
        element(2, NodeKind.PARAGRAPH, "Figure 2: Less near.", (0.1, 0.34, 0.5, 0.36)),
    ]
    assert [part.caption_of for part in join_captions(page)] == [None, 0, None]


def test_a_caption_next_to_its_figure_is_joined_and_one_in_another_column_is_not():
    beside = element(1, NodeKind.CAPTION, "A view", (0.51, 0.1, 0.7, 0.3))
    away = element(2, NodeKind.CAPTION, "No view", (0.51, 0.4, 0.7, 0.5))
    joined = join_captions([element(0, NodeKind.FIGURE, "", (0.1, 0.1, 0.5, 0.3)), beside, away])
    assert [part.caption_of for part in joined] == [None, 0, None]


def test_the_parsers_caption_and_footnote_become_elements_of_their_own():
    box = (0.1, 0.2, 0.5, 0.3)
    above = element(0, NodeKind.TABLE, "", box, caption="Table 1: A", caption_box=(0.1, 0.1, 0.5, 0.15), footnote="in USD")
    below = element(1, NodeKind.FIGURE, "", box, caption="A view", page=2, caption_box=(0.1, 0.31, 0.5, 0.33))
    boxless = element(2, NodeKind.FIGURE, "", box, caption="A view", page=3)
    joined = join_captions([above, below, boxless])
    kinds = [part.block.kind.value for part in joined]
    assert kinds == ["caption", "table", "footnote", "figure", "caption", "figure", "caption"]
    assert len({part.serial for part in joined}) == 7
    assert joined[1].label == joined[0].label == "Table 1"
    assert joined[4].caption_of == 1


def test_a_joined_figure_keeps_its_footnote():
    figure = element(0, NodeKind.FIGURE, "", (0.1, 0.2, 0.5, 0.3), footnote="2024")
    caption = element(1, NodeKind.PARAGRAPH, "Figure 1: Growth", (0.1, 0.31, 0.5, 0.33))
    assert [part.block.text for part in join_captions([figure, caption])] == ["", "2024", "Figure 1: Growth"]


def test_a_title_without_a_table_stays_a_title_with_its_label_and_long_text_stays_text():
    title = element(0, NodeKind.TITLE, "Table 7: Text", (0.1, 0.1, 0.5, 0.12))
    text = element(1, NodeKind.PARAGRAPH, "Table 7: " + "word " * 260, (0.1, 0.2, 0.5, 0.5))
    joined = join_captions([title, text])
    assert [(part.block.kind, part.label) for part in joined] == [(NodeKind.TITLE, "Table 7"), (NodeKind.PARAGRAPH, "")]
    assert join_captions([]) == []
