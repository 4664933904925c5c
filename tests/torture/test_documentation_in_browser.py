"""The documentation as people see it, from the file system: nothing is fetched from elsewhere, and axe finds nothing wrong."""

import pytest

from deployments.docs import build

pytestmark = pytest.mark.torture
PAGES = ("index", "tutorial", "how-to/service", "reference/settings", "reference/mcp", "benchmarks/measured", "deployments/README")
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "site"
    build.build(folder)
    return folder


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)])
def test_a_page_can_be_read_by_everybody(chromium, site, name, width, dark):
    with chromium.page((site / f"{name}.html").as_uri(), width=width, dark=dark) as page:
        assert page.run(WIDER) <= 0 and page.complaints() == []
        assert all(address.startswith((site.as_uri(), "data:")) for address in page.addresses())
        assert page.violations() == []
