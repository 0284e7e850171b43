"""Names in logs cannot send control characters to a terminal; with --csv-safe they are no formulas in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tests.made.logs import METADATA_LOG, Step, write_segment

from kafkawire.cli.app import main
from kafkawire.cli.tables.cells import as_json_lines
from kafkawire.cli.tables.formats import Format
from kafkawire.cli.tables.writing import write_rows
from kafkawire.protocol import TopicRecord

TYPES: dict[str, pa.DataType] = {
    "name": pa.string(),
    "raw": pa.binary(),
    "list": pa.list_(pa.string()),
    "count": pa.int64(),
}
SCHEMA = pa.schema(TYPES)
STEERING = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
PROGRAM = "import sys; from kafkawire.cli.app import main; sys.exit(main(sys.argv[1:]))"
EVIL = "a\x1b]0;owned\x07b\x9b2Jc\x7f\x85d"


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


def batch_of(*names: str | None) -> pa.RecordBatch:
    rows = [{"name": name, "raw": b"+", "list": [name], "count": -1} for name in names]
    return pa.RecordBatch.from_pylist(rows, SCHEMA)


def csv_of(*names: str | None, safe: bool = False, stream: io.BytesIO | None = None) -> list[dict[str, str]]:
    out = stream or io.BytesIO()
    write_rows(Format.CSV, [batch_of(*names)], SCHEMA, out, csv_safe=safe)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline="")))


@given(st.text())
def test_json_escapes_control_characters_without_loss(name: str) -> None:
    lines = as_json_lines(batch_of(name + EVIL))
    assert STEERING.search(lines) is None
    assert json.loads(lines)["name"] == name + EVIL
    assert json.loads(lines)["list"] == [name + EVIL]


def test_csv_escapes_control_characters_on_terminals_only() -> None:
    assert csv_of(EVIL)[0]["name"] == EVIL
    terminal = Terminal()
    (row,) = csv_of(EVIL, stream=terminal)
    assert STEERING.search(terminal.getvalue()) is None
    assert row["name"] == r"a\u001b]0;owned\u0007b\u009b2Jc\u007f\u0085d"


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_csv_safe_turns_formulas_into_text(begin: str) -> None:
    formula = f"{begin}HYPERLINK(1)"
    (exact,), (safe,) = csv_of(formula), csv_of(formula, safe=True)
    assert (exact["name"], safe["name"]) == (formula, f"'{formula}")
    assert exact["raw"] == safe["raw"] == "Kw=="
    assert exact["count"] == safe["count"] == "-1"


@pytest.mark.parametrize("text", ["-1", "+1", "-0.5", "-1e-9", ".5", "a=b", "'=a", "", "x\n=1", "User:ann"])
def test_csv_safe_keeps_numbers_and_other_text(text: str) -> None:
    assert csv_of(text, safe=True)[0]["name"] == text
    assert csv_of(None, safe=True)[0]["name"] == ""


@pytest.mark.parametrize("text", ["-1=1", "-1\n", "+cmd|' /C calc'!A0", "--1"])
def test_text_that_only_starts_like_a_number_is_a_formula(text: str) -> None:
    assert csv_of(text, safe=True)[0]["name"] == f"'{text}"


@pytest.mark.extended
@pytest.mark.parametrize("form", ["csv", "json", "table"])
def test_the_command_writes_no_control_characters_of_names_to_a_terminal(tmp_path: Path, form: str) -> None:
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000, (TopicRecord(EVIL),))])
    ours, theirs = pty.openpty()
    command = ["tables", "--log", str(tmp_path), "--table", "topic", "--columns", "name", "--format", form]
    with subprocess.Popen([sys.executable, "-c", PROGRAM, *command], stdout=theirs) as process:
        assert process.wait(60) == 0
    os.close(theirs)
    shown = os.read(ours, 1 << 16)
    os.close(ours)
    assert b"owned" in shown
    assert STEERING.sub(b"", re.sub(rb"\x1b\[\d*m|\r", b"", shown)) == re.sub(rb"\x1b\[\d*m|\r", b"", shown)


def test_csv_safe_is_for_csv_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000, (TopicRecord("=a"),))])
    asked = ["tables", "--log", str(tmp_path), "--table", "topic", "--columns", "name", "--csv-safe", "--format"]
    assert main([*asked, "csv"]) == 0
    assert capsys.readouterr().out == '"name"\n"\'=a"\n'
    assert main([*asked, "json"]) == 2
    assert "--csv-safe is for -o csv" in capsys.readouterr().err


def test_errors_contain_no_control_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / EVIL.replace("/", "") / METADATA_LOG
    write_segment(log, 0, [Step(1000, (TopicRecord("a"),))])
    segment = log / f"{0:020}.log"
    segment.write_bytes(segment.read_bytes()[:-1] + b"?")
    assert main(["tables", "--log", str(tmp_path), "--table", "topic", "--mode", "FAILFAST"]) == 1
    shown = capsys.readouterr().err
    assert "owned" in shown
    assert STEERING.search(shown.encode()) is None
