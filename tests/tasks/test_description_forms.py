import pytest

from tasks.description_forms import (
    Description,
    Descriptions,
    VisualDescription,
    VisualDescriptions,
    says_nothing,
    wrong_description,
)

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
