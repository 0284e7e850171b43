"""A broker in a process, for a suite that starts its own: from properties, without an import of kafkawire."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Final, TypedDict

OURS: Final = "KAFKAWIRE_SUITE_PYTHON"
"""The variable with the Python that runs our modules."""

FOLDER: Final = "KAFKAWIRE_SUITE_FOLDER"
"""The variable with the folder of the run."""

ROOT: Final = "KAFKAWIRE_SUITE_ROOT"
"""The variable with the folder that has the package ``tests``."""

IMPORTS: Final = "KAFKAWIRE_SUITE_IMPORTS"
"""The variable with the folders from which our Python imports."""

_SECONDS_TO_STOP = 60


class BrokerProcess:
    """A broker that has started.

    Args:
        properties: of the broker; the port of its first listener names it.

    Raises:
        RuntimeError: if it did not start; the message is what it printed.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.port = properties["listeners"].partition(",")[0].rpartition(":")[2]
        path = Path(os.environ[FOLDER]) / f"{self.port}.properties"
        path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()), "utf-8")
        printed = path.with_suffix(".output")
        with printed.open("w") as output:
            self._process = subprocess.Popen(
                [*_ours("server"), str(path)], stdout=subprocess.PIPE, stderr=output, text=True, **_own_place()
            )
        if not _reached(self._process.stdout, "Kafka Server started"):
            self._process.wait()
            raise RuntimeError(f"the broker did not start:\n{printed.read_text()}")

    def run_tool(self, name: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Run one of Apache Kafka's tools against the broker."""
        command = [*_ours("tools"), name, self.port, *arguments]
        return subprocess.run(command, capture_output=True, check=False, **_own_place())

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(_SECONDS_TO_STOP)


def free_port() -> int:
    """A port that is free at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _ours(module: str) -> list[str]:
    return [os.environ[OURS], "-m", f"tests.suites.{module}"]


class _Place(TypedDict):
    cwd: str
    env: dict[str, str]


def _own_place() -> _Place:
    """Where our modules are found: the folder of a suite may have a package ``tests`` too."""
    return {"cwd": os.environ[ROOT], "env": {**os.environ, "PYTHONPATH": os.environ[IMPORTS]}}


def _reached(output: IO[str] | None, words: str) -> bool:
    """Read lines up to one with the words."""
    assert output is not None
    return any(words in line for line in output)
