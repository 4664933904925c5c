import pytest
from pydantic import ValidationError

from tasks.setting_group import Settings, dotted


class Group(Settings):
    share: float = 0.5


def test_a_group_knows_no_other_names_and_never_changes():
    with pytest.raises(ValidationError):
        Group(shore=1)
    with pytest.raises(ValidationError):
        Group().share = 1


def test_settings_are_told_by_dotted_names_with_their_values_in_json():
    told = dict(dotted({"ask": {"gate": {"enabled": True, "share": 0.5}}, "only": ["ä", 2], "none": None}))
    assert told == {"ask.gate.enabled": "true", "ask.gate.share": "0.5", "only": '["ä", 2]', "none": "null"}
