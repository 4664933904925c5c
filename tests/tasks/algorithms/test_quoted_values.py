import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.quoted_values import ValueKind, quoted_values


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
        ("It was founded on May 12, 2019 in Braye.", [("braye found", "", "2019-05-12")]),
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
        ("Table 3: Units | Unit: CS-09 | Availability %: 71.4 | Model: MT-2", [("availability cs-09 mt-2", "", 71.4)]),
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
