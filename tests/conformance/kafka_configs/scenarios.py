"""Command lines of kafka-configs, each scenario on a cluster in the same state.

``SERVER`` and ``CONTROLLER`` represent the addresses of the listeners, ``NODE`` for the id of the one node, and
``FILES`` for a folder with the files of `write_files`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

TOPICS: Final = ("t1", "t2", "other")
"""The topics of the cluster before each scenario; nothing else is set there."""

_FILES: Final[Mapping[str, str]] = {
    "topic.properties": "retention.ms = 7000\n# a comment\ncleanup.policy: compact,delete\n",
    "nested.properties": "broker.rack = [[1, 2], [3, 4]]\n",
    "scram.properties": "SCRAM-SHA-256 = iterations=8192,password=a, b=c\n",
    "bad-key.properties": "a/b = c\n",
    "empty.properties": "",
    "client.properties": "request.timeout.ms=20000\nclient.id=scripts\n",
}


def write_files(folder: Path) -> None:
    """Write the files that command lines name."""
    for name, text in _FILES.items():
        (folder / name).write_text(text, "utf-8")


def words_of(line: str, *, server: str, controller: str, node: int, files: Path) -> list[str]:
    """The words of a command line."""
    places = {"SERVER": server, "CONTROLLER": controller, "NODE": str(node), "FILES": str(files)}
    words = shlex.split(line)
    for place, value in places.items():
        words = [word.replace(place, value) for word in words]
    return words


def _scenarios() -> Mapping[str, tuple[str, ...]]:
    files = sorted((Path(__file__).parent / "command_lines").glob("*.txt"))
    return {file.stem: tuple(file.read_text("utf-8").splitlines()) for file in files}


SCENARIOS: Final = _scenarios()
"""Name to command lines, which are run one after the other."""
