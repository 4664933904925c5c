import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.value_consistency import value_consistency


def consistency(*quotes, most_pairs=10):
    sources = range(len(quotes))
    return value_consistency(quotes=quotes, sources=sources, same_subject=0.5, tolerance=0.005, most_pairs=most_pairs)


@pytest.mark.parametrize(
    ("quotes", "share"),
    [
        (["Revenue in 2024 was \u00a3184.6 million.", "Item: Revenue | 2024: 184.6 | 2023: 152.3"], 1.0),
        (["Revenue in 2024 was \u00a3184.6 million.", "Item: Revenue | 2024: 180.1 | 2023: 152.3"], 0.0),
        (["Revenue in 2024 was 184.6.", "Revenue in 2023 was 152.3."], 1.0),
        (["Coverage was 42 %.", "Coverage was 38 %."], 0.0),
        (["Coverage was 42 %.", "Coverage was 38."], 1.0),
        (["Availability of CS-09 was 42.", "Availability of CS-01 was 38."], 1.0),
        (["It opened in 2019 in Braye.", "It opened in Braye on 12 May 2019."], 1.0),
        (["It opened in 2019 in Braye.", "It opened in Braye in May 2020."], 0.0),
        (["Fees were 5.", "Fees were 5.0.", "Fees were 7."], 1 / 3),
        (["Fees were 5.", "Fees were 5."], 1.0),
        (["Fees were 0.", "Fees were 0.0."], 1.0),
        (["Fees were 5 and 7."], 1.0),
        ([], 1.0),
    ],
)
def test_values_of_one_subject_must_agree(quotes, share):
    assert consistency(*quotes) == pytest.approx(share)


def test_no_more_pairs_are_looked_at_than_asked():
    assert consistency("Fees were 5.", "Fees were 5.0.", "Fees were 7.", most_pairs=1) == 1.0
    assert consistency("Fees were 5.", "Fees were 7.", most_pairs=0) == 1.0


def test_one_passage_does_not_contradict_itself():
    quotes = ["Fees were 5.", "Fees were 7."]
    assert value_consistency(quotes=quotes, sources=[3, 3], same_subject=0.5, tolerance=0.005, most_pairs=10) == 1.0


@given(st.lists(st.sampled_from(["Fees were 5.", "Fees were 7.", "Item: Fees | 2024: 5", "Costs were 3."]), max_size=6))
def test_a_consistency_is_a_share_and_does_not_depend_on_repetition(quotes):
    share = consistency(*quotes, most_pairs=100)
    assert 0.0 <= share <= 1.0
    assert consistency(*quotes, *quotes, most_pairs=100) == share
