"""Runs are found in the UI by what they are about."""

from flows.run_labels import LONGEST_NAME, first_of


def test_a_name_is_one_short_line():
    assert first_of(("What is\nthis?",)) == "What is this?"
    assert first_of(("a", "b", "c")) == "a and 2 more"
    assert len(first_of(("x" * 500,))) == LONGEST_NAME
    assert first_of(()) == "nothing"


def test_each_flow_names_its_run_and_tags_it(deployed):
    runs = {name: tags for name, tags in deployed["runs"]}
    question = next(name for name in runs if name.startswith("With which torque"))
    assert question.endswith("and 1 more") and runs[question] == ["flow", "small"]
    assert runs[str(deployed["home"] / "in")] == ["tides"]
    assert runs["probe of small"] == ["probe", "top-k"]
    assert runs["maintain every corpus"] == ["small", "tides"] and runs["maintain small"] == ["small"]
