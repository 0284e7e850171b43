"""``kafkawire schema diff``: exit codes, colours, lines."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.made.packages import field, message, write_definitions

from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two folders of definitions, ``older`` and ``newer``; the commands run beside them."""
    monkeypatch.chdir(tmp_path)
    write_definitions(tmp_path / "older", message("Ping", field("Sent", "int64")), message("Gone"))
    write_definitions(
        tmp_path / "newer", message("Ping", field("Sent", "int64"), field("A" * 200, "int8")), message("Fresh")
    )
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (["older", "newer"], ExitCode.DONE),
        (["older", "older"], ExitCode.DONE),
        (["older", "newer", "--exit-code"], ExitCode.FAILED),
        (["older", "older", "--exit-code"], ExitCode.DONE),
        (["older", "missing"], ExitCode.USAGE),
        (["older", "missing", "--exit-code"], ExitCode.USAGE),
        (["older"], ExitCode.USAGE),
        (["older", "newer", "--format", "xml"], ExitCode.USAGE),
    ],
)
def test_exit_code(arguments: list[str], exit_code: ExitCode) -> None:
    assert main(["schema", "diff", *arguments]) == exit_code


def test_definitions_with_errors_cannot_be_compared(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folders / "newer" / "Ping.json").write_text('{"type": "data", "name": "Ping", "validVersions": "0+"}')
    assert main(["schema", "diff", "older", "newer"]) == ExitCode.USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "message-max-version-required" in printed.err


def test_long_lines_are_not_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "diff", "older", "newer"]) == ExitCode.DONE
    assert f"    + {'A' * 200} int8 (0-1, in place)\n" in capsys.readouterr().out


@pytest.mark.parametrize(("environment", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_only_a_terminal_gets_colours(environment: dict[str, str], is_coloured: bool) -> None:
    own = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    command = [str(Path(sys.executable).with_name("kafkawire")), "schema", "diff", "older", "newer"]
    terminal, end = pty.openpty()
    subprocess.run(command, stdout=end, check=True, env=own | {"TERM": "xterm"} | environment)
    os.close(end)
    shown = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert "+ Fresh" in shown
    assert ("\x1b[32m+ Fresh" in shown) == is_coloured
    assert ("\x1b[31m- Gone" in shown) == is_coloured


def test_piped_text_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "diff", "older", "newer"]) == ExitCode.DONE
    assert "\x1b" not in capsys.readouterr().out
