"""Every command that reads a file or standard input has the same messages for what is no text."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.given_text import given_text
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.declared.documents import text_files

SERVERS = ["-b", "127.0.0.1:9"]
COMMANDS = {
    "items": ["topics", "create", *SERVERS, "--from"],
    "offsets": ["groups", "reset", *SERVERS, "--from-file"],
    "assignments": ["reassign", "run", *SERVERS],
    "documents": ["plan", *SERVERS],
}
each_command = pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)


@each_command
def test_a_file_that_does_not_exist_is_wrong_usage(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, str(tmp_path / "absent.yaml")]) == ExitCode.USAGE
    errors = capsys.readouterr().err
    assert "cannot be read: No such file or directory" in errors
    assert "name a file that exists, or - for standard input" in errors


@each_command
def test_other_encodings_have_their_place(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "latin.yaml"
    file.write_bytes(b"a\n\xc3\xa4bc\xff\n")
    assert main([*words, str(file)]) in {ExitCode.USAGE, ExitCode.FAILED}
    errors = capsys.readouterr().err
    assert f"{file}:2:4: " in errors
    assert "byte 0xff is not UTF-8" in errors
    assert "save the file as UTF-8" in errors


@each_command
def test_too_much_is_refused(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(text_files, "LARGEST_FILE", 1 << 20)
    file = tmp_path / "large.yaml"
    file.write_bytes(b"#" * ((1 << 20) + 1))
    assert main([*words, str(file)]) in {ExitCode.USAGE, ExitCode.FAILED}
    errors = capsys.readouterr().err
    assert "is larger than 1 MiB" in errors
    assert "split it" in errors


@pytest.mark.parametrize("name", ["items", "offsets", "assignments"])
def test_a_folder_is_no_file(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMANDS[name], str(tmp_path)]) == ExitCode.USAGE
    assert capsys.readouterr().err == (
        f"kafkawire: {tmp_path}: cannot be read: Is a directory; name a file that exists, or - for standard input\n"
    )


def test_standard_input_is_read_without_its_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfa\r\nb")))
    assert given_text(Path("-")).splitlines() == ["a", "b"]


def test_mistakes_of_standard_input_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    with pytest.raises(CommandError, match="standard input:1:1: byte 0xff is not UTF-8"):
        given_text(Path("-"))


def test_closed_standard_input_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(CommandError, match="standard input: cannot be read: it is closed"):
        given_text(Path("-"))
