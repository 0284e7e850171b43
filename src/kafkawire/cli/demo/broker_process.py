"""The embedded broker in a process of its own, so that it can be killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kafkawire.cli.outcome import CommandError

_SECONDS_TO_START: Final = 30.0
_SECONDS_TO_STOP: Final = 10.0
_SECONDS_BETWEEN_LOOKS: Final = 0.01
_PROGRAM: Final = "import sys; from kafkawire.cli.app import main; sys.exit(main())"


class BrokerProcess:
    """``kafkawire broker`` on a folder.

    Args:
        folder: for its data, its output and its address.
        configuration: properties, ``NAME=VALUE``.

    Attributes:
        bootstrap_servers: where it listens; empty while it is down.
        seconds_to_start: how long the last start took, interpreter and imports included.
    """

    def __init__(self, folder: Path, configuration: tuple[str, ...]) -> None:
        self.data_dir = folder / "data"
        self.bootstrap_servers = ""
        self.seconds_to_start = 0.0
        self._ready_file = folder / "address"
        self._output = folder / "output.txt"
        options = [word for setting in configuration for word in ("--config", setting)]
        paths = ["--data-dir", str(self.data_dir), "--ready-file", str(self._ready_file)]
        self._command = [sys.executable, "-c", _PROGRAM, "broker", "--port", "0", *paths, *options]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it listens.

        Raises:
            CommandError: it ended, or does not listen in time; the message has its output.
        """
        self._ready_file.unlink(missing_ok=True)
        begin = time.monotonic()
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        while not self._ready_file.exists():
            if self._process.poll() is not None or time.monotonic() - begin > _SECONDS_TO_START:
                self.kill()
                raise CommandError(f"the broker did not start:\n{self._output.read_text('utf-8', 'replace')}")
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        self.seconds_to_start = time.monotonic() - begin
        self.bootstrap_servers = self._ready_file.read_text("utf-8").strip()

    def kill(self) -> None:
        """End it at once, as ``kill -9`` does, so that it writes nothing more."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_SECONDS_TO_STOP)
            self._process = None
        self.bootstrap_servers = ""


@contextmanager
def broker_process(folder: Path, configuration: tuple[str, ...]) -> Iterator[BrokerProcess]:
    """A broker that is killed at the end; for the arguments see ``BrokerProcess``.

    Raises:
        CommandError: as ``BrokerProcess.start``.
    """
    broker = BrokerProcess(folder, configuration)
    try:
        broker.start()
        yield broker
    finally:
        broker.kill()
