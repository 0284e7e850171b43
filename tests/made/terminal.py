"""A program on a terminal of its own: what a person sees, types and interrupts."""

from __future__ import annotations

import codecs
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from fcntl import ioctl
from pathlib import Path
from types import TracebackType
from typing import Self

_COMMAND = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # Ctrl-C of this terminal is for this program
from kafkawire.cli.app import main
sys.exit(main())
"""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
_SECONDS = 30.0


class TerminalRun:
    """``kafkawire`` on a terminal.

    Args:
        words: after ``kafkawire``.
        width, height: of the terminal.
        environment: further variables.
    """

    def __init__(
        self, *words: str, width: int = 80, height: int = 40, environment: Mapping[str, str] | None = None
    ) -> None:
        self._ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        variables = {**os.environ, "TERM": "xterm", **(environment or {})}
        for size in ("COLUMNS", "LINES"):  # which would win over the terminal
            variables.pop(size, None)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=variables,
            start_new_session=True,
        )
        os.close(theirs)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.raw = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(_SECONDS)
        os.close(self._ours)

    @property
    def seen(self) -> str:
        """What was printed so far, without control characters."""
        return _CONTROL.sub("", self.raw)

    @property
    def drawn(self) -> list[str]:
        """Every line that was drawn so far, also those of progress that others have replaced."""
        return [_CONTROL.sub("", line) for line in re.split(r"[\r\n]+|\x1b\[2K", self.raw)]

    def until(self, text: str, *, times: int = 1) -> None:
        """Wait until a text was printed."""
        end = time.monotonic() + _SECONDS
        while self.seen.count(text) < times:
            assert self._read(end - time.monotonic()), f"{text!r} does not come: {self.seen}"

    def type(self, text: str) -> None:
        """Type it, after the program has begun to wait.

        Python sees Ctrl-C before it reads or while it reads. Between the two is a moment in which it reads first.
        """
        end = time.monotonic() + _SECONDS
        while not self._waits() and time.monotonic() < end:
            time.sleep(0.001)
        os.write(self._ours, text.encode())

    def ended(self) -> int:
        """Wait for the end; the exit code."""
        end = time.monotonic() + _SECONDS
        while self._read(end - time.monotonic()):
            pass
        return self._process.wait(_SECONDS)

    def _waits(self) -> bool:
        """Whether the main thread sleeps, or has ended."""
        try:
            state = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        return state in "SZ"

    def _read(self, seconds: float) -> bool:
        """Whether there was more to read."""
        if not select.select([self._ours], [], [], max(seconds, 0))[0]:
            return False
        try:
            octets = os.read(self._ours, 1 << 16)
        except OSError:  # Linux says so that the other side is closed
            return False
        self.raw += self._decoder.decode(octets)
        return bool(octets)
