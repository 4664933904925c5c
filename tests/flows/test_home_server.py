"""Who is up for a home says where its server is, for as long as it lives, and is the only one."""

import os

import pytest

from flows.home_server import note_server, server_of_home, take_home


@pytest.fixture
def made_home(home):
    home.mkdir()
    return home


def test_the_server_is_known_while_its_home_is_held(made_home):
    assert server_of_home() is None
    held = take_home()
    assert held is not None and server_of_home() is None, "it is not up yet"
    note_server(held, "http://127.0.0.1:4200/api")
    assert server_of_home() == "http://127.0.0.1:4200/api"
    os.close(held)
    assert server_of_home() is None


def test_a_home_has_one_and_the_next_begins_anew(made_home):
    first = take_home()
    note_server(first, "http://127.0.0.1:4200/api")
    assert take_home() is None
    os.close(first)
    second = take_home()
    assert second is not None and server_of_home() is None
    os.close(second)
