import pytest

from storage.filters import FilterError
from storage.records import Modality
from storage.search import EVERYTHING, Scope

REPORT = "a" * 64


def test_no_limit_is_no_filter():
    assert EVERYTHING.everything
    assert (EVERYTHING.node_filter(), EVERYTHING.row_filter()) == (None, None)


@pytest.mark.parametrize(
    ("scope", "built"),
    [
        (Scope(documents=(REPORT,)), f"(document_id IN ('{REPORT}'))"),
        (Scope(first_page=3, last_page=7), "(page BETWEEN 3 AND 7)"),
        (Scope(first_page=3), "(page BETWEEN 3 AND 2147483647)"),
        (Scope(last_page=10**12), "(page BETWEEN 0 AND 2147483647)"),
        (Scope((REPORT,), 1, 1, Modality.TABLE), f"(document_id IN ('{REPORT}')) AND (page BETWEEN 1 AND 1)"),
    ],
)
def test_limits_are_joined(scope, built):
    assert not scope.everything
    assert scope.row_filter() == built
    assert scope.node_filter() == (f"{built} AND (modality IN ('table'))" if scope.modality else built)


def test_only_tables_have_rows():
    assert Scope(modality=Modality.FIGURE).row_filter() == "(false)"
    assert Scope(modality=Modality.TABLE).row_filter() is None


def test_no_text_from_outside_gets_into_a_filter():
    with pytest.raises(FilterError):
        Scope(documents=("' OR true --",)).node_filter()
