"""Printed commands can be copied into a shell."""

from __future__ import annotations

import os
import shlex
import sysconfig
from pathlib import Path

import pytest

from kafkawire.cli.demo.printed_command import command_lines, program

SCRIPTS = Path(sysconfig.get_path("scripts"))


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(SCRIPTS))


@pytest.mark.usefixtures("on_path")
def test_a_long_command_is_broken_between_words_and_options_stay_with_their_values() -> None:
    lines = list(command_lines(["tables", "--log", Path("/a folder"), "--table", "acl_history", "--list"], 40))
    assert lines == [
        "    kafkawire tables --log '/a folder' \\",
        "      --table acl_history --list",
    ]
    assert shlex.split("".join(lines).replace("\\", "")) == [
        *("kafkawire", "tables", "--log", "/a folder", "--table", "acl_history", "--list")
    ]


@pytest.mark.usefixtures("on_path")
def test_a_word_that_is_longer_than_a_line_stays_whole() -> None:
    assert list(command_lines(["codec", "decode", "<", Path("/a" * 40)], 40)) == [
        "    kafkawire codec decode \\",
        f"      < {'/a' * 40}",
    ]


@pytest.mark.usefixtures("on_path")
def test_the_program_is_named_alone_if_the_shell_finds_this_one() -> None:
    assert program() == "kafkawire"


def test_the_program_is_a_path_if_the_shell_does_not_find_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.chdir("/")
    assert program() == str(SCRIPTS / "kafkawire").lstrip("/")
    monkeypatch.chdir(SCRIPTS.parent)
    assert program() == f"{SCRIPTS.name}{os.sep}kafkawire"
    monkeypatch.chdir(Path(__file__).parent)
    assert program() == str(SCRIPTS / "kafkawire")
