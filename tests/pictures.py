"""Draws the pictures of the README and the documentation from the product itself: `make pictures`.

The documents of the tests are read in once (`.pytest_cache/pictures` keeps them), asked in a copy, and photographed in a
headless Chromium. A picture that cannot be made here, for want of the small model, stays as it was.
"""

import base64
import html
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.browser import browser
from tests.listening import free_port
from tests.program import CORPUS
from tests.waiting import wait_until

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "deployments" / "docs" / "pictures"
HOME = ROOT / ".pytest_cache" / "pictures"
PROGRAM = (sys.executable, "-m", "flows.cli.main")
SCALE, QUALITIES, MOST_BYTES = 1.5, (75, 60, 45, 30), 140_000
SECONDS = 300.0

FIGURE = "How many people worked at the Braye yard at the end of 2024?"
SCAN = "What did Braye Channel deliver against its target in the third quarter?"
PARTS = "What was the total revenue in 2024, and how many people were employed at the end of the year?"
DIVIDEND = "What dividend does the board propose for 2024?"
REPLY = """The board proposes "a dividend of 4.5 pence per share" for 2024.
In that year the total revenue was 184.6 million pounds, and "profit doubled".
"""
LOADED = """(() => {
  const framed = [...document.querySelectorAll('iframe')].map((one) => one.contentDocument);
  const seen = [document, ...framed].flatMap((one) => [...(one?.images ?? [])])
    .filter((one) => one.loading !== 'lazy' || (one.checkVisibility() && one.getBoundingClientRect().top < innerHeight));
  return seen.every((one) => one.complete && one.naturalWidth)
    && framed.every((one) => one?.readyState === 'complete' && one.links.length);
})()"""
BOX = """(() => { const box = document.querySelector(%r).getBoundingClientRect();
  return {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height}; })()"""
TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0; background: #14171a; color: #e8e5df; font: 15px/1.5 "DejaVu Sans Mono", monospace; }
pre { margin: 0; padding: 20px 24px; white-space: pre-wrap; } b { color: #84ccda; font-weight: 400; }</style><pre>%s</pre>"""


def environment(home):
    models = ("FLOWREADER_CHAT_", "FLOWREADER_EMBED_", "FLOWREADER_RERANK_", "FLOWREADER_LOCAL_MODEL")
    given = {name: value for name, value in os.environ.items() if not name.startswith(models)}
    return {**given, "FLOWREADER_HOME": str(home)}


def run(home, *arguments):
    done = subprocess.run([*PROGRAM, *arguments], env=environment(home), cwd=home, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@contextmanager
def serving(home):
    """The address of the query service as `flowreader serve` starts it."""
    address = f"127.0.0.1:{free_port()}"
    log = home / "service.log"
    with log.open("wb") as output:
        command = [*PROGRAM, "serve", "--address", address]
        service = subprocess.Popen(command, env=environment(home), stdout=output, stderr=output)
    try:
        wait_until(lambda: service.poll() is not None or answers(address), SECONDS, log.read_text)
        assert service.poll() is None, log.read_text()
        yield f"http://{address}"
    finally:
        service.send_signal(signal.SIGINT)
        service.wait(60)


def answers(address):
    try:
        return httpx.get(f"http://{address}/health", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def ask(service, question, **request):
    """The id of the answer, and why a model did not give it."""
    body = {"questions": [question], "corpus": "demo", "settings": {"seconds": SECONDS}, **request}
    (answer,) = httpx.post(f"{service}/api/v1/ask", json=body, timeout=2 * SECONDS).raise_for_status().json()["answers"]
    return answer["answer_id"], "" if answer["answer_by"] == "model" else "; ".join(answer["notes"])


def say(words):
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def photograph(page, name, part=None, height=None):
    """Keep what is seen, or the part that a selector names, not higher than `height`; as sharp as its bytes allow."""
    wait_until(lambda: page.run(LOADED), SECONDS, lambda: f"the pictures on the page for {name}")
    clip = {}
    if part:
        box = page.run(BOX % part)
        clip = {"clip": {**box, "height": min(box["height"], height or box["height"]), "scale": 1}}
    for quality in QUALITIES:
        shot = page.call("Page.captureScreenshot", format="webp", quality=quality, captureBeyondViewport=bool(part), **clip)
        data = base64.b64decode(shot["data"])
        if len(data) <= MOST_BYTES:
            break
    (PICTURES / f"{name}.webp").write_bytes(data)
    say(f"{name}.webp has {len(data):,} bytes")


def draw_pages(chromium, service):
    figure, scan, parts = (ask(service, question)[0] for question in (FIGURE, SCAN, PARTS))
    desk = f"{service}/answers/%s?corpus=demo"
    with chromium.page(desk % figure, width=1280, height=800, scale=SCALE) as page:
        photograph(page, "answer")
    with chromium.page(desk % scan, width=1280, height=720, scale=SCALE, dark=True) as page:
        photograph(page, "scan")
    with chromium.page((desk % parts).replace("?", "/report?"), width=1000, height=900, scale=SCALE) as page:
        photograph(page, "carried", ".picture", 760)
    with chromium.page((desk % parts).replace("?", "/lineage?"), width=900, height=620, scale=SCALE) as page:
        photograph(page, "lineage")
    with chromium.page(desk % figure, width=390, height=720, scale=SCALE) as page:
        photograph(page, "phone")
    try:
        dividend, why = ask(service, DIVIDEND, local=True)
    except httpx.HTTPStatusError as error:
        dividend, why = "", error.response.text
    if why:
        say(f"model.webp stays as it was: {why}")
        return
    with chromium.page(desk % dividend, width=1280, height=640, scale=SCALE) as page:
        photograph(page, "model")


def draw_terminal(chromium, home):
    (home / "reply.md").write_text(REPLY)
    shown = run(home, "verify", "reply.md", "--corpus", "demo")
    command = "<b>$ cat reply.md</b>\n%s\n<b>$ flowreader verify reply.md --corpus demo</b>\n%s"
    (home / "terminal.html").write_text(TERMINAL % (command % (html.escape(REPLY), html.escape(shown.rstrip()))))
    with chromium.page((home / "terminal.html").as_uri(), width=1000, scale=SCALE) as page:
        photograph(page, "verify", "pre")


def main():
    PICTURES.mkdir(exist_ok=True)
    HOME.mkdir(parents=True, exist_ok=True)
    run(HOME, "ingest", str(CORPUS), "--corpus", "demo")
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        home = Path(shutil.copytree(HOME, Path(folder, "home")))
        with serving(home) as service:
            draw_pages(chromium, service)
        draw_terminal(chromium, home)


if __name__ == "__main__":
    main()
