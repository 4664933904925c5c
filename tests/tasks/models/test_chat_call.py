import dataclasses

import pytest

from tasks.models.chat_call import Tally, nothing_wrong
from tests.tasks.models.chat_worlds import call


def test_a_call_is_frozen_and_asks_for_no_check_by_itself():
    asked = call(check=nothing_wrong)
    assert asked.images == () and asked.check("anything") == ""
    with pytest.raises(dataclasses.FrozenInstanceError):
        asked.prompt = "another"


def test_a_tally_begins_at_nothing():
    assert Tally() == Tally(0, 0, 0)
