"""What fails in company is asked about alone."""

import pytest
from pydantic import BaseModel, ConfigDict

from tasks.content_graph.asking import ask_in_groups
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import BudgetReachedError, InvalidReplyError, Outcome
from tests.chat_server import Misbehaviour
from tests.tasks.describing_worlds import DOCUMENT, QUICK, model


class Sum(BaseModel):
    model_config = ConfigDict(extra="forbid")

    total: int


def call_about(group):
    return ChatCall("add", DOCUMENT, f"things {list(group)}", f"Add: {' '.join(map(str, group))}", "h", Sum, 50)


def numbers(request):
    return [int(word) for word in request.prompt.removeprefix("Add: ").split()]


def add(request):
    return {"total": sum(numbers(request))}


def ask(chat, groups, **more):
    done = []
    replies = ask_in_groups(chat, groups, call_about, done.append, **more)
    return replies, sum(done)


def test_every_group_gets_its_reply(tmp_path):
    with model(tmp_path, add) as (server, chat):
        replies, done = ask(chat, [[1, 2], [3], [4, 5, 6]])
    assert {tuple(group): value.total for group, value in replies.values} == {(1, 2): 3, (3,): 3, (4, 5, 6): 15}
    assert not replies.errors and done == 6 and server.calls == 3


def test_one_thing_that_always_fails_costs_only_itself(tmp_path):
    def misbehave(request):
        return Misbehaviour.PROSE if 5 in numbers(request) else None

    with model(tmp_path, add, misbehave=misbehave) as (_, chat):
        replies, done = ask(chat, [list(range(1, 5)), list(range(5, 13))])
    assert list(replies.errors) == [5] and isinstance(replies.errors[5], InvalidReplyError)
    assert str(replies.errors[5]).startswith("things [5]")
    assert sorted(thing for group, _ in replies.values for thing in group) == [1, 2, 3, 4, *range(6, 13)]
    assert done == 12


def test_what_is_too_long_for_the_model_is_asked_in_halves(tmp_path):
    def misbehave(request):
        return Misbehaviour.TOO_LONG if len(numbers(request)) > 2 else None

    with model(tmp_path, add, misbehave=misbehave) as (_, chat):
        replies, _ = ask(chat, [list(range(7))])
    assert not replies.errors and sum(value.total for _, value in replies.values) == 21
    assert max(len(group) for group, _ in replies.values) == 2


def test_a_server_that_never_replies_leaves_each_thing_with_its_error(tmp_path):
    patient = QUICK.model_copy(update={"retries": QUICK.retries.model_copy(update={"lost_until_end": 100})})
    with model(tmp_path, add, settings=patient, misbehave=lambda _request: Misbehaviour.ERROR) as (_, chat):
        replies, done = ask(chat, [[1, 2, 3]])
    assert {error.outcome for error in replies.errors.values()} == {Outcome.FAILED}
    assert sorted(replies.errors) == [1, 2, 3] and done == 3


def test_more_groups_than_are_held_at_once_are_all_asked(tmp_path):
    with model(tmp_path, add) as (server, chat):
        replies, done = ask(chat, [[number] for number in range(10)], at_once=3)
    assert len(replies.values) == done == server.calls == 10 and server.most_at_once <= 3


def test_a_budget_that_is_used_up_ends_it_and_what_came_is_kept(tmp_path):
    poor = QUICK.model_copy(update={"budget": QUICK.budget.model_copy(update={"calls": 2})})
    groups = [[number] for number in range(5)]
    with model(tmp_path, add, settings=poor) as (server, chat):
        with pytest.raises(BudgetReachedError, match="budget of 2 calls"):
            ask(chat, groups)
        assert server.calls == 2
    with model(tmp_path, add) as (server, chat):
        replies, _ = ask(chat, groups)
        assert len(replies.values) == 5 and server.calls == 3
