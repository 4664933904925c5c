import threading

import pytest

from tasks.models.chat_errors import ChatServerDownError
from tasks.models.chat_service import borrow, give_back, on_the_loop
from tasks.models.endpoints import ChatEndpoint
from tests.chat_server import chat_server
from tests.tasks.models.chat_worlds import calls, open_on, settings, summarise


def borrowed(server, **groups):
    return on_the_loop(borrow(ChatEndpoint(server.base_url), settings(**groups))).result(10)


def returned(*shared):
    for each in shared:
        on_the_loop(give_back(each)).result(10)


def test_runs_side_by_side_share_a_server_whatever_their_budgets():
    with chat_server(summarise) as server:
        first, second = borrowed(server), borrowed(server, budget={"calls": 1}, prices={"input_per_million": 1.0})
        assert first is second and first.users == 2 and server.listings == 1
        other = borrowed(server, limits={"in_flight": 3})
        assert other is not first and server.listings == 2
        returned(first, second, other)
        later = borrowed(server)
        assert later is not first and server.listings == 3
        returned(later)


def test_all_runs_together_have_no_more_calls_in_flight_than_one(tmp_path):
    with chat_server(summarise, seconds=0.02) as server:
        with (
            open_on(server, tmp_path / "a", limits={"in_flight": 4}) as one,
            open_on(server, tmp_path / "b", limits={"in_flight": 4}) as two,
        ):
            asking = [threading.Thread(target=model.ask_all, args=(calls(30),)) for model in (one, two)]
            for thread in asking:
                thread.start()
            for thread in asking:
                thread.join()
        assert server.calls == 60 and server.most_at_once == 4


def test_a_server_that_could_not_be_opened_is_tried_anew():
    with chat_server(summarise) as server:
        server.go_away()
        with pytest.raises(ChatServerDownError):
            borrowed(server)
        server.come_back()
        returned(borrowed(server))
