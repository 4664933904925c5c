"""The report's settings have bounds, and their defaults lie within them."""

import pytest
from pydantic import ValidationError

from tasks.report.report_settings import ReportSettings


def test_the_defaults_are_their_own_bounds_friends():
    assert ReportSettings.model_validate(ReportSettings().model_dump()) == ReportSettings()


@pytest.mark.parametrize("wrong", [{"page_pictures": -1}, {"megabytes": 0}, {"table_rows": 0}, {"unknown": 1}])
def test_what_is_out_of_bounds_is_refused(wrong):
    with pytest.raises(ValidationError):
        ReportSettings(**wrong)
