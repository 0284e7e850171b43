"""A file is written completely or not at all, and its name determines the format."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from kafkawire.cli.destination import whole_file
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.tables.formats import Format, chosen_format


def test_a_file_gets_its_name_when_it_is_complete(tmp_path: Path) -> None:
    out = tmp_path / "acl.csv"
    out.write_bytes(b"old")
    with whole_file(out) as stream:
        stream.write(b"new")
        assert out.read_bytes() == b"old"
    assert out.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("failure", [CommandError("no"), KeyboardInterrupt()])
def test_the_old_file_stays_after_a_failure_or_an_interrupt(tmp_path: Path, failure: BaseException) -> None:
    out = tmp_path / "acl.csv"
    out.write_bytes(b"old")

    def fail_halfway() -> None:
        with whole_file(out) as stream:
            stream.write(b"half")
            raise failure

    with pytest.raises(type(failure)):
        fail_halfway()
    assert out.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [out]


def test_the_permissions_of_a_file_are_kept(tmp_path: Path) -> None:
    out = tmp_path / "secrets.csv"
    out.touch(0o600)
    with whole_file(out) as stream:
        stream.write(b"new")
        (part,) = set(tmp_path.iterdir()) - {out}
        assert part.stat().st_mode & 0o777 == 0o600
    assert out.stat().st_mode & 0o777 == 0o600


def test_a_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target.csv"
    target.write_bytes(b"old")
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    with whole_file(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    with whole_file(pipe) as stream:
        stream.write(b"rows")
    reader.join(10)
    assert received == [b"rows"]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is a folder"), whole_file(tmp_path):
        pass


def test_the_error_for_a_missing_folder_names_the_file(tmp_path: Path) -> None:
    out = tmp_path / "none" / "a.csv"
    with pytest.raises(FileNotFoundError) as raised, whole_file(out):
        pass
    assert raised.value.filename == str(out)


@pytest.mark.parametrize(
    ("wanted", "out", "terminal", "expected"),
    [
        (None, None, True, Format.TABLE),
        (None, None, False, Format.JSONL),
        (None, "a.csv", True, Format.CSV),
        (None, "a.jsonl", True, Format.JSONL),
        (None, "a.json", True, Format.JSON),
        (None, "a.yml", True, Format.YAML),
        (None, "a.arrow", True, Format.ARROW),
        (None, "a.PARQUET", True, Format.PARQUET),
        (None, "a.txt", False, Format.TABLE),
        (Format.CSV, "a.parquet", False, Format.CSV),
        (Format.PARQUET, None, False, Format.PARQUET),
        (Format.PARQUET, "a", True, Format.PARQUET),
    ],
)
def test_the_option_or_the_file_name_determines_the_format(
    wanted: Format | None, out: str | None, terminal: bool, expected: Format
) -> None:
    assert chosen_format(wanted, None if out is None else Path(out), terminal=terminal) is expected


@pytest.mark.parametrize("form", [Format.PARQUET, Format.ARROW, Format.ARROWS])
def test_binary_forms_are_refused_on_a_terminal(form: Format) -> None:
    with pytest.raises(CommandError, match=f"-o {form} is binary, .*: give --out FILE, or write to a pipe") as raised:
        chosen_format(form, None, terminal=True)
    assert raised.value.exit_code is ExitCode.USAGE


def test_an_unknown_file_suffix_needs_a_format() -> None:
    with pytest.raises(CommandError, match="say the form with -o"):
        chosen_format(None, Path("table.xls"), terminal=False)
