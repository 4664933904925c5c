"""An answer is taken apart, and each part is quoted, computed of values that are quoted, or proven by nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.answers import Support
from tasks.algorithms.proof.parts import ProofPiece, prove_parts, split_parts

QUOTED, COMPUTED, UNSUPPORTED = Support.QUOTED, Support.COMPUTED, Support.UNSUPPORTED


def about(text, **more):
    return ProofPiece(text, about=True, **more)


def cited(text, **more):
    return ProofPiece(text, about=True, cited=True, **more)


def proven(question, answer, *pieces):
    """Return each part with its support and what proves it."""
    return [
        (part.text, part.support, *(pieces[place].text for place in part.pieces)) for part in prove_parts(question, answer, pieces)
    ]


DEPTH, HOSES, SOUND, VALVE, WHALES, PROFIT = (
    "The harbour is 20 metres deep.",
    "The 5 hoses of the sound are 1,350 metres long.",
    "The sound is 1,350 metres long, not 1,400.",
    "The valve may be opened at -20 degrees; costs fell by 4 % and rose in 2022.",
    "Whales were seen.",
    "Revenue was 12 million in 2022 and profit was 5 million in 2023.",
)
TABLE = "Model: MT-2 | Rated MW: 1.2 | Energy GWh: 3.39"
PIECES = (*map(about, (DEPTH, HOSES, SOUND, VALVE, WHALES, PROFIT)), about(TABLE, is_row=True))


@pytest.mark.parametrize(
    ("answer", "proving"),
    [
        ("20 metres", DEPTH),
        ("It is 20 metres deep.", DEPTH),
        ("fell by 4%", VALVE),
        ("5%", None),
        ("$5 million", None),
        ("Yes, it is 20 metres deep.", DEPTH),
        ("It is not 20 metres deep.", None),
        ("2 metres", None),
        ("two metres", None),
        ("20 or 35 metres", None),
        ("The harbour is deep.", None),
        ("Yes", None),
        ("", None),
        ("1350 metres long", HOSES),
        ("1350 metres long, not 1400", SOUND),
        ("5 metres", None),
        ("5 hoses", HOSES),
        ("opened at 20 degrees", None),
        ("opened at -20 degrees", VALVE),
        ("rose by 4 %", None),
        ("No whales were seen.", None),
        ("Whales were seen.", WHALES),
        ("3.39", TABLE),
        ("3.39 GWh", TABLE),
        ("1.2 GWh", TABLE),
    ],
)
def test_a_piece_proves_an_answer_that_it_says_in_full(answer, proving):
    (part,) = prove_parts("How deep is the harbour?", answer, PIECES)
    assert [PIECES[place].text for place in part.pieces] == [proving] * (proving is not None)
    assert part.support is (QUOTED if proving else UNSUPPORTED)


@pytest.mark.parametrize(
    ("answer", "support"),
    [
        ("Profit was 12 million in 2023.", UNSUPPORTED),
        ("Profit was 5 million in 2023.", QUOTED),
        ("5 million", QUOTED),
        ("The profit is 2022 million", UNSUPPORTED),
    ],
)
def test_a_number_that_a_piece_gives_for_another_thing_proves_nothing_of_the_one_that_is_asked_about(answer, support):
    assert prove_parts("What was the profit in 2023?", answer, [about(PROFIT)])[0].support is support


REVENUE = about("Total revenue came to £184.6 million.")
PEOPLE = about("At the end of the year 934 people were employed.")


def test_each_part_of_an_answer_has_its_own_proof():
    asked = "What was the total revenue in 2024, and how many people were employed at the end of the year?"
    said = "Total revenue in 2024 was £184.6 million, and 934 people were employed at the end of the year."
    assert proven(asked, said, PEOPLE, REVENUE) == [
        ("Total revenue in 2024 was £184.6 million", QUOTED, REVENUE.text),
        ("934 people were employed at the end of the year.", QUOTED, PEOPLE.text),
    ]
    assert [part[1] for part in proven(asked, said.replace("934", "943"), PEOPLE, REVENUE)] == [QUOTED, UNSUPPORTED]
    assert proven(asked, "$184.6 million", REVENUE) == [("$184.6 million", UNSUPPORTED)]
    assert proven(asked, "£184.6 thousand", REVENUE) == [("£184.6 thousand", UNSUPPORTED)]


def test_a_label_of_a_bar_proves_what_a_model_reads_off_it():
    """The reply is that of a model of 1.5B."""
    labels = "15.3 14.2 14.6 12.9 12.8 12 12.1 11.3 11.8 11.4 10.7 9.2 9.9 8 6.2 5.1 4.6 4.9 4 0 Q1 Q2 Q3 Q4"
    bars = cited(f"Energy delivered in 2024 GWh per quarter Corran Sound Fenwick Narrows Sula Race Braye Channel 20 16 {labels}")
    asked = "How much energy did Sula Race deliver in the fourth quarter of 2024?"
    assert proven(asked, "14.6 GWh", bars) == [("14.6 GWh", QUOTED, bars.text)]
    assert proven(asked, "14.7 GWh", bars) == [("14.7 GWh", UNSUPPORTED)]


@pytest.mark.parametrize(
    ("answer", "piece", "support"),
    [
        ("The light of Kelm is 43 metres tall.", "The light of Kelm was built in 1871 and is 43 metres tall.", QUOTED),
        ("The light of Kelm is 43 metres tall.", "The light of Kelm has 1,871 steps, that of Ord is 43 metres tall.", UNSUPPORTED),
        ("The light of Kelm was lit in 1871.", "The light of Kelm was built in 1869 and lit in 1871.", UNSUPPORTED),
    ],
)
def test_a_year_between_a_thing_and_its_number_is_no_number_of_another_thing(answer, piece, support):
    assert [part.support for part in prove_parts("How tall is the light of Kelm?", answer, [about(piece)])] == [support]


@pytest.mark.parametrize(
    ("question", "answer", "piece", "support"),
    [
        ("How many came?", "more than 45", "Fewer than 45 boats came.", UNSUPPORTED),
        ("How many came?", "fewer than 45", "Fewer than 45 boats came.", QUOTED),
        ("How many came?", "45", "More than 45 boats came.", UNSUPPORTED),
        ("Who won?", "Berlin", "Berlin did not win.", UNSUPPORTED),
        ("Who won?", "Berlin", "Rome did not win, Berlin did.", QUOTED),
        ("Who won?", "Rome", "Rome did not win, Berlin did.", UNSUPPORTED),
        ("Which colour is it?", "blue", "It is not red but blue.", QUOTED),
        ("Which colour is it?", "red", "It is not red but blue.", UNSUPPORTED),
        ("What was the profit in 2023?", "12 million", "Profit was 12 million in 2022 and 5 million in 2023.", UNSUPPORTED),
        ("What was the profit in 2023?", "5 million", "Profit was 12 million in 2022 and 5 million in 2023.", QUOTED),
        ("What was the profit in 2023?", "5 million", "In 2022 profit was 12 million, in 2023 it was 5 million.", QUOTED),
        ("What was the profit in 2023?", "12 million", "In 2022 profit was 12 million, in 2023 it was 5 million.", UNSUPPORTED),
        ("What was the profit in 2023?", "12 million", "Profit was 12 million.", QUOTED),
        ("What was the fee?", "USD 5", "The fee was $5.", QUOTED),
        ("What was the fee?", "5 dollars", "The fee was €5.", UNSUPPORTED),
        ("What was the fee?", "5 ₺", "The fee was 5 ₽.", UNSUPPORTED),
    ],
)
def test_bounds_denials_years_and_currencies_are_those_of_the_number(question, answer, piece, support):
    assert [part.support for part in prove_parts(question, answer, [about(piece)])] == [support]


@pytest.mark.parametrize(
    ("answer", "head", "support"),
    [
        ("5", "", UNSUPPORTED),
        ("7", "", QUOTED),
        ("7 million", "Length, m", UNSUPPORTED),
        ("7 million", "Revenue, $ m", QUOTED),
        ("5 million", "Revenue, $ m", UNSUPPORTED),
    ],
)
def test_in_a_row_a_number_is_that_of_the_year_and_a_letter_is_a_scale_of_money(answer, head, support):
    row = about("Yard: Braye | 2022: 5 | 2023: 7", heads=head, is_row=True)
    assert prove_parts("What was it at Braye in 2023?", answer, [row])[0].support is support


@pytest.mark.parametrize(
    ("question", "answer", "texts", "support"),
    [
        ("By how much did it grow?", "It grew by 3", ("2022: 7", "2023: 10"), COMPUTED),
        ("By how much did it grow?", "It grew by 3", ("2022: 10", "2023: 7"), UNSUPPORTED),
        ("By how much did it fall?", "3", ("2022: 10", "2023: 7"), COMPUTED),
        ("By how much did it fall?", "3", ("2022: 7", "2023: 10"), UNSUPPORTED),
        ("By how much did it change?", "It fell by 3", ("2022: 7", "2023: 10"), UNSUPPORTED),
        ("By how much did it change?", "-3", ("2022: 7 | 2023: 10",), UNSUPPORTED),
        ("By how much did it change?", "-3", ("2022: 10 | 2023: 7",), COMPUTED),
        ("By how much did it fall?", "30 %", ("2022: 10", "2023: 7"), COMPUTED),
        ("By how much did it grow?", "It grew by 3 because Bert bribed the port", ("2022: 7", "2023: 10"), UNSUPPORTED),
        ("By how much did it grow?", "not by 3", ("2022: 7", "2023: 10"), UNSUPPORTED),
        ("How much is it in total?", "55", ("It has 35 km.", "It has 20 metres."), UNSUPPORTED),
        (
            "Is the sound deeper than the harbour?",
            "Yes",
            ("The harbour is 20 km deep.", "The sound is 35 metres deep."),
            UNSUPPORTED,
        ),
        ("How many pumps failed?", "2", ("Pump A failed.", "Pump B failed."), COMPUTED),
        ("How many pumps failed?", "2", ("Pump A failed.", "Pump B never failed."), UNSUPPORTED),
        ("How many pumps failed?", "2", ("Of the pumps 7 failed.", "Pump B failed."), UNSUPPORTED),
    ],
)
def test_what_is_reckoned_has_an_order_and_a_unit_and_proves_no_other_words(question, answer, texts, support):
    pieces = [cited(text, is_row=" | " in text) for text in texts]
    assert [part.support for part in prove_parts(question, answer, pieces)] == [support]


def test_what_nothing_proves_is_one_part():
    assert proven("Who came?", "Ann, Bert and Cleo", about(DEPTH)) == [("Ann, Bert and Cleo", UNSUPPORTED)]


def test_in_a_row_numbers_may_be_in_the_scale_that_stands_over_it():
    row = about("Segment: Services | 2024: 41.2", heads="Revenue, £ million", is_row=True)
    assert proven("What was the revenue of services?", "£41.2 million", row)[0][1] is QUOTED
    assert proven("What was the revenue of services?", "£41.2 thousand", row)[0][1] is UNSUPPORTED


def test_a_heading_that_denies_denies_no_number():
    row = about("Property: Weight without base | Value: 163 t", is_row=True)
    assert proven("How heavy is it?", "163 t", row)[0][1] is QUOTED
    assert proven("What is weighed?", "the base", row)[0][1] is UNSUPPORTED


@pytest.mark.parametrize(
    ("question", "answer", "pieces", "working"),
    [
        ("By how much did the availability change?", "-1.1", ("2023: 95.2", "2024: 94.1"), "94.1 - 95.2 = -1.1"),
        ("By how many points did it grow?", "4 points", ("It was 78 % in 2018.", "It was 82 % in 2019."), ""),
        ("What is the ratio of profit to assets?", "0.627", ("Profit: 9,912", "Assets: 15,803"), "9,912 / 15,803 = 0.627"),
        ("Which share of its revenue went into research?", "10 %", ("Research: 18.4", "Revenue: 184.6"), "18.4 / 184.6 = 10 %"),
        ("How many people work in both yards together?", "630", ("Ellary works: 418", "Braye yard: 212"), "418 + 212 = 630"),
    ],
)
def test_arithmetic_on_what_a_model_quotes_is_done_again(question, answer, pieces, working):
    (part,) = prove_parts(question, answer, [cited(text) for text in pieces])
    if working:
        assert (part.support, part.working, sorted(part.pieces)) == (COMPUTED, working, [0, 1])
    (other,) = prove_parts(question, answer, [about(text) for text in pieces])
    assert other.support is UNSUPPORTED, "what no model quotes is not reckoned with"


def test_the_quotes_of_a_list_are_counted():
    pieces = [cited(f"Turbine {name} stood still.") for name in "ABC"]
    (part,) = prove_parts("How many turbines stood still?", "3", pieces)
    assert (part.support, part.working, part.pieces) == (COMPUTED, "3 quotes counted", (0, 1, 2))
    assert prove_parts("Which turbines stood still?", "3", pieces)[0].support is UNSUPPORTED


@pytest.mark.parametrize(("answer", "support"), [("Yes", COMPUTED), ("No", UNSUPPORTED), ("Yes, the Sound is.", COMPUTED)])
def test_a_yes_is_proven_by_comparing_what_is_asked_about(answer, support):
    pieces = cited("The harbour is 20 metres deep."), cited("The sound is 35 metres deep.")
    (part,) = prove_parts("Is the sound deeper than the harbour?", answer, pieces)
    assert part.support is support
    if support is COMPUTED:
        assert part.working == "35 > 20" and part.pieces == (1, 0)


def test_what_is_in_another_currency_is_not_reckoned_with_and_signs_that_are_no_digits_are_words():
    pieces = [cited("It earned $5 million."), cited("It earned £8 million.")]
    assert all(part.support is UNSUPPORTED for part in prove_parts("How much was it in total?", "13 million", pieces))
    assert proven("Which step?", "Step ❷", about("Step: ❶ | cost: 5", is_row=True))[0][1] is UNSUPPORTED


def test_words_that_say_nothing_prove_nothing_against_a_denial():
    assert prove_parts("Did it grow?", "No, it did not grow.", [cited("It did grow fast.")])[0].support is UNSUPPORTED
    assert prove_parts("Is it deep?", "Yes", [cited("The harbour is not deep.")])[0].support is UNSUPPORTED


def test_a_result_that_two_pairs_of_values_give_is_chance():
    pieces = [cited(f"Row {name}: {value}") for name, value in zip("ABCD", (10, 13, 20, 23), strict=True)]
    assert prove_parts("By how much did it grow?", "3", pieces)[0].support is UNSUPPORTED
    assert prove_parts("By how much did it grow?", "3", pieces[:2])[0].support is COMPUTED


def test_in_words_of_its_own_a_model_may_say_what_it_quotes_where_names_numbers_and_half_of_the_rest_stand_there():
    asked, piece = "Why was the crossing closed?", "The crossing was shut for 3 days because ice had blocked the lock at Ellary."
    for answer, support in (
        ("The lock was blocked by ice", QUOTED),
        ("Ice blocked Braye", UNSUPPORTED),
        ("Ice blocked it for 4 days", UNSUPPORTED),
        ("It was never blocked by ice", UNSUPPORTED),
    ):
        assert prove_parts(asked, answer, [cited(piece)])[0].support is support, answer
    assert prove_parts(asked, "The lock was blocked by ice", [about(piece)])[0].support is UNSUPPORTED


def test_an_answer_is_split_into_what_adds_something():
    assert split_parts("What and when?", "Steel, on 3 May 1987; and rope.") == ["Steel", "on 3 May 1987", "and rope."]
    assert split_parts("Who is the chair of the board?", "Ann, the chair") == ["Ann the chair"]
    assert split_parts("Who?", " ") == [" "]


WORD = st.text("abcdefgh", min_size=4, max_size=7)


@given(st.lists(WORD, min_size=4, max_size=12, unique=True), st.data())
def test_a_run_of_words_is_quoted_and_with_one_word_changed_it_is_not(words, data):
    start = data.draw(st.integers(0, len(words) - 3))
    run = words[start : start + 3]
    piece = about(" ".join(words))
    (part,) = prove_parts("What stands there?", " ".join(run), [piece])
    assert (part.support, part.pieces) == (QUOTED, (0,))
    altered = " ".join([*run[:1], "zzzzzz", *run[2:]])
    assert all(part.support is UNSUPPORTED for part in prove_parts("What stands there?", altered, [piece]))


@given(st.integers(1, 9999), st.integers(1, 9999), st.integers(-3, 3))
def test_a_difference_is_proven_where_it_is_right_and_nowhere_else(before, after, error):
    pieces = cited(f"Before there were {before} boats."), cited(f"Later there were {after} boats.")
    said = after - before + error
    (part,) = prove_parts("By how much did the number grow?", f"{said:+d}", pieces)
    if said in (before, after) or said == 0:
        return
    # The other way round would be a fall.
    right = said in (after - before, before - after) or before == after == 0
    assert (part.support is COMPUTED) == right
