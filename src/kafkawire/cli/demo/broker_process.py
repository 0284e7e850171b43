"""The embedded broker in a process of its own, so that it can be killed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from kafkawire.cli.outcome import CommandError

_PROPERTIES: Final = {
    "create.topic.policy.class.name": "kafkawire.cli.demo.topic_policy:PartitionLimit",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
_SECONDS_TO_START: Final = 30.0
_SECONDS_TO_STOP: Final = 10.0
_SECONDS_BETWEEN_LOOKS: Final = 0.01
_PROGRAM: Final = "import sys; from kafkawire.cli.app import main; sys.exit(main())"


class BrokerProcess:
    """``kafkawire broker`` on a folder.

    Args:
        folder: for its data, its configuration, its output and its address.

    Attributes:
        properties: file of its configuration.
        data_dir: folder of its data.
        bootstrap_servers: where it listens; empty while it is down.
        process_id: of its process; None while it is down.
        seconds_to_start: how long the last start took, interpreter and imports included.
    """

    def __init__(self, folder: Path) -> None:
        self.properties = folder / "broker.properties"
        self.data_dir = folder / "broker"
        self.bootstrap_servers = ""
        self.seconds_to_start = 0.0
        self._ready_file = folder / "broker.address"
        self._output = folder / "broker.output"
        paths = ["--data-dir", str(self.data_dir), "--ready-file", str(self._ready_file)]
        self._command = [
            *(sys.executable, "-c", _PROGRAM),
            *("broker", "--port", "0", "--properties", str(self.properties), *paths),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int | None:
        """Id of its process."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start it and wait until it listens, unless it runs.

        Raises:
            CommandError: it ended, or does not listen in time; the message ends with the last line of its output.
            OSError: its files cannot be written.
        """
        if self._process is not None and self._process.poll() is None:
            return
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in _PROPERTIES.items()), "utf-8")
        self._ready_file.unlink(missing_ok=True)
        begin = time.monotonic()
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        while not self._ready_file.exists():
            if self._process.poll() is not None or time.monotonic() - begin > _SECONDS_TO_START:
                self.kill()
                raise CommandError(f"the broker did not start: {self._last_line()} (all of it: {self._output})")
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

    def _last_line(self) -> str:
        lines = self._output.read_text("utf-8", "replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "it printed nothing")
