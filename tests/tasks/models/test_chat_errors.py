import pytest

from tasks.models import chat_errors
from tasks.models.chat_errors import BudgetReachedError, ChatEndedError, ChatError, ContextTooLongError, InvalidReplyError, Outcome


def test_an_error_names_its_item_before_all_else():
    error = InvalidReplyError("neither reply can be used")
    assert error.about("page 3 of report.pdf") is error
    assert str(error) == "page 3 of report.pdf: neither reply can be used" and error.outcome == Outcome.INVALID


def test_a_prompt_that_is_too_long_keeps_its_numbers():
    error = ContextTooLongError("too long", input_tokens=5000, limit_tokens=4096).about("page 3")
    assert (str(error), error.input_tokens, error.limit_tokens) == ("page 3: too long", 5000, 4096)


def test_an_item_that_fails_is_never_the_end_of_the_run():
    kinds = [kind for kind in vars(chat_errors).values() if isinstance(kind, type) and issubclass(kind, RuntimeError)]
    assert len(kinds) == 10
    assert all(issubclass(kind, ChatError) != issubclass(kind, ChatEndedError) for kind in kinds)


@pytest.mark.parametrize("kind", [ChatEndedError, *ChatEndedError.__subclasses__()])
def test_what_ended_the_run_can_be_raised_again(kind):
    error = kind("the end")
    assert str(type(error)(*error.args)) == "the end" and issubclass(BudgetReachedError, ChatEndedError)
