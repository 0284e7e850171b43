"""What the tests of ``kafkawire doctor`` share: one run, and its rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from kafkawire.cli.app import main

DoctorRow = Mapping[str, str]


class Checked(NamedTuple):
    """The exit code and the rows of a run."""

    code: int
    rows: list[DoctorRow]

    def of(self, step: str) -> list[DoctorRow]:
        """The rows of a step."""
        return [row for row in self.rows if row["step"] == step]

    @property
    def failed(self) -> list[DoctorRow]:
        """The rows that failed."""
        return [row for row in self.rows if row["status"] == "failed"]


class Doctor(Protocol):
    """Runs ``kafkawire doctor`` with the properties of a client."""

    def __call__(self, servers: str, properties: Mapping[str, str] | None = None) -> Checked: ...


@pytest.fixture
def doctor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Doctor:
    def run(servers: str, properties: Mapping[str, str] | None = None) -> Checked:
        file = tmp_path / "doctor.properties"
        lines = {"bootstrap.servers": servers, **(properties or {})}
        file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        code = main(["doctor", "--command-config", str(file), "--timeout", "1", "-o", "json"])
        return Checked(code, json.loads(capsys.readouterr().out))

    return run
