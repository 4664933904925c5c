import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.values import ValueKind, quoted_values, value_consistency


def shown(text):
    return [
        (" ".join(sorted(value.subject)), " ".join(sorted(value.dates)), value.date or value.number)
        for value in quoted_values(text)
    ]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Revenue in 2024 was \u00a3184.6 million.", [("revenu", "2024", 184.6e6)]),
        ("Revenue rose from 31 to 58 per cent.", [("revenu rose", "", 31.0), ("revenu rose", "", 58.0)]),
        ("Sales were 5 in 2023 and 7 in 2024.", [("sale", "2023", 5.0), ("sale", "2024", 7.0)]),
        ("In 2024, sales were 5.", [("sale", "2024", 5.0)]),
        ("Sales rose from 31 to 58.", []),
        ("Between 2023 and 2024 sales were 5.", []),
        ("Turbine CS-09 ran 71.4 hours in March 2024.", [("cs-09 ran turbin", "2024-03", 71.4)]),
        ("Loss: (1,234)", [("loss", "", -1234.0)]),
        ("The works opened on 12 May 2019.", [("open work", "", "2019-05-12")]),
        ("It was founded on May 12, 2019 in Braye.", [("bray found", "", "2019-05-12")]),
        ("It opens in June.", [("open", "", "--06")]),
        ("Sales (see Table 3 and paragraph 14) were 5.", [("paragraph sale", "", 5.0)]),
        ("12, 13", []),
        ("No value here.", []),
        ("", []),
    ],
)
def test_a_sentence_gives_its_values_with_what_stands_before_them(text, values):
    assert shown(text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Table 1: Revenue | Segment: Sales | 2024: 98.4 | 2023: 81.9", [("sale", "2024", 98.4), ("sale", "2023", 81.9)]),
        ("Table 3: Units | Unit: CS-09 | Availability %: 71.4 | Model: MT-2", [("avail cs-09 mt-2", "", 71.4)]),
        ("Year: 2019 | Sales: 5 GWh", [("sale", "2019", 5.0)]),
        ("Market: Aldre | First order: June 2026", [("aldr order", "", "2026-06")]),
        ("Costs | 2024: 5", []),
        ("Item: Fee | Note: paid 3 times by another company", []),
        ("Item: Fee | Year ended: 5 | Year ended: 7", []),
        ("only | words", []),
    ],
)
def test_a_row_gives_its_cells_with_the_words_of_row_and_column(text, values):
    assert shown(text) == values


def test_percentages_are_a_kind_of_their_own():
    kinds = [value.kind for value in quoted_values("Unit: A1 | Share %: 5 | Growth: 7 % | Costs: 9")]
    assert kinds == [ValueKind.PERCENTAGE, ValueKind.PERCENTAGE, ValueKind.NUMBER]


@given(st.text(max_size=120))
def test_any_text_can_be_read(text):
    assert all(value.subject for value in quoted_values(text))


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
