"""What ``kafkawire schema lint`` prints for other programs, on definitions whose file has a name of all kinds.

``pytest tests/golden --update-golden`` writes the expected texts again; read the difference before committing it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

FOLDER = Path(__file__).parent / "report"
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("format_", ["github", "sarif"])
def test_findings_read_as_expected(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], update_golden: bool, format_: str
) -> None:
    monkeypatch.chdir(FOLDER)
    assert main(["schema", "lint", "definitions", "--format", format_]) == ExitCode.FAILED

    printed = capsys.readouterr()
    shown = re.sub(r'"version": "0\.[^"]+"', '"version": "VERSION"', printed.out)
    expected = FOLDER / f"expected.{format_}"
    if update_golden:
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")
    assert printed.err.endswith(" in 2 files\n")
