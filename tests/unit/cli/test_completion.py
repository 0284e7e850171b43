"""Completion of commands, options and values; and in a real bash."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.completion import SCRIPTS, print_replies, replies
from kafkawire.cli.description import stored_description
from kafkawire.logs import RecordRegistry, table_named, table_names
from kafkawire.logs.tables.record_types import record_type_names

DESCRIPTION = stored_description()
PROGRAM = Path(sys.executable).with_name("kafkawire")


def words_after(*words: str) -> list[str]:
    return [each.word for each in replies(DESCRIPTION, words)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ta"], ["tables"]),
        (["sch"], ["schema"]),
        (["schema", ""], ["check", "diff", "documents", "lint"]),
        (["help", "schema", "l"], ["lint"]),
        (["help", "tables", ""], []),
        (["--v"], ["--version"]),
        (["tables", "--tab"], ["--table"]),
        (["tables", "--no-v"], ["--no-verify-checksums"]),
        (["tables", "--table", "acl_h"], ["acl_history"]),
        (["tables", "--table=acl_h"], ["--table=acl_history"]),
        (["tables", "--table", "topic", "--columns", "nam"], ["name"]),
        (["tables", "--table", "topic", "--columns", "name,topic_i"], ["name,topic_id"]),
        (["tables", "--record-types", "CONFIG_"], ["CONFIG_RECORD"]),
        (["tables", "--record-types", "TOPIC_RECORD,config_"], ["TOPIC_RECORD,CONFIG_RECORD"]),
        (["tables", "--mode", "perm"], ["PERMISSIVE"]),
        (["spark", "tables", "--table", "acl_h"], ["acl_history"]),
        (["schema", "check", "-o", "s"], ["sarif"]),
        (["schema", "check", "--profile", ""], ["kafkawire", "upstream"]),
        (["generate", "--out", ""], []),
        (["nothing", ""], []),
    ],
    ids=" ".join,
)
def test_completion_knows(words: list[str], expected: list[str]) -> None:
    assert words_after(*words) == expected


def test_an_option_is_offered_once_unless_it_is_repeatable() -> None:
    offered = words_after("tables", "--log", "a", "--table", "topic", "--")
    assert "--log" in offered
    assert "--table" not in offered


def test_a_command_without_arguments_offers_its_options() -> None:
    assert "--port" in words_after("broker", "")


def test_values_are_those_of_the_tables() -> None:
    assert words_after("tables", "--table", "") == list(table_names())
    assert words_after("tables", "--record-types", "") == list(record_type_names(RecordRegistry()))
    for table in ("topic", "acl_history", "batches"):
        assert words_after("tables", "--table", table, "--columns", "") == table_named(table).schema.names


def test_zsh_and_fish_get_the_meaning_too(capsys: pytest.CaptureFixture[str]) -> None:
    print_replies(DESCRIPTION, "zsh", ["schema", "l"])
    print_replies(DESCRIPTION, "fish", ["schema", "l"])
    meaning = "Check message definitions against the rules of the definition language."
    assert capsys.readouterr().out == f"lint:{meaning}\nlint\t{meaning}\n"


def completed_by_bash(*words: str, tmp_path: Path) -> list[str]:
    """What bash offers after the words: the script is loaded, and bash itself splits the words of the line."""
    program = f"""
        export PATH={PROGRAM.parent}:$PATH
        {SCRIPTS["bash"]}
        COMP_LINE={" ".join(words)!r}
        COMP_WORDS=("$@") COMP_CWORD=$(( $# - 1 ))
        _kafkawire_completion kafkawire "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    bash = shutil.which("bash")
    assert bash is not None
    run = subprocess.run(
        [bash, "--norc", "-c", program, "bash", *words], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert run.stderr == ""
    return run.stdout.split()


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


@needs_bash
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["kafkawire", "ta"], ["tables"]),
        (["kafkawire", "schema", ""], ["check", "diff", "documents", "lint"]),
        (["kafkawire", "tables", "--table", "acl_h"], ["acl_history"]),
        (["kafkawire", "tables", "--table", "=", "acl_h"], ["acl_history"]),
        (["kafkawire", "tables", "--mode", "="], ["PERMISSIVE", "DROPMALFORMED", "FAILFAST"]),
        (["kafkawire", "tables", "--table", "topic", "--columns", "name,topic_i"], ["name,topic_id"]),
        (["kafkawire", "generate", "--out", ""], []),
    ],
    ids=" ".join,
)
def test_bash_completes(words: list[str], expected: list[str], tmp_path: Path) -> None:
    assert completed_by_bash(*words, tmp_path=tmp_path) == expected


@needs_bash
def test_a_tab_in_an_interactive_bash_completes_the_line(tmp_path: Path) -> None:
    """The script is installed, and a new bash on a terminal reads it and completes words and files."""
    import pty  # noqa: PLC0415 not on Windows

    home = {**os.environ, "HOME": str(tmp_path), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "TERM": "dumb"}
    home.pop("XDG_DATA_HOME", None)
    subprocess.run([PROGRAM, "--install-completion", "bash"], check=True, env=home, capture_output=True)
    with (tmp_path / ".bashrc").open("a") as start:
        start.write("bind 'set enable-bracketed-paste off'; PS1='ready> '\n")
    (tmp_path / "here.bin").touch()
    outside, inside = pty.openpty()
    with subprocess.Popen(
        ["bash", "-i"], stdin=inside, stdout=inside, stderr=inside, env=home, cwd=tmp_path, start_new_session=True
    ) as bash:
        os.close(inside)
        read_until(outside, b"ready> ")
        os.write(outside, b"kafkawire schema li\t--format sar\there\t")
        read_until(outside, b"schema lint --format sarif here.bin")
        os.write(outside, b"\x15exit\n")
        bash.wait(30)
    os.close(outside)


def read_until(terminal: int, text: bytes) -> None:
    """Read what a terminal shows until it has shown a text."""
    shown = b""
    while text not in shown:
        assert select.select([terminal], [], [], 30)[0], shown
        shown += os.read(terminal, 4096)


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", ".local/share/bash-completion/completions/kafkawire"),
        ("zsh", ".zfunc/_kafkawire"),
        ("fish", ".config/fish/completions/kafkawire.fish"),
    ],
)
def test_the_script_is_installed_once(
    shell: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'")
    assert main(["--install-completion"]) == 0
    first = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert main(["--install-completion", shell]) == 0
    assert {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == first
    assert (tmp_path / file).read_text() == SCRIPTS[shell]
    assert (tmp_path / ".bashrc").read_text().startswith("alias ll='ls -l'")
    assert str(tmp_path / file) in capsys.readouterr().out


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_is_shown_and_is_correct_where_the_shell_is_installed(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--show-completion", shell]) == 0
    script = capsys.readouterr().out
    assert script == SCRIPTS[shell]
    program = shutil.which(shell)
    if program is not None:
        assert subprocess.run([program, "-n"], input=script, text=True, check=False).returncode == 0
