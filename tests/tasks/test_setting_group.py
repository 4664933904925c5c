import pytest
from pydantic import ValidationError

from tasks.setting_group import Settings


class Group(Settings):
    share: float = 0.5


def test_a_group_knows_no_other_names_and_never_changes():
    with pytest.raises(ValidationError):
        Group(shore=1)
    with pytest.raises(ValidationError):
        Group().share = 1
