"""A headless Chromium, driven over its own pipe: pages, clicks, screenshots and paper, and all that it complains of."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 30  # seconds


class Page:
    """One page of the browser; `problems` are console errors, uncaught exceptions and refusals, `requests` addresses."""

    def __init__(self, send, receive):
        self._send, self._receive, self._number = send, receive, 0
        self.problems, self.requests, self.session = [], [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        """The result of one command of the DevTools protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        self._send(message | ({"sessionId": self.session} if self.session else {}))
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self._noted(answer)

    def _noted(self, event):
        params = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(str([item.get("value") for item in params["args"]]))
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])

    def open(self, path, width=1280, height=900, dark=False, fragment=""):
        """Load a file at a width in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.call("Page.navigate", url=Path(path).absolute().as_uri() + fragment)
        self.until("document.readyState === 'complete'")

    def run(self, script):
        """What a JavaScript expression gives."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script):
        """Wait until an expression holds."""
        end = time.monotonic() + PATIENCE
        while not self.run(f"!!({script})"):
            assert time.monotonic() < end, script
            time.sleep(0.02)

    def text(self, selector):
        """The text of all elements of a selector."""
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")

    def screenshot(self, path, whole=False):
        """Save what is seen, or the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def paper(self, path):
        """Print to a PDF."""
        data = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"]
        Path(path).write_bytes(base64.b64decode(data))


@contextmanager
def browser(folder):
    """A page of a new browser, whose profile is in the folder."""
    to_browser, from_browser = os.pipe(), os.pipe()

    def wire():
        # Chromium reads commands from the file descriptor 3 and answers on 4.
        os.dup2(to_browser[0], 103), os.dup2(from_browser[1], 104)
        os.dup2(103, 3), os.dup2(104, 4)

    environment = os.environ | {"HOME": str(folder)}
    process = subprocess.Popen(
        [CHROMIUM, *OPTIONS, f"--user-data-dir={folder}/profile"], preexec_fn=wire, close_fds=False, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_browser[0]), os.close(from_browser[1])
    try:
        yield Page(*_ends(to_browser[1], from_browser[0]))
    finally:
        process.kill()
        process.wait()
        os.close(to_browser[1]), os.close(from_browser[0])


def _ends(out, into):
    """Functions that send a message and that receive one; messages end with a zero byte."""
    rest = bytearray()

    def send(message):
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(out, data) :]

    def receive():
        while b"\0" not in rest:
            assert select.select([into], [], [], PATIENCE)[0], "the browser does not answer"
            rest.extend(os.read(into, 1 << 20) or b'{"id": 0, "error": "the browser has ended"}\0')
        text, _, more = bytes(rest).partition(b"\0")
        rest[:] = more
        return json.loads(text)

    return send, receive
