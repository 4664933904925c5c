import threading

from tasks.models.chat import Counts, PurposeUsage
from tasks.models.chat_call import ModelCall
from tasks.models.chat_errors import Outcome


def record(purpose, outcome, attempts=1):
    tokens = 0 if outcome == Outcome.CACHED else 10
    return ModelCall(purpose, "s", "i", "m", "h", "k", tokens, tokens // 2, 0.5 * attempts, 1.0 * attempts, attempts, outcome, "")


def test_calls_are_counted_by_purpose_and_cached_ones_apart():
    counts = Counts()
    for said in [
        record("read", Outcome.OK),
        record("analyze", Outcome.OK, attempts=3),
        record("analyze", Outcome.INVALID, attempts=2),
        record("analyze", Outcome.CACHED, attempts=0),
        record("analyze", Outcome.REJECTED, attempts=0),
    ]:
        counts.add(said)
    usage = counts.by_purpose()
    assert list(usage) == ["analyze", "read"]
    assert usage["read"] == PurposeUsage(1, 0, 0, 1, 10, 5, 0.5, 1.0)
    assert usage["analyze"] == PurposeUsage(
        calls=2, cached=1, failed=2, requests=5, input_tokens=30, output_tokens=15, cost=2.5, seconds=5.0
    )


def test_what_was_given_out_does_not_change_any_more():
    counts = Counts()
    counts.add(record("read", Outcome.OK))
    before = counts.by_purpose()
    counts.add(record("read", Outcome.OK))
    assert before["read"].calls == 1 and counts.by_purpose()["read"].calls == 2


def test_no_call_of_many_threads_is_lost():
    counts = Counts()
    threads = [threading.Thread(target=lambda: [counts.add(record("read", Outcome.OK)) for _ in range(500)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts.by_purpose()["read"].calls == 4000
