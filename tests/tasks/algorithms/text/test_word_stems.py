import pytest

from tasks.algorithms.text.word_stems import stems_of, words_of


@pytest.mark.parametrize(
    ("word", "stems"),
    [
        ("turbines", ["turbin"]),
        ("COVID-19", ["covid-19", "covid"]),
        ("follow-ups", ["follow-ups", "follow", "ups"]),
        ("and/or", ["and/or"]),
        ("CS-09", ["cs-09"]),
        ("2019/2020", ["2019/2020", "2019", "2020"]),
        ("FY2021", ["fy2021", "2021"]),
        ("1,234.5", ["1234.5"]),
        ("U.S.", ["US"]),
        ("収入高", ["収入", "入高"]),
        ("年", ["年"]),
        ("GDP成長", ["成長", "gdp"]),
    ],
)
def test_a_word_counts_for_itself_and_its_parts(word, stems):
    assert list(stems_of(word)) == stems


def test_signs_are_no_words():
    assert words_of("Up 7%, (net) \u2014 R&D.") == ["Up", "7%", "net", "R&D"]
