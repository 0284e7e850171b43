"""The exit codes that docs/reference/command-line.md lists, in every command."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.commands import COMMANDS, Entry, Group
from kafkawire.cli.outcome import ExitCode

PROGRAM = Path(sys.executable).with_name("kafkawire")
ROOT = Path(__file__).parents[3]


def paths(commands: Mapping[str, Entry]) -> Iterator[tuple[str, ...]]:
    for name, entry in commands.items():
        if isinstance(entry, Group):
            yield from ((name, *rest) for rest in paths(entry.commands))
        else:
            yield (name,)


every_command = pytest.mark.parametrize("words", list(paths(COMMANDS)), ids=" ".join)


@every_command
def test_help_is_0(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == ExitCode.DONE
    assert capsys.readouterr().out.startswith(f"Usage: kafkawire {' '.join(words)} ")


@every_command
@pytest.mark.parametrize("wrong", ["--no-such-option", "--no-such-option=1"])
def test_an_unknown_option_is_2(words: tuple[str, ...], wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, wrong]) == ExitCode.USAGE
    assert capsys.readouterr().err.startswith("kafkawire: there is no option --no-such-option; ")


GONE = "no/such/folder"


@pytest.mark.parametrize(
    "words",
    [
        ["broker", "--port", "0", "--properties", GONE],
        ["broker", "--port", "0", "--ready-file", f"{GONE}/ready"],
        ["generate", "--package", "acme.x", "--out", "out", "--specs", GONE],
        ["report", "logs", GONE, "--out", "page.html"],
        ["schema", "check", GONE, "builtin"],
        ["schema", "diff", "builtin", GONE],
        ["schema", "lint", GONE],
        ["specs", "add", "4.4.0", "--offline-jars", GONE],
        ["specs", "add", "4.4.0", "--specs", GONE],
        ["specs", "check", "--specs", GONE],
        ["specs", "import", "--offline-jars", GONE],
        ["specs", "import", "--sources", f"{GONE}/sources.toml"],
        ["tables", "--log", GONE, "--table", "topic"],
    ],
    ids=" ".join,
)
def test_a_missing_folder_or_file_that_the_user_named_is_2(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == ExitCode.USAGE
    assert GONE in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("words", [["tables", "--list"], ["--help"], ["--show-completion", "zsh"]], ids=" ".join)
def test_a_full_disk_under_standard_output_is_1_and_says_so(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        run = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert run.returncode == ExitCode.FAILED
    assert run.stderr == "kafkawire: standard output: No space left on device; free space, or write elsewhere\n"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    "command",
    [
        "kafkawire tables --list",
        "kafkawire tables --help",
        "kafkawire schema diff --help",
        "kafkawire schema lint specs/clients -o jsonl 2>/dev/null",
        "kafkawire --show-completion zsh",
        "(yes '{}' || true) | kafkawire codec decode",
    ],
)
def test_a_closed_pipe_does_not_fail_a_script(command: str) -> None:
    script = f"set -o pipefail; PATH={PROGRAM.parent}:$PATH; {command} | head -1"
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, cwd=ROOT, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("kafkawire schema lint specs/clients >&-", ExitCode.DONE),
        ("kafkawire plan --bootstrap-server localhost:1 --timeout 0.2 - <&-", ExitCode.FAILED),
        ("kafkawire context use nothing 2>&-", ExitCode.USAGE),
        ("kafkawire schema diff --help >&- 2>&- <&-", ExitCode.DONE),
    ],
)
def test_closed_streams_are_no_failure(command: str, code: ExitCode, tmp_path: Path) -> None:
    script = f"PATH={PROGRAM.parent}:$PATH; XDG_CONFIG_HOME={tmp_path}; {command}"
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, cwd=ROOT, timeout=60)
    assert "Traceback" not in run.stderr
    assert run.returncode == code


def test_a_pipe_carries_every_character(tmp_path: Path) -> None:
    surroundings = {"PYTHONIOENCODING": "ascii", "XDG_CONFIG_HOME": str(tmp_path)}
    subprocess.run([PROGRAM, "context", "set", "münchen", "-b", "localhost:1"], env=surroundings, check=True)
    run = subprocess.run([PROGRAM, "context", "list", "-o", "name"], env=surroundings, capture_output=True, check=True)
    assert run.stdout.decode() == "münchen\n"
