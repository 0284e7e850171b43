"""A page in a real browser: Chromium without a window, driven by its own protocol over two pipes.

https://chromedevtools.github.io/devtools-protocol/ describes the commands; ``--remote-debugging-pipe`` reads them from
file descriptor 3 and answers on 4, each message ended by a zero byte.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast

import pytest

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
SECONDS: Final = 60.0
_FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"),
)
_ABOVE: Final = 10
"""Numbers of descriptors that none of 3 and 4 is."""


class PageError(Exception):
    """The browser refused a command, or the page's program failed; the message says how."""


def browser_program() -> str:
    """The path of Chromium; a test without it is skipped, but fails in continuous integration."""
    found = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if found is not None:
        return found
    reason = "needs a browser: there is no chromium on the path (Debian: apt-get install chromium)"
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(f"{reason} (in continuous integration this is not skipped)", pytrace=False)
    pytest.skip(reason)


class Page:
    """One page that is open.

    Attributes:
        complaints: errors and warnings of the console, refused requests and uncaught exceptions, in order.
        requests: the requested addresses.
    """

    def __init__(self, commands: int, answers: int) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._commands, self._answers = commands, answers
        self._received = bytearray()
        self._number = 0
        self._loaded = False
        self._session: str | None = None
        target = cast(str, self.call("Target.createTarget", url="about:blank")["targetId"])
        self._session = cast(str, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(1400, 1000)

    def call(self, method: str, **parameters: object) -> Mapping[str, object]:
        """Carry out a command of the protocol.

        Raises:
            PageError: it was refused, or not answered in time.
        """
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + SECONDS
        while True:
            answer = self._next(until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise PageError(f"{method}: {answer['error']}")
                return cast(Mapping[str, object], answer["result"])

    def _next(self, until: float) -> Mapping[str, object]:
        while b"\0" not in self._received:
            readable, _, _ = select.select([self._answers], [], [], max(0.0, until - time.monotonic()))
            piece = os.read(self._answers, 1 << 16) if readable else b""
            if not piece:
                raise PageError("the browser does not answer")
            self._received += piece
        text, _, rest = bytes(self._received).partition(b"\0")
        self._received = bytearray(rest)
        message = cast(Mapping[str, object], json.loads(text))
        self._note(message)
        return message

    def _note(self, message: Mapping[str, object]) -> None:
        parameters = cast(Mapping[str, Mapping[str, object]], message.get("params", {}))
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(parameters["exceptionDetails"]))
            case "Log.entryAdded":
                self.complaints.append(str(parameters["entry"]["text"]))
            case "Runtime.consoleAPICalled":
                self.complaints.append(json.dumps(parameters["args"]))
            case "Page.loadEventFired":
                self._loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(str(parameters["request"]["url"]))

    def open(self, file: Path) -> None:
        """Load a file and wait until its program has drawn it."""
        self.visit(file.resolve().as_uri())

    def visit(self, address: str) -> None:
        """Load what is at an address and wait until its program has drawn it."""
        self._loaded = False
        self.call("Page.navigate", url=address)
        until = time.monotonic() + SECONDS
        while not self._loaded:
            self._next(until)
        self.settle()

    def evaluate(self, expression: str) -> object:
        """The value of an expression in the page, promises awaited.

        Raises:
            PageError: it threw.
        """
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise PageError(json.dumps(answer["exceptionDetails"]))
        return cast(Mapping[str, object], answer["result"]).get("value")

    def settle(self) -> None:
        """Wait until the page is drawn: two frames later, or when it no longer says that it is not ready."""
        self.evaluate(
            "new Promise((done) => { const look = () => requestAnimationFrame(() => requestAnimationFrame(() =>"
            " document.documentElement.dataset.ready === 'false' ? setTimeout(look, 5) : done(true))); look(); })"
        )

    def press(self, key: str) -> None:
        """Press and release a key on the focused element."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)
        self.settle()

    def write(self, text: str) -> None:
        """Type into the focused element."""
        self.call("Input.insertText", text=text)
        self.settle()

    def resize(self, width: int, height: int) -> None:
        """Make the window so wide and high."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def appear(self, *, dark: bool = False, printed: bool = False) -> None:
        """Look as with these settings of the system, or on paper."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="print" if printed else "", features=[scheme])

    def picture(self, file: Path) -> None:
        """Write what is seen as a PNG."""
        answer = self.call("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(cast(str, answer["data"])))


@contextmanager
def opened_browser(program: str, folder: Path) -> Iterator[Page]:
    """Start Chromium with a profile of its own in a folder, and end it."""
    command_end, commands = os.pipe()
    answers, answer_end = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD, _ABOVE) for end in (command_end, answer_end)]

    def place_pipes() -> None:
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    with (folder / "chromium.txt").open("wb") as output:
        process = subprocess.Popen(
            [program, *_FLAGS, f"--user-data-dir={folder / 'profile'}", "--remote-debugging-pipe"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=place_pipes,  # noqa: PLW1509 the browser wants these two numbers
            pass_fds=(3, 4),
            start_new_session=True,
        )
    for end in (command_end, answer_end, *high):
        os.close(end)
    try:
        yield Page(commands, answers)
    finally:
        os.close(commands)
        os.close(answers)
        with_children = os.getpgid(process.pid)
        os.killpg(with_children, signal.SIGKILL)
        process.wait(SECONDS)
