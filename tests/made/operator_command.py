"""Runs a group of commands at a cluster and reads what it prints."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode


class Command:
    """A group of commands and a cluster.

    Args:
        group: its name, such as ``topics``.
        servers: where the cluster is.
        capsys: what has the output.

    Attributes:
        err: what the last run printed on standard error.
    """

    def __init__(self, group: str, servers: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._group = group
        self.servers = servers
        self._capsys = capsys
        self.err = ""

    def text(self, *words: str, code: ExitCode = ExitCode.DONE) -> str:
        """What a run prints on standard output; it must end with an exit code."""
        ended = main([self._group, *words, "-b", self.servers])
        out, self.err = self._capsys.readouterr()
        assert ended == code, (out, self.err)
        return out

    def rows(self, *words: str, code: ExitCode = ExitCode.DONE) -> list[dict[str, Any]]:
        """The rows that it prints."""
        return [json.loads(line) for line in self.text(*words, "-o", "jsonl", code=code).splitlines()]

    def statuses(self, *words: str, code: ExitCode = ExitCode.DONE) -> dict[str, str]:
        """The status of each item of a change."""
        return {row["item"]: row["status"] for row in self.rows(*words, code=code)}
