"""Tables of logs as of some dates, as ``kafkawire tables`` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from kafkawire.cli.app import main

Rows: TypeAlias = Sequence[Mapping[str, object]]


class Tables:
    """The tables of some logs, each read once.

    Args:
        logs: the folder of the logs.
        folder: for the files that the command writes.
    """

    def __init__(self, logs: Path, folder: Path) -> None:
        self._logs, self._folder = logs, folder
        self._read: dict[tuple[str, int | None], Rows] = {}

    def rows(self, name: str, date: int | None = None) -> Rows:
        """The rows of a table, or only those that are valid at a date in milliseconds."""
        if (name, date) not in self._read:
            out = self._folder / f"{name}-{date}.jsonl"
            as_of = [] if date is None else ["--as-of", datetime.fromtimestamp(date / 1000, UTC).isoformat()]
            assert main(["tables", "--log", str(self._logs), "--table", name, "--out", str(out), *as_of]) == 0
            self._read[name, date] = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        return self._read[name, date]
