import asyncio

import pytest

from tasks.model_settings import ChatBudget, ChatPrices
from tasks.models.chat_budget import Budget, price
from tasks.models.chat_call import Tally
from tasks.models.chat_errors import BudgetReachedError
from tasks.models.chat_request import Request
from tests.tasks.models.chat_worlds import in_virtual_time

REQUEST = Request(b"", input_tokens=60, output_tokens=40)
PRICES = ChatPrices(input_per_million=10, output_per_million=100)


def spend(budget, count, *, used=(60, 40), prices=PRICES, fail=False):
    """Ask so many times at once, each a second long; return what was used, how many were refused and how long it took."""

    async def one(account):
        tally = Tally()
        async with account.spending(REQUEST, tally, 1):
            await asyncio.sleep(1)
            tally.input_tokens, tally.output_tokens = used
            if fail:
                raise OSError

    async def work():
        account = Budget(budget, prices)
        ended = await asyncio.gather(*(one(account) for _ in range(count)), return_exceptions=True)
        return account.used, [error for error in ended if isinstance(error, BudgetReachedError)]

    (amount, refused), seconds = in_virtual_time(work())
    return amount, refused, seconds


def test_without_a_budget_all_go_at_once():
    amount, refused, seconds = spend(ChatBudget(), 50)
    assert (amount.calls, amount.tokens, refused, seconds) == (50, 5000, [], 1)
    assert amount.money == pytest.approx(50 * (60 * 10 + 40 * 100) / 1e6) == pytest.approx(50 * price(60, 40, PRICES))


@pytest.mark.parametrize(
    ("budget", "says"),
    [
        (ChatBudget(calls=7), "the budget of 7 calls is reached: 7 used, the next call may take 1;"),
        (ChatBudget(tokens=799), "the budget of 799 tokens is reached: 700 used, the next call may take 100;"),
        (ChatBudget(money=0.033), "the budget of 0.033 money is reached: 0.0322 used, the next call may take 0.0046;"),
    ],
)
def test_a_budget_is_reached_and_never_overdrawn(budget, says):
    amount, refused, seconds = spend(budget, 50)
    assert amount.calls == 7 and len(refused) == 43 and seconds == 1
    assert str(refused[0]).startswith(says)


def test_what_is_reserved_and_not_needed_is_spent_on_others():
    amount, refused, seconds = spend(ChatBudget(tokens=200), 9, used=(10, 5))
    assert amount.calls == 7 and amount.tokens == 105 and len(refused) == 2 and seconds == 6


def test_a_failed_call_gives_back_what_it_did_not_use():
    amount, refused, _ = spend(ChatBudget(tokens=150), 3, used=(0, 0), fail=True)
    assert (amount.calls, amount.tokens, refused) == (3, 0, [])


def test_a_budget_of_nothing_allows_nothing():
    assert len(spend(ChatBudget(calls=0), 2)[1]) == 2


def test_a_retry_is_no_call_and_is_reserved_like_one():
    async def request(account, calls, seconds, used):
        tally = Tally()
        async with account.spending(REQUEST, tally, calls):
            await asyncio.sleep(seconds)
            tally.input_tokens = used

    async def work():
        account = Budget(ChatBudget(calls=1, tokens=250), PRICES)
        retries = [asyncio.create_task(request(account, 0, seconds, 100)) for seconds in (5, 10)]
        await asyncio.sleep(1)
        third = asyncio.create_task(request(account, 1, 0, 0))
        await asyncio.wait([third], timeout=3)
        assert not third.done()
        ended = await asyncio.gather(third, *retries, return_exceptions=True)
        return account.used, ended

    (used, ended), seconds = in_virtual_time(work())
    assert isinstance(ended[0], BudgetReachedError) and ended[1:] == [None, None]
    assert (used.calls, used.tokens, seconds) == (0, 200, 10)


def test_what_a_retry_holds_is_not_let_go_by_another_that_ends():
    async def request(account, seconds):
        async with account.spending(REQUEST, Tally(), 0):
            await asyncio.sleep(seconds)
        return asyncio.get_running_loop().time()

    async def work():
        account = Budget(ChatBudget(tokens=200), PRICES)
        return await asyncio.gather(*(request(account, seconds) for seconds in (1, 10, 10, 1)))

    assert in_virtual_time(work())[0] == [1, 10, 11, 11]
