"""Figures are told in their unit, with their interval, marked where they are made of few."""

from tasks.evaluation_figures import difference_of
from tasks.evaluation_scoring import OWN, RETURNED, SAME_MEAN, gain_over
from tasks.evaluation_wording import figure_text, named_with_unit
from tests.tasks.evaluation_worlds import figure


def test_shares_are_told_in_percent_and_the_rest_in_its_own_unit():
    assert figure_text(figure("recall@1", value=0.5704, low=0.501, high=0.6379)) == "57.0 (50.1-63.8)"
    assert figure_text(figure(RETURNED, value=6.25, low=5.0, high=7.0)) == "6.2 (5.0-7.0)"
    assert figure_text(figure("input tokens", value=12345.6, low=9000.0, high=15000.0)) == "12,346 (9,000-15,000)"
    assert [named_with_unit(metric) for metric in ("recall@1", "seconds", "recall@1, difference", "seconds, difference")] == [
        "recall@1 (%)",
        "seconds",
        "recall@1, difference (points)",
        "seconds, difference",
    ]


def test_what_compares_two_is_told_with_its_sign_and_zero_is_never_negative():
    assert figure_text(figure(difference_of("recall@1"), value=-0.016, low=-0.03, high=0.002)) == "-1.6 (-3.0 to +0.2)"
    assert figure_text(figure(gain_over(OWN, SAME_MEAN), value=-0.0001, low=-0.02, high=0.0)) == "+0.0 (-2.0 to +0.0)"
    assert figure_text(figure(difference_of(RETURNED), value=1.5, low=1.0, high=2.0)) == "+1.5 (+1.0 to +2.0)"


def test_few_questions_or_documents_are_marked_and_what_is_no_number_is_a_dash():
    assert figure_text(figure("recall@1", questions=9)) == "50.0 (40.0-60.0)*"
    assert figure_text(figure("recall@1", questions=10)) == "50.0 (40.0-60.0)"
    assert figure_text(figure("recall@1", documents=4)) == "50.0 (40.0-60.0)*"
    assert figure_text(figure("recall@1", documents=5)) == "50.0 (40.0-60.0)"
    assert figure_text(figure("recall@1", value=float("nan"))) == "-"
    assert figure_text(figure("recall@1", high=float("inf"))) == "-"


def test_of_one_document_no_interval_is_told():
    assert figure_text(figure("recall@1", value=0.57, low=0.57, high=0.57, documents=1)) == "57.0 (-)*"
    assert figure_text(figure(difference_of("recall@1"), value=0.08, low=0.08, high=0.08, documents=1)) == "+8.0 (-)*"
    assert figure_text(figure("recall@1", documents=2)) == "50.0 (40.0-60.0)*"
