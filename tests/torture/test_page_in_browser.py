"""What people do on the pages, in a real browser: ask, upload, look at the cited place, follow its lineage, remove; hostile words.

Without a Chromium these are skipped; with REQUIRE_BROWSER=1, as .ci/run sets it, they fail.
"""

import re
import shutil
from pathlib import Path

import httpx
import pytest

from tasks.models.process import ROOT
from tests.asking_worlds import WEIGHT
from tests.deployments.brought_up import brought_up
from tests.flows.service.worlds import FACT, model_reads, weighed
from tests.hostile import PASSWORD, encrypted_pdf
from tests.scripted_answers import Reader, whole_answer
from tests.waiting import files_below, wait_until

pytestmark = pytest.mark.torture

FILL = "document.getElementById('question').value = {!r}"
SUBMIT = "document.querySelector('#ask button').click()"
TITLE, WORDS = "document.title", "document.body?.innerText ?? ''"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
UNNAMED = """[...document.querySelectorAll('textarea, select, input:not([type=hidden]), button, a')]
  .filter((one) => !(one.labels?.length || one.textContent.trim() || one.getAttribute('aria-label'))).length"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def until_answered(page):
    wait_until(
        lambda: WEIGHT[:20] in page.run(TITLE), 60, lambda: f"the answer; the page says {page.run('document.body.innerText')}"
    )


@pytest.mark.parametrize(("width", "dark"), [(360, False), (1600, True)])
def test_a_question_is_asked_told_of_and_answered(chromium, service, width, dark, tell):
    with chromium.page(service, width=width, dark=dark) as page:
        assert page.run(WIDER) <= 0 and page.run(UNNAMED) == 0
        assert page.run("document.body.innerText.match(/corpus\\s+small/gi).length") == 1
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
        assert all(one.startswith((f"{service}/", "data:")) for one in page.addresses())


def test_a_question_is_stopped(chromium, service, monkeypatch):
    with model_reads(monkeypatch, weighed, seconds=60), chromium.page(service, width=800) as page:
        page.run(FILL.format("How heavy is an MT-3?"))
        page.run(SUBMIT)
        wait_until(lambda: page.run("!document.getElementById('stop').hidden"), 30, lambda: "the button")
        page.run("document.getElementById('stop').click()")
        wait_until(lambda: "was stopped" in page.run("document.getElementById('error').innerText"), 20, lambda: page.run(WORDS))
        assert page.run("document.getElementById('stop').hidden && !document.querySelector('#ask button').disabled")


def test_a_page_of_another_origin_gets_no_answer(chromium, service, tmp_path):
    """A form that it sends by itself is refused, and so is a script of its own."""
    (tmp_path / "evil.html").write_text("<title>evil</title>")
    asking = """fetch('ADDRESS/ask', {method: 'POST', headers: {'Content-Type': 'application/json'},
      body: '{"questions": ["What is the weight?"], "corpus": "small"}'}).then((got) => got.text(), (no) => 'refused')"""
    with chromium.page((tmp_path / "evil.html").as_uri(), width=800) as page:
        assert page.run(asking.replace("ADDRESS", service)) == "refused"
        page.run(
            f"document.body.innerHTML = `<form method=post action='{service}/'><input name=corpus value=small>"
            "<input name=question value='What is the weight?'></form>`; document.forms[0].submit()"
        )
        wait_until(lambda: "another page" in page.run(WORDS), 30, lambda: "the refusal")


REPORT = ROOT / "tests" / "corpus" / "annual_report.pdf"
REVENUE = "What was the total revenue in 2024?"
FRAME = "document.querySelector('iframe').contentDocument"
SMALL_PICTURES = """performance.getEntriesByType('resource')
  .filter(({ name, encodedBodySize }) => name.includes('/pages/1/picture') && encodedBodySize > 1000)
  .map(({ transferSize }) => transferSize)"""
KEY = "document.querySelector('iframe').contentWindow.dispatchEvent(new KeyboardEvent('keydown', {key: '%s'}))"
BOXES = """[...DOCUMENT.querySelectorAll('SELECTOR')].map((one) => {
  const box = one.getBoundingClientRect(), page = one.closest('svg, .leaf').getBoundingClientRect();
  return [(box.x - page.x) / page.width, (box.y - page.y) / page.height, box.width / page.width, box.height / page.height];
})"""
MARKUP = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"
HOSTILE = f"""# {MARKUP}

