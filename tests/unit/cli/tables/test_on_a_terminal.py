"""``kafkawire tables`` on a terminal of 80 columns: what a person sees."""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.made.logs import METADATA_LOG, Step, write_segment

from kafkawire.layout import Uuid
from kafkawire.protocol import AccessControlEntryRecord, RemoveAccessControlEntryRecord

COMMAND = "import sys; from kafkawire.cli.app import main; sys.exit(main())"
CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
WIDTH = 80


def seen(*words: str) -> list[str]:
    """The lines that stay on the terminal."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    environment.pop("COLUMNS", None)
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, "tables", *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ):
        os.close(theirs)
        octets = b""
        while part := _read(ours):
            octets += part
    os.close(ours)
    lines = CONTROL.sub("", octets.decode()).splitlines()
    return [line for line in lines if "━" not in line and "?" not in line]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux says so that the other side is closed
        return b""


@pytest.fixture
def log(tmp_path: Path) -> str:
    """Ann and Bob had an ACL each; the one of Bob was deleted an hour later."""

    def acl(number: int, principal: str, operation: int) -> AccessControlEntryRecord:
        return AccessControlEntryRecord(Uuid(bytes([number] * 16)), 2, "orders", 3, principal, "*", operation, 3)

    bob = acl(2, "User:bob", 4)
    steps = [
        Step(1772366400000, (acl(1, "User:ann", 3), bob)),
        Step(1772370000000, (RemoveAccessControlEntryRecord(bob.id),)),
    ]
    write_segment(tmp_path / METADATA_LOG, 0, steps)
    return str(tmp_path)


def test_a_deleted_acl_looks_different_from_a_living_one(log: str) -> None:
    lines = [line.split() for line in seen("--log", log, "--table", "acl_history")]
    rows = [line for line in lines if "User:ann" in line or "User:bob" in line]
    assert ["valid_from", "valid_to", "principal", "operation"] in lines
    assert rows == [
        ["2026-03-01T12:00:00.000Z", "2026-03-01T13:00:00.000Z", "User:bob", "WRITE"],
        ["2026-03-01T12:00:00.000Z", "User:ann", "READ"],
    ]


def test_what_is_equal_in_all_rows_is_said_below_and_no_name_is_broken(log: str) -> None:
    lines = seen("--log", log, "--table", "acl_history")
    assert all(cell_len(line) <= WIDTH for line in lines)
    text = " ".join(lines)
    assert "The same in all rows: resource_name orders, permission ALLOW, resource_type TOPIC," in text
    assert "-o wide shows all columns, --columns chooses." in text


def test_records_show_their_content(log: str) -> None:
    lines = seen("--log", log, "--table", "records")
    assert lines[0].split() == ["log_offset", "append_time", "record_type", "json"]
    assert any('…{"id":"AQEBAQEBAQEBAQ' in line for line in lines)


def test_wide_shows_all_columns_of_a_row_in_one_line(log: str) -> None:
    text = "\n".join(seen("--log", log, "--table", "acl_history", "-o", "wide"))
    assert all(name in text for name in ("acl_id", "operation_code", "to_offset", "added_by_snapshot", "_error"))


def test_parquet_is_refused_with_what_to_do(log: str) -> None:
    text = " ".join(seen("--log", log, "--table", "topic", "-o", "parquet"))
    assert "-o parquet is binary, and standard output is a terminal: give --out FILE" in text
