import pytest

from tasks.algorithms.question_names import names_in


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Merrow Tidal Systems pay in New York?", ["Merrow Tidal Systems", "New York"]),
        ("Is the Bank of England in London or the bank of a river?", ["Bank of England", "London"]),
        ("Costs of CS-09 and GPT-4?", ["CS-09", "GPT-4"]),
        ("GDP in May?", ["GDP"]),
        ("Costs in the US?", ["US"]),
        ("Best practices of Best Buy", ["Best Buy"]),
        ("What Is The Revenue Of The Company?", []),
        ("WHAT IS THE REVENUE OF MERROW?", []),
        ("One Two Three Alpha Beta Gamma Delta Epsilon", ["Three Alpha Beta Gamma Delta Epsilon"]),
        ("what costs 3 pounds?", []),
        ("", []),
    ],
)
def test_names_are_capitalised_words_in_a_row(question, names):
    assert [" ".join(name) for name in names_in(question)] == names