The zorbflux {MARKUP} weighs 777 kg.

| {MARKUP} | weight |
|---|---|
| zorbflux {MARKUP} | 777 kg |
"""


@pytest.fixture
def everything_up(library, tmp_path):
    """What `make up` starts, with a home of its own; the environment that says where it is."""
    with brought_up(shutil.copytree(library, tmp_path / "home"), tmp_path / "log") as running:
        yield running.environment


def choose(page, *files):
    """Have the browser's user choose files to upload."""
    found = page.call("Runtime.evaluate", expression="document.querySelector('[type=file]')")["result"]["objectId"]
    page.call("DOM.setFileInputFiles", files=[str(file) for file in files], objectId=found)


def uploaded(page, file, state):
    choose(page, file)
    rows = "document.querySelector('.reading-in').innerText"
    wait_until(lambda: state in page.run(rows), 90, lambda: f"{state}; it is {page.run(rows)}")


def until_says(page, *words):
    wait_until(lambda: all(each in page.run(WORDS) for each in words), 90, lambda: f"{words}; the page says {page.run(WORDS)}")


def asked(page, question):
    """Ask on the page, and return when the cited page stands beside the answer."""
    page.run(FILL.format(question))
    page.run(SUBMIT)
    wait_until(lambda: question[:20] in page.run("document.title"), 60, lambda: f"the answer; {page.run(WORDS)}")
    wait_until(
        lambda: page.run(f"{FRAME}?.readyState === 'complete' && !!{FRAME}.querySelector('nav')"), 60, lambda: "the cited page"
    )


def follow(page, words):
    page.run(f"[...document.querySelectorAll('a')].find((one) => one.innerText === {words!r}).click()")


@pytest.mark.sentinel
def test_a_document_is_uploaded_asked_about_looked_at_traced_and_removed(chromium, everything_up, tmp_path):
    address, home = f"http://{everything_up['FLOWREADER_ASK_ADDRESS']}", Path(everything_up["FLOWREADER_HOME"])
    with chromium.page(f"{address}/?corpus=small", width=1280) as page:
        uploaded(page, REPORT, "ready")
        until_says(page, "annual_report.pdf", "16")
        asked(page, REVENUE)
        (at,) = page.run(BOXES.replace("DOCUMENT", FRAME).replace("SELECTOR", ".cited-place rect"))[:1]
        (badge,) = page.run(BOXES.replace("DOCUMENT", FRAME).replace("SELECTOR", ".cited-place circle"))[:1]
        assert badge[0] + badge[2] <= at[0] + 0.005, "the number stands beside what it marks"
        assert "page 5" in page.run(f"{FRAME}.body.innerText")
        answer = page.run("location.href")
        wait_until(lambda: page.run(SMALL_PICTURES), 60, lambda: "the small picture")
        with chromium.page(answer, width=1280) as again:
            assert set(wait_until(lambda: again.run(SMALL_PICTURES), 60, lambda: "the small picture again")) == {0}, "served once"
        page.screenshot(tmp_path / "answer.png")
        with chromium.page(answer.replace("?", "/report?"), width=1280) as report:
            (there,) = report.run(BOXES.replace("DOCUMENT", "document").replace("SELECTOR", ".leaf .box"))[:1]
        assert at == pytest.approx(there, abs=0.01)
        for key, words in (("+", "zoom=150"), ("ArrowRight", "/pages/6")):
            page.run(KEY % key)
            wait_until(
                lambda words=words: words in page.run(f"{FRAME}.location.href"), 60, lambda: page.run(f"{FRAME}.location.href")
            )
            wait_until(lambda: page.run(f"{FRAME}?.readyState === 'complete' && !!{FRAME}.querySelector('nav')"), 60, lambda: "it")
        page.run("document.querySelector('.citations a.number').click()")
        until_beside(page, "cited=1&zoom=150")
        follow(page, "Lineage")
        until_says(page, "annual_report.pdf", "sha256", "Its run in Prefect's UI")
        page.call("Page.navigate", url=f"{address}/?corpus=small")
        wait_until(lambda: page.run("!!document.getElementById('documents')"), 30, lambda: "the documents")
        page.run("document.querySelector('[aria-label=\"About annual_report.pdf\"]').click()")
        until_says(page, "Outline", "Pages", "remove")
        page.run("document.querySelector('.removing').open = true; document.querySelector('.removing button').click()")
        until_says(page, "annual_report.pdf", "unpublished")
        assert not [words for words in page.complaints() if "favicon" not in words]
    assert not list((home / "uploads" / "small").glob("*/annual_report.pdf"))
    assert "annual_report.pdf" not in httpx.get(f"{address}/?corpus=small", timeout=60).text


