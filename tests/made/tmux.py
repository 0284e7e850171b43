"""A program in tmux: the screen as a person sees it, after everything that was drawn over."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pytest

PROGRAM: Final = Path(sys.executable).with_name("kafkawire")

_SECONDS: Final = 30.0
_PAUSE: Final = 0.02
"""Seconds from one look at the screen to the next: tmux says nothing of itself when it has drawn."""

_SECONDS_BETWEEN_PRESSES: Final = 2.0

_EXIT_CODE: Final = "exit-code"
_COMMAND: Final = f"""
trap : INT  # Ctrl-C is for the program
"$@"
echo $? > "$TMUX_TMPDIR/{_EXIT_CODE}"
trap '' INT
exec sleep 300  # the screen stays
"""

needs_tmux: Final = pytest.mark.skipif(
    shutil.which("tmux") is None and not os.environ.get("CI"), reason="tmux is not installed"
)
"""For tests that use it; in CI they fail without it."""


class TmuxRun:
    """A program in a window of tmux, in a server of its own.

    Args:
        words: the program and its arguments.
        width, height: of the window.
        environment: further variables.
    """

    def __init__(
        self, *words: str | Path, width: int = 80, height: int = 24, environment: Mapping[str, str] | None = None
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tmux-")
        self._variables = {
            **os.environ, "LC_ALL": "C.UTF-8", "TMUX_TMPDIR": self._folder.name, **(environment or {}),
        }  # fmt: skip
        for name in ("TMUX", "COLUMNS", "LINES"):  # of the window around these tests
            self._variables.pop(name, None)
        size = ("-x", str(width), "-y", str(height))
        shell = ("sh", "-c", _COMMAND, "sh")
        self._tmux("-f", os.devnull, "new-session", "-d", *size, "--", *shell, *map(str, words))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server")
        self._folder.cleanup()

    @property
    def screen(self) -> str:
        """What stands on the screen, without blanks at the ends of lines and without empty lines at its end."""
        return self._tmux("capture-pane", "-p").rstrip("\n")

    @property
    def lines(self) -> list[str]:
        """Each line of the screen and of what has scrolled away."""
        return self._tmux("capture-pane", "-p", "-S", "-").rstrip("\n").split("\n")

    @property
    def printed(self) -> list[str]:
        """The same lines as the program has printed them: those that did not fit into the window are whole."""
        return self._tmux("capture-pane", "-p", "-J", "-S", "-").rstrip("\n").split("\n")

    @property
    def coloured(self) -> str:
        """The screen with the escape sequences of its colours."""
        return self._tmux("capture-pane", "-p", "-e").rstrip("\n")

    def shows_cursor(self) -> bool:
        """Whether the cursor can be seen."""
        return self._said("cursor_flag") == "1"

    def until(self, text: str) -> None:
        """Wait until a text stands on the screen."""
        self.wait(lambda: text in self.screen, f"{text!r} does not come")

    def until_gone(self, text: str) -> None:
        """Wait until a text stands on the screen no longer."""
        self.wait(lambda: text not in self.screen, f"{text!r} stays")

    def wait(self, is_met: Callable[[], bool], otherwise: str) -> None:
        """Wait until a condition is met.

        Args:
            is_met: the condition.
            otherwise: what the error says, with the screen, if it is not met in time.
        """
        for _ in _until_deadline():
            if is_met():
                return
        raise AssertionError(f"{otherwise}:\n{self.screen}")

    def type(self, text: str) -> None:
        """Type it, letter by letter."""
        self._tmux("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Press keys, by their names in tmux: ``Enter``, ``Tab``, ``C-c``."""
        self._tmux("send-keys", "--", *keys)

    def press_until(self, key: str, text: str) -> None:
        """Press a key until a text stands on the screen: names that a cluster does not list in a second come later."""
        pressed = 0.0

        def comes() -> bool:
            nonlocal pressed
            if text in self.screen:
                return True
            if time.monotonic() > pressed + _SECONDS_BETWEEN_PRESSES:
                pressed = time.monotonic()
                self.press(key)
            return False

        self.wait(comes, f"{text!r} does not come")

    def resize(self, width: int, height: int) -> None:
        """Another size of the window."""
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def ended(self) -> int:
        """Wait for the end of the program; its exit code."""
        written = Path(self._folder.name) / _EXIT_CODE
        self.wait(lambda: written.exists() and written.read_text().endswith("\n"), "the program does not end")
        return int(written.read_text())

    def _said(self, variable: str) -> str:
        return self._tmux("display-message", "-p", f"#{{{variable}}}").strip()

    def _tmux(self, *words: str) -> str:
        run = subprocess.run(
            ["tmux", "-u", "-L", "kafkawire", *words], env=self._variables, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"tmux {' '.join(words)}: {run.stderr}"
        return run.stdout


def _until_deadline() -> Iterator[None]:
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        yield
        time.sleep(_PAUSE)
