from tasks.algorithms.verbatim import verbatim_terms, without_controls


def test_only_terms_of_the_source_stay_whatever_their_case_and_spaces():
    source = "The Corran\nSound array  delivered 4.2 GWh in 2021."
    told = ["corran sound", "Corran Sound", "tidal energy", "4.2 GWh", "2021"]
    assert verbatim_terms(terms=told, source=source, limit=10) == ("corran sound", "4.2 GWh", "2021")


def test_without_a_source_every_term_stays():
    assert verbatim_terms(terms=["Axis", "legend", "axis"], source=None, limit=10) == ("Axis", "legend")


def test_signs_of_formulas_go_and_a_term_of_nothing_else_goes_whole():
    source = r"where $x_{i}$ is the power \alpha"
    assert verbatim_terms(terms=[r"$x_{i}$", "$ {}", "power"], source=source, limit=10) == ("x_ i", "power")


def test_there_are_no_more_terms_than_asked_for():
    assert verbatim_terms(terms=["a", "b", "c"], source="a b c", limit=2) == ("a", "b")


def test_controls_become_spaces():
    assert without_controls("a\x00b\n\tc\x1b[31m d\x85") == "a b c [31m d"
    assert without_controls("क्‍ष stays") == "क्‍ष stays"