def press(page, key):
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" and len(key) == 1 else "")


def until_beside(page, address):
    beside = "document.querySelector('iframe').contentWindow.location.href"
    wait_until(lambda: address in page.run(beside), 60, lambda: page.run(beside))


def test_keys_walk_the_citations_and_are_letters_where_one_types_and_on_a_phone_one_press_leads_back(chromium, service):
    with httpx.Client(base_url=service, timeout=60) as door:
        answer = door.post("/ask", json={"questions": [WEIGHT], "corpus": "small"}).json()["answers"][0]["answer_id"]
    with chromium.page(f"{service}/answers/{answer}?corpus=small", width=1280) as page:
        for number in ("cited=1", "cited=2"):
            press(page, "j")
            until_beside(page, number)
        press(page, "/")
        for key in "j+?":
            press(page, key)
        assert page.run("document.querySelector('#ask textarea').value") == "j+?"
        assert not page.run("document.getElementById('keys').open")
        page.run("document.querySelector('.shelf [type=checkbox]').click()")
        assert "1 ticked" in page.run("document.getElementById('only').innerText")
        page.run("document.getElementById('find').value = 'budget'")
        page.run("document.getElementById('find').dispatchEvent(new Event('input', {bubbles: true}))")
        assert page.run("[...document.querySelectorAll('.shelf > li:not([hidden]) .title')].map((one) => one.innerText)") == [
            "budget.xlsx"
        ]
    with chromium.page(f"{service}/answers/{answer}?corpus=small", width=390) as page:
        seen = "[...document.querySelectorAll('.spot')].filter((one) => one.offsetHeight).map((one) => one.id).join()"
        assert page.run(seen) == "talk"
        assert not page.run("[...document.querySelectorAll('.hands')].some((one) => one.offsetHeight)"), "a phone has no keys"
        page.run("document.querySelectorAll('.citations a.number')[1].click()")
        until_beside(page, "cited=2")
        assert page.run(seen) == "proof"
        page.run("history.back()")
        wait_until(lambda: page.run(seen) == "talk", 30, lambda: page.run(seen))


def test_pages_follow_each_other_below_and_the_row_above_says_which_is_seen(chromium, service):
    shown = httpx.get(f"{service}/api/v1/corpora/small/documents", timeout=60).json()["documents"]
    workbook = next(one["id"] for one in shown if one["name"] == "budget.xlsx")
    with chromium.page(f"{service}/documents/{workbook}/pages/1?corpus=small", width=800) as page:
        wait_until(lambda: page.run("document.querySelectorAll('.leaf-of').length") > 1, 60, lambda: page.run(WORDS))
        page.run("document.querySelectorAll('.leaf-of')[1].scrollIntoView()")
        at = "document.querySelector('.turning h1').innerText"
        wait_until(lambda: "sheet 2" in page.run(at), 60, lambda: page.run(at))


def test_what_is_no_document_says_so_and_an_upload_may_be_cancelled(chromium, service, tmp_path):
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    with chromium.page(f"{service}/?corpus=small", width=390, dark=True) as page:
        uploaded(page, tmp_path / "broken.pdf", "failed")
        choose(page, REPORT)
        wait_until(lambda: page.run("!!document.querySelector('.reading-in button')"), 30, lambda: "cancel")
        page.run("document.querySelector('.reading-in button').click()")
        wait_until(lambda: not page.run("document.querySelector('.reading-in button')"), 60, lambda: page.run(WORDS))
        assert page.run(WIDER) <= 0


