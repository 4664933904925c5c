"""The page for people in a real browser: it is asked, tells how it goes and leads to the evidence, with and without script.

Without a Chromium these are skipped; with REQUIRE_BROWSER=1, as .ci/run sets it, they fail.
"""

import shutil

import pytest

from tests.asking_worlds import WEIGHT
from tests.flows.service.test_stream import model_reads, served, weighed
from tests.waiting import wait_until

pytestmark = pytest.mark.torture

FILL = "document.getElementById('question').value = {!r}"
SUBMIT = "document.querySelector('#ask button').click()"
TITLE, WORDS = "document.title", "document.body?.innerText ?? ''"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
UNNAMED = """[...document.querySelectorAll('textarea, select, input:not([type=hidden]), button, a')]
  .filter((one) => !(one.labels?.length || one.innerText.trim() || one.getAttribute('aria-label'))).length"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


@pytest.fixture(scope="module")
def address(library, tmp_path_factory):
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FLOWREADER_HOME", str(shutil.copytree(library, tmp_path_factory.mktemp("page") / "home")))
        with served() as (address, _intake):
            yield address


def until_answered(page):
    wait_until(
        lambda: WEIGHT[:20] in page.run(TITLE), 60, lambda: f"the answer; the page says {page.run('document.body.innerText')}"
    )


@pytest.mark.parametrize(("width", "dark"), [(360, False), (1600, True)])
def test_a_question_is_asked_told_of_and_answered(chromium, address, width, dark, tell):
    with chromium.page(address, width=width, dark=dark) as page:
        assert page.run(WIDER) <= 0 and page.run(UNNAMED) == 0
        tell(f"painted after {wait_until(lambda: page.run(PAINTED), 60, lambda: 'paint'):.0f} ms")
        page.run(FILL.format("colourless"))
        page.run("document.querySelector('#ask [name=corpus]').value = 'none'")
        page.run(SUBMIT)
        said = "document.getElementById('error').hidden ? '' : document.getElementById('error').innerText"
        assert "none" in wait_until(lambda: page.run(said), 30, lambda: "the error")
        page.run("document.querySelector('#ask [name=corpus]').value = 'small'")
        page.run(FILL.format(WEIGHT))
        page.run(SUBMIT)
        until_answered(page)
        assert page.run("document.querySelectorAll('#citation-1').length") == 1
        assert not [said for said in page.complaints() if "status of 4" not in said]
        assert all(one.startswith((f"{address}/", "data:")) for one in page.addresses())


def test_a_question_is_stopped(chromium, address, monkeypatch):
    with model_reads(monkeypatch, weighed, seconds=60), chromium.page(address, width=800) as page:
        page.run(FILL.format("How heavy is an MT-3?"))
        page.run(SUBMIT)
        wait_until(lambda: page.run("!document.getElementById('stop').hidden"), 30, lambda: "the button")
        page.run("document.getElementById('stop').click()")
        wait_until(lambda: "was stopped" in page.run("document.getElementById('error').innerText"), 20, lambda: page.run(WORDS))
        assert page.run("document.getElementById('stop').hidden && !document.querySelector('#ask button').disabled")


def test_without_script_the_form_leads_to_the_answer_too(chromium, address):
    with chromium.page(address, width=800) as page:
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.call("Page.navigate", url=f"{address}/?corpus=small")
        wait_until(lambda: page.run("document.readyState === 'complete' && !!document.forms.ask"), 30, lambda: "the form")
        page.run(FILL.format(WEIGHT))
        page.run("document.getElementById('ask').submit()")
        until_answered(page)


def test_a_page_of_another_origin_gets_no_answer(chromium, address, tmp_path):
    """A form that it sends by itself is refused, and so is a script of its own."""
    (tmp_path / "evil.html").write_text("<title>evil</title>")
    asking = """fetch('ADDRESS/ask', {method: 'POST', headers: {'Content-Type': 'application/json'},
      body: '{"questions": ["What is the weight?"], "corpus": "small"}'}).then((got) => got.text(), (no) => 'refused')"""
    with chromium.page((tmp_path / "evil.html").as_uri(), width=800) as page:
        assert page.run(asking.replace("ADDRESS", address)) == "refused"
        page.run(
            f"document.body.innerHTML = `<form method=post action='{address}/'><input name=corpus value=small>"
            "<input name=question value='What is the weight?'></form>`; document.forms[0].submit()"
        )
        wait_until(lambda: "another page" in page.run(WORDS), 30, lambda: "the refusal")
