"""How the ``kafkawire`` command starts, and how commands end."""

from __future__ import annotations

import errno
import importlib
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer

from kafkawire.cli.app import COMMANDS, main
from kafkawire.cli.outcome import CommandError, ExitCode

group = typer.Typer(help="A group of commands.")


@group.command()
def greet(name: str) -> None:
    """Greet somebody."""
    print(f"hello {name}")


@group.command()
def leave() -> None:
    """Say goodbye."""
    raise typer.Exit(ExitCode.SOME_FAILED)


def single(lines: Annotated[int, typer.Option(help="How many lines.")] = 1) -> None:
    """Print lines."""
    for number in range(lines):
        print(f"line {number}")


def refuse() -> None:
    """Fail as expected."""
    raise CommandError("topic orders is not there; create it first")


def refuse_usage() -> None:
    """Fail for wrong usage."""
    raise CommandError("--from needs --to", ExitCode.USAGE)


def lose_file() -> None:
    """Open a file that is not there."""
    Path("/no/such/file.json").read_text()


def lose_connection() -> None:
    """Fail with an OSError without a file name."""
    raise OSError(errno.ECONNREFUSED, "Connection refused")


def import_late() -> None:
    """Import an optional library when called."""
    import rich  # noqa: PLC0415

    print(rich.__name__)


def import_unknown() -> None:
    """Import a library that no extra installs."""
    importlib.import_module("kafkawire.no_such_module")


def interrupted() -> None:
    """Be interrupted at once."""
    raise KeyboardInterrupt


SAMPLES = {
    "group": f"{__name__}:group",
    "import-late": f"{__name__}:import_late",
    "import-unknown": f"{__name__}:import_unknown",
    "interrupted": f"{__name__}:interrupted",
    "lose-connection": f"{__name__}:lose_connection",
    "lose-file": f"{__name__}:lose_file",
    "refuse": f"{__name__}:refuse",
    "refuse-usage": f"{__name__}:refuse_usage",
    "single": f"{__name__}:single",
}


def test_version_prints_the_version_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == ExitCode.DONE
    assert capsys.readouterr().out.startswith("kafkawire 0.")


@pytest.mark.parametrize("words", [["--help"], ["-h"]])
def test_help_lists_every_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words, commands=SAMPLES) == ExitCode.DONE
    shown = capsys.readouterr().out
    assert [name for name in SAMPLES if name not in shown] == []
    assert "Print lines." in shown


def test_without_arguments_the_command_prints_help_and_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], commands=SAMPLES) == ExitCode.USAGE
    captured = capsys.readouterr()
    assert "Usage: kafkawire" in captured.out + captured.err


def test_arguments_of_the_process_are_the_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["kafkawire", "single", "--lines", "2"])
    assert main(commands=SAMPLES) == ExitCode.DONE
    assert capsys.readouterr().out == "line 0\nline 1\n"


def test_a_group_has_its_own_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["group", "greet", "Ada"], commands=SAMPLES) == ExitCode.DONE
    assert capsys.readouterr().out == "hello Ada\n"


def test_an_exit_code_reaches_the_shell() -> None:
    assert main(["group", "leave"], commands=SAMPLES) == ExitCode.SOME_FAILED


@pytest.mark.parametrize("words", [["bogus"], ["single", "--bogus"], ["group"], ["group", "greet"]])
def test_wrong_usage_exits_with_2(words: list[str]) -> None:
    assert main(words, commands=SAMPLES) == ExitCode.USAGE


@pytest.mark.parametrize(
    ("command", "exit_code", "message"),
    [
        ("refuse", ExitCode.FAILED, "kafkawire: topic orders is not there; create it first\n"),
        ("refuse-usage", ExitCode.USAGE, "kafkawire: --from needs --to\n"),
        ("lose-file", ExitCode.FAILED, "kafkawire: /no/such/file.json: No such file or directory\n"),
        ("lose-connection", ExitCode.FAILED, "kafkawire: [Errno 111] Connection refused\n"),
        ("interrupted", ExitCode.INTERRUPTED, ""),
    ],
)
def test_expected_failures_are_one_line(
    command: str, exit_code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command], commands=SAMPLES) == exit_code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == message


def test_only_the_called_command_is_imported(capsys: pytest.CaptureFixture[str]) -> None:
    commands = {"broken": "kafkawire.no_such_module:command"} | SAMPLES
    assert main(["single"], commands=commands) == ExitCode.DONE
    assert capsys.readouterr().out == "line 0\n"


def test_an_unexpected_exception_keeps_its_traceback() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        main(["import-unknown"], commands=SAMPLES)
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        main(["broken"], commands={"broken": "kafkawire.no_such_module:command"})


def test_a_library_missing_in_the_middle_of_a_command_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    assert main(["import-late"], commands=SAMPLES) == ExitCode.FAILED
    expected = "kafkawire: the library rich is missing: pip install 'kafkawire[cli]'\n"
    assert capsys.readouterr().err == expected


def test_the_command_itself_needs_an_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "typer.main", None)
    assert main(["--version"]) == ExitCode.FAILED
    assert capsys.readouterr().err == "kafkawire: the library typer is missing: pip install 'kafkawire[cli]'\n"


@pytest.fixture
def needy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Commands, one of which needs a library that is not installed."""
    (tmp_path / "needy_command.py").write_text("import pyspark.sql\n\ndef needy() -> None:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    return {"needy": "needy_command:needy", "single": f"{__name__}:single"}


@pytest.mark.parametrize("rest", [[], ["--some", "option"], ["--help"]])
def test_a_command_without_its_libraries_says_what_to_install(
    needy: dict[str, str], rest: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["needy", *rest], commands=needy) == ExitCode.FAILED
    expected = "kafkawire: the library pyspark is missing: pip install 'kafkawire[cli,spark]'\n"
    assert capsys.readouterr().err == expected


def test_a_command_without_its_libraries_stays_listed(
    needy: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--help"], commands=needy) == ExitCode.DONE
    shown = capsys.readouterr().out
    assert "needy" in shown
    assert "Not available" in shown


def run_in_process(tmp_path: Path, body: str, at_import: str = "") -> subprocess.Popen[bytes]:
    """Run the command line in its own process, with a command ``filter`` that has the given body."""
    (tmp_path / "filter_command.py").write_text(f"import sys\n{at_import}\n\ndef filter() -> None:\n    {body}\n")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from kafkawire.cli.app import main; "
        "sys.exit(main(['filter'], commands={'filter': 'filter_command:filter'}))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize(
    ("body", "at_import"),
    [
        ("sys.stdin.read(); print('line')", ""),
        ("sys.stdin.read(); print('line\\n' * 100_000)", ""),
        ("pass", "sys.stdin.read(); print('line', flush=True)"),
    ],
    ids=["small output", "large output", "while the command is imported"],
)
def test_a_closed_pipe_prints_no_error(tmp_path: Path, body: str, at_import: str) -> None:
    process = run_in_process(tmp_path, body, at_import)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, complaints = process.communicate(b"")
    assert complaints == b""
    assert process.returncode == ExitCode.FAILED


WAIT = "print('ready', flush=True); sys.stdin.read()"


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(("body", "at_import"), [(WAIT, ""), ("pass", WAIT)], ids=["running", "being imported"])
def test_ctrl_c_ends_quietly_with_130(tmp_path: Path, body: str, at_import: str) -> None:
    process = run_in_process(tmp_path, body, at_import)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate()
    assert complaints == b""
    assert process.returncode == ExitCode.INTERRUPTED


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == ExitCode.DONE
    assert f"Usage: kafkawire {name}" in capsys.readouterr().out