def test_an_encrypted_document_is_opened_at_its_row_and_its_password_is_kept_nowhere(chromium, service, service_home, tmp_path):
    locked, rows = encrypted_pdf(tmp_path), "document.querySelector('.shelf').innerText"
    with chromium.page(f"{service}/?corpus=small", width=390) as page:
        page.run("location.hash = 'library'")
        uploaded(page, locked, "needs password")
        for word, said in (("planted guess 61ab", "does not open it"), (PASSWORD, "encrypted.pdf\n3 pages")):
            wait_until(lambda: page.run("!!document.querySelector('.shelf [type=password]')"), 60, lambda: page.run(rows))
            assert page.violations() == [] and page.run(WIDER) <= 0
            page.run(f"document.querySelector('.shelf [type=password]').value = {word!r}")
            page.run("document.querySelector('.shelf [type=password]').form.querySelector('button').click()")
            wait_until(lambda said=said: said in page.run(rows), 120, lambda: page.run(rows))
            assert not [path for path in files_below(service_home) if path.is_file() and word.encode() in path.read_bytes()]
        page.run("document.querySelector('[aria-label=\"Remove encrypted.pdf\"]').click()")
        assert page.violations() == [] and "Remove encrypted.pdf" in page.run("document.querySelector('dialog[open]').innerText")
        page.run("document.querySelector('dialog[open] .strong').click()")
        until_says(page, "encrypted.pdf", "unpublished")
        assert not [said for said in page.complaints() if "favicon" not in said]


def test_words_of_a_document_are_no_markup_on_any_page(chromium, service, tmp_path):
    hostile = tmp_path / "<img src=x onerror=document.title='owned'>.md"
    hostile.write_text(HOSTILE)
    with chromium.page(f"{service}/?corpus=small", width=1280) as page:
        uploaded(page, hostile, "ready")
        asked(page, "What does the <img>zorbflux weigh?")
        assert "777" in page.run(WORDS) and "777" in page.run(f"{FRAME}.body.innerText")
        owned = "document.querySelectorAll('main img[src=x], main script').length"
        for link in (None, "Lineage"):
            if link:
                follow(page, link)
                until_says(page, "sha256")
            assert page.run(owned) == 0 and page.run("document.title") != "owned"
        assert not page.complaints()


def test_words_of_a_model_are_no_markup_in_the_draft_or_the_answer(chromium, service, monkeypatch):
    def weighed(request):
        return whole_answer(f"It weighs 163 t without its base; {MARKUP}", [Reader({FACT: FACT}).found(request)[0][1]])

    with model_reads(monkeypatch, weighed), chromium.page(f"{service}/?corpus=small", width=1280) as page:
        asked(page, WEIGHT)
        assert MARKUP in page.run("document.querySelector('.said').innerText")
        assert page.run("document.querySelectorAll('main img[src=x], main script').length") == 0
        assert page.run("document.title") != "owned" and not page.complaints()


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_on_any_page(chromium, service, dark):
    with httpx.Client(base_url=service, timeout=60) as door:
        given = door.post("/ask", json={"questions": [WEIGHT], "corpus": "small", "reader": ("flow", "agent")[dark]})
        answer = given.json()["answers"][0]["answer_id"]
        shown = door.get(f"/answers/{answer}?corpus=small").text
        page_view = re.search(r'<iframe[^>]* src="([^"]*)"', shown)[1].replace("&amp;", "&")
        manual = next(
            one["id"] for one in door.get("/api/v1/corpora/small/documents").json()["documents"] if one["name"].endswith("docx")
        )
    paths = (
        *("/?corpus=small", f"/answers/{answer}?corpus=small", f"/answers/{answer}/lineage?corpus=small", page_view),
        *(f"/documents/{manual}?corpus=small", f"/documents/{manual}/pages/1?corpus=small", "/answers/00000000?corpus=small"),
    )
    for path in paths:
        for width in (1280, 390):
            with chromium.page(f"{service}{path}", width=width, dark=dark) as page:
                assert page.violations() == [], path
                assert page.run(WIDER) <= 0, path
