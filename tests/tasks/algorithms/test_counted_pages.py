import pytest

from tasks.algorithms.counted_pages import counted_pages


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("the last page", [-1]),
        ("the final slide", [-1]),
        ("the back cover", [-1]),
        ("the second-to-last page", [-2]),
        ("the second to the last page", [-2]),
        ("the 3rd last page", [-3]),
        ("on the page at the second last", [-2]),
        ("the penultimate slide", [-2]),
        ("the last two pages", [-1, -2]),
        ("the first page", [1]),
        ("the front cover or the cover page", [1]),
        ("on the cover", [1]),
        ("the title page", [1]),
        ("the third page and the 12th slide", [3, 12]),
        ("the first 3 slides", [1, 2, 3]),
        ("the last 40 pages", []),
        ("the 0th page", []),
        ("what does the policy cover, and this page?", []),
        ("how many pages", []),
    ],
)
def test_pages_are_counted_from_either_end(text, pages):
    assert counted_pages(text) == pages
