from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Block, NodeKind
from tasks.algorithms.layout.boxes import Element
from tasks.algorithms.layout.passages import cut_text, join_texts, shape_passages


def paragraph(serial, text, box=(0.1, 0.1, 0.5, 0.2), page=1, kind=NodeKind.PARAGRAPH):
    return Element(serial, page, Block(kind=kind, text=text, box=box))


def shape(*elements):
    return shape_passages(elements, merge_words=6, split_words=20)


def down(place):
    return (0.1, place / 20, 0.5, (place + 1) / 20)


def test_short_neighbours_are_joined_up_to_the_limit_in_the_box_around_them():
    shaped = shape(
        paragraph(0, "One two.", down(1)), paragraph(1, "Three four.", down(2)), paragraph(2, "Five six seven.", down(3))
    )
    assert [element.block.text for element in shaped] == ["One two.\nThree four.", "Five six seven."]
    assert shaped[0].block.box == (0.1, 0.05, 0.5, 0.15)


def test_titles_pages_and_columns_part_passages():
    other = (0.6, 0.01, 0.9, 0.02)
    shaped = shape(
        paragraph(0, "a", down(1)),
        paragraph(1, "T", down(2), kind=NodeKind.TITLE),
        paragraph(2, "b", down(3)),
        paragraph(3, "c", other),
        paragraph(4, "d", other, page=2),
    )
    assert [element.block.text for element in shaped] == ["a", "T", "b", "c", "d"]


def test_fragments_of_a_line_are_one_line():
    cells = [paragraph(0, "Total", (0.1, 0.1, 0.2, 0.12)), paragraph(1, "164", (0.7, 0.1, 0.8, 0.12), kind=NodeKind.LIST)]
    (line,) = shape(*cells)
    assert (line.block.text, line.block.kind) == ("Total 164", NodeKind.PARAGRAPH)


def test_items_of_a_list_stay_a_list():
    (both,) = shape(paragraph(0, "- a", down(1), kind=NodeKind.LIST), paragraph(1, "- b", down(2), kind=NodeKind.LIST))
    assert both.block.kind is NodeKind.LIST


def test_lines_are_joined_as_they_were_read():
    assert join_texts("stan-", "dard", same_line=False) == "standard"
    assert join_texts("runs,", "on", same_line=False) == "runs, on"
    assert join_texts("Ends.", "Begins", same_line=False) == "Ends.\nBegins"


def test_a_long_paragraph_is_cut_at_sentences_into_balanced_pieces_that_continue():
    text = " ".join(f"Sentence {n} has five words." for n in range(10))
    shaped = shape(paragraph(0, text))
    assert [len(element.block.text.split()) for element in shaped] == [15, 20, 15] or all(
        10 <= len(element.block.text.split()) <= 20 for element in shaped
    )
    assert [element.block.continues for element in shaped] == [False, *[True] * (len(shaped) - 1)]
    assert all(element.block.text.endswith("words.") for element in shaped)
    assert len({element.serial for element in shaped}) == len(shaped)


def test_abbreviations_end_no_sentence():
    pieces = cut_text("We see in Fig. 3 that it works well. But then et al. 2020 say other things.", 10)
    assert pieces == ["We see in Fig. 3 that it works well.", "But then et al. 2020 say other things."]


def test_code_is_not_cut_and_a_long_sentence_is():
    (code,) = shape(paragraph(0, "x " * 50, kind=NodeKind.CODE))
    assert code.block.text == "x " * 50
    assert [len(piece.split()) for piece in cut_text("x " * 50, 20)] == [17, 16, 17]
    assert shape_passages([], merge_words=5, split_words=5) == []


@given(st.lists(st.sampled_from(["word", "end.", "Why?", "3.5", "e.g.", "中文。"]), max_size=120), st.integers(1, 30))
def test_cutting_loses_no_word_and_no_piece_is_too_long(words, most):
    text = " ".join(words)
    pieces = cut_text(text, most)
    assert " ".join(pieces).split() == text.split() or "".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert all(len(cut_text(piece, most)) == 1 for piece in pieces)
