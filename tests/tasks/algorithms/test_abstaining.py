import pytest

from tasks.algorithms.abstaining import abstains


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n",
        "Not answerable",
        "Not  answerable\n by the text",
        "unanswerable.",
        "not found in these documents",
        "The question cannot be answered.",
        "The answer is not given in the text",
        "This can't be determined from the passages.",
        "Unknown",
        "No information is given about it.",
        "The document does not mention any bike, or its colour.",
        "These documents don't say who.",
        "Insufficient information",
        "I don't know",
        "fail to answer",
        "None",
        "N/A",
    ],
)
def test_what_says_that_there_is_no_answer_abstains(answer):
    assert abstains(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "No",
        "0",
        "None of the three",
        "Not answerable, but about 5",
        "It was not found guilty",
        "The report does not support wars",
        "nation",
    ],
)
def test_what_says_something_does_not(answer):
    assert not abstains(answer)
