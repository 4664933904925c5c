import pytest

from tasks.model_settings import ChatRetries
from tasks.models.chat_faults import FaultError, FaultKind
from tasks.models.chat_patience import Patience
from tests.tasks.models.chat_worlds import in_virtual_time


def tried(kind, retries, **more):
    """How many requests a fault that stays gets, and how long that takes."""

    async def work():
        patience, requests = Patience(retries), 1
        while await patience.after(FaultError(kind, "", **more)):
            requests += 1
        return requests

    return in_virtual_time(work())


@pytest.mark.parametrize("kind", [FaultKind.UNWELL, FaultKind.DOWN])
def test_a_failing_request_is_sent_so_many_times_with_growing_waits(kind):
    requests, seconds = tried(kind, ChatRetries(attempts=6, first_wait_seconds=1, longest_wait_seconds=4))
    assert requests == 6
    assert (1 + 2 + 4 + 4 + 4) / 10 <= seconds <= 1 + 2 + 4 + 4 + 4


def test_the_waits_are_never_the_same():
    retries = ChatRetries(attempts=3)
    assert len({tried(FaultKind.UNWELL, retries)[1] for _ in range(20)}) == 20


def test_a_silent_server_is_asked_less_often():
    assert tried(FaultKind.SILENT, ChatRetries(attempts=6, silent_attempts=2))[0] == 2
    assert tried(FaultKind.SILENT, ChatRetries(attempts=1, silent_attempts=2))[0] == 1


def test_a_busy_server_is_waited_for_by_the_clock_however_often():
    requests, seconds = tried(FaultKind.BUSY, ChatRetries(attempts=2, busy_seconds=600, longest_wait_seconds=2))
    assert requests > 100 and 600 <= seconds <= 602


def test_retry_after_is_heeded_within_bounds():
    retries = ChatRetries(attempts=2, retry_after_seconds=60, first_wait_seconds=0.5)
    assert 7 <= tried(FaultKind.UNWELL, retries, wait_seconds=7.0)[1] <= 7.5
    assert 60 <= tried(FaultKind.UNWELL, retries, wait_seconds=86400.0)[1] <= 60.5
