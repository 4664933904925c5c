"""A headless Chromium, spoken to over two pipes: the DevTools protocol as JSON, a NUL after each message, on its fds 3 and 4."""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-extensions", "--mute-audio", "--force-color-profile=srgb"),
)
HIGH_FD = 64
ANSWER_SECONDS = 60.0
LEFT = ("Inspected target navigated", "Execution context was destroyed", "Cannot find default execution context")
"""What Chromium says of a script where the page is left meanwhile."""


def find_browser():
    """The path of a Chromium, None where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


AXE_FINDS = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 200)]))"


@cache
def axe():
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


class Browser:
    """The browser at the other end of the pipes. What it says unasked is kept, page by page."""

    def __init__(self, reads: int, writes: int):
        self._reads, self._writes = reads, writes
        self._rest, self._last = b"", 0
        self.events = []

    def call(self, method, session=None, **parameters):
        """Ask for something and return the result; RuntimeError with the browser's own words where it refuses."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        self._write(message)
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            said = self._next(deadline)
            if said.get("id") == self._last:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']['message']}")
                return said["result"]
            self.events.append(said)

    def wait_for(self, method, session):
        """Wait until the page has said this since it was last opened."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while not any(said.get("method") == method and said.get("sessionId") == session for said in self.events):
            self.events.append(self._next(deadline))

    def _write(self, message):
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._writes, data) :]

    def _next(self, deadline):
        while b"\0" not in self._rest:
            if not select.select([self._reads], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser said nothing in time")
            piece = os.read(self._reads, 1 << 20)
            if not piece:
                raise RuntimeError("the browser ended")
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    @contextmanager
    def page(self, address, *, width, height=900, dark=False, scale=1, media=""):
        """A page opened at the address, at this size and colour scheme."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.events.clear()
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.resize(width, height, scale)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call(
            "Emulation.setEmulatedMedia", media=media, features=[scheme, {"name": "prefers-reduced-motion", "value": "reduce"}]
        )
        page.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired", session)
        try:
            yield page
        finally:
            self.call("Target.closeTarget", targetId=target)


class Page:
    """An open page."""

    def __init__(self, browser, session):
        self._browser, self._session = browser, session

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)

    def run(self, script):
        """The value of a JavaScript expression, "" where the page is left meanwhile; a promise is awaited."""
        try:
            done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        except RuntimeError as error:
            if any(words in str(error) for words in LEFT):
                return ""
            raise
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"].get("exception", {}).get("description", "the script failed"))
        return done["result"].get("value")

    def violations(self):
        """What axe finds wrong with the page as it is shown now: contrast, names, roles, order."""
        self.run(axe())
        return self.run(AXE_FINDS)

    def screenshot(self, path, *, whole=True):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """Everything that the console, the log, or a failed script said since the page was opened."""
        said = [event for event in self._browser.events if event.get("sessionId") == self._session]
        kinds = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
        return [json.dumps(event["params"]) for event in said if event.get("method") in kinds]

    def addresses(self):
        """Every address that the page asked for."""
        sent = (event for event in self._browser.events if event.get("method") == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent if event.get("sessionId") == self._session]


def _high(fd):
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH_FD)
    os.close(fd)
    return moved


@contextmanager
def browser():
    """A browser with a profile of its own, ended with all its children."""
    path = find_browser()
    commands, writes = map(_high, os.pipe())
    reads, answers = map(_high, os.pipe())
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        silence = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        actions = [
            (os.POSIX_SPAWN_DUP2, source, target) for source, target in ((silence, 1), (silence, 2), (commands, 3), (answers, 4))
        ]
        arguments = [path, *FLAGS, f"--user-data-dir={profile}"]
        process = os.posix_spawn(path, arguments, dict(os.environ), file_actions=actions, setsid=True)
        for fd in (commands, answers, silence):
            os.close(fd)
        try:
            yield Browser(reads, writes)
        finally:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(reads)
            os.close(writes)
