"""How the ``kafkawire`` command starts, and how commands end."""

from __future__ import annotations

import errno
import importlib
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer

from kafkawire import wire
from kafkawire.cli.app import main
from kafkawire.cli.commands import COMMANDS, Entry, Group
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.version import __version__


def greet(name: str) -> None:
    """Greet somebody."""
    print(f"hello {name}")


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


PROGRAM = "import sys; from kafkawire.cli.app import main; sys.exit(main(sys.argv[1:]))"

SAMPLES: dict[str, Entry] = {
    "group": Group("A group of commands.", {"greet": f"{__name__}:greet", "leave": f"{__name__}:leave"}),
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
    assert capsys.readouterr().out == f"kafkawire {__version__} ({wire.ENGINE} engine)\n"


def test_the_package_can_be_run_as_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "kafkawire", "bogus"], capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.USAGE
    assert done.stderr.startswith("kafkawire: ")


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


def test_an_unexpected_exception_keeps_its_traceback() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        main(["import-unknown"], commands=SAMPLES)


def test_a_library_missing_in_the_middle_of_a_command_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    assert main(["import-late"], commands=SAMPLES) == ExitCode.FAILED
    expected = "kafkawire: the library rich is missing: pip install 'kafkawire[cli]'\n"
    assert capsys.readouterr().err == expected


WITHOUT_EXTRAS = """
import sys
for name in ("typer", "rich", "jinja2", "pyarrow", "pyspark", "yaml"):
    sys.modules[name] = None
from kafkawire.cli.app import main
sys.exit(main(sys.argv[1:]))
"""


def without_extras(*words: str) -> subprocess.CompletedProcess[str]:
    """The command line where no extra is installed."""
    return subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS, *words], capture_output=True, text=True, check=False)


def with_extras(*words: str) -> subprocess.CompletedProcess[str]:
    """The command line as it is installed."""
    return subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words", [["--help"], ["tables", "--help"], ["spark", "tables", "--help"], ["help", "report", "logs"], ["-V"]]
)
def test_help_needs_no_extra(words: list[str]) -> None:
    bare, whole = without_extras(*words), with_extras(*words)
    assert (bare.returncode, bare.stdout, bare.stderr) == (0, whole.stdout, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tables", "--list"], "kafkawire: the library typer is missing: pip install 'kafkawire[cli]'\n"),
        (["tabels"], "kafkawire: there is no command 'tabels'; did you mean tables?\n"),
    ],
)
def test_without_an_extra_a_command_says_what_to_install(words: list[str], message: str) -> None:
    run = without_extras(*words)
    assert (run.stdout, run.stderr) == ("", message)


@pytest.mark.parametrize("words", [["tables", "--list"], ["spark", "bundle", "kafkawire.zip"]])
def test_the_extras_in_a_message_are_whole(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith(("kafkawire.cli.tables", "kafkawire.spark"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert main(words) == ExitCode.FAILED
    assert re.fullmatch(
        r"kafkawire: the library \w+ is missing: pip install 'kafkawire\[cli,\w+\]'\n", capsys.readouterr().err
    )


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
    assert process.returncode == ExitCode.DONE


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
