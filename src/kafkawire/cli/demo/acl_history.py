"""The last step of the demonstration: the broker's own log as a table of ACLs and their intervals."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

_Row = Mapping[str, object]
_SECONDS: Final = 60
_COLUMNS: Final = (
    "operation",
    "permission",
    "resource_type",
    "resource_name",
    "pattern_type",
    "valid_from",
    "valid_to",
)
_IDENTITY: Final = ("acl_id", "from_offset", "to_offset")


def show_acl_history(console: Console, log: Path, principal: str) -> None:
    """Show the history of a principal's ACLs.

    Args:
        console: where to.
        log: folder of a metadata log.
        principal: whose ACLs are shown.
    """
    if find_spec("pyarrow") is None:
        console.print("Left out: tables need pyarrow: pip install 'kafkawire[cli,tables]'.", markup=False)
        return
    begin = time.perf_counter()
    rows = list(_read(log))
    console.print(
        f"kafkawire tables --log {log} --table acl_history: {len(rows):,} rows in {time.perf_counter() - begin:.2f} s",
        highlight=False,
    )
    table = Table(title=f"What {principal} had, and when (UTC)", title_justify="left")
    for heading in ("operation", "permission", "resource", "from", "to"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        if row["principal"] == principal:
            table.add_row(*_cells(row))
    console.print(table)
    _show_with_spark(console, log, rows)


def _read(log: Path) -> Iterator[_Row]:
    from kafkawire.cli.tables.cells import as_json_lines  # noqa: PLC0415 needs an extra
    from kafkawire.logs import read_table  # noqa: PLC0415 the same

    for batch in read_table("acl_history", str(log)):
        for line in as_json_lines(batch).splitlines():
            yield json.loads(line)


def _cells(row: _Row) -> Sequence[str]:
    operation, permission, kind, name, pattern, begin, end = (str(row[column] or "") for column in _COLUMNS)
    resource = f"{kind} {name}{'*' if pattern == 'PREFIXED' else ''}"
    colour = "red" if permission == "DENY" else "green"
    return operation, f"[{colour}]{permission}", resource, _time_of_day(begin), _time_of_day(end) or "[dim]still valid"


def _time_of_day(text: str) -> str:
    return text[11:23]


def _show_with_spark(console: Console, log: Path, rows: Sequence[_Row]) -> None:
    """The same table by Spark, if Java and PySpark are installed: the demonstration does not fetch them."""
    missing = "Java" if shutil.which("java") is None else "PySpark" if find_spec("pyspark") is None else None
    if missing is not None:
        console.print(f"Left out: Apache Spark reads the same table, but {missing} is not installed here.")
        return
    begin = time.perf_counter()
    try:
        with console.status("Apache Spark reads the same table"):
            found = _read_with_spark(log)
    except _SparkError as error:
        console.print(f"Left out: Apache Spark {error}.", markup=False)
        return
    equal = sorted(map(_identity, found)) == sorted(map(_identity, rows))
    console.print(
        f"Apache Spark reads the same table: {len(found):,} rows, {'equal' if equal else '[red]not equal[/red]'}, "
        f"{time.perf_counter() - begin:.1f} s with its start."
    )


class _SparkError(Exception):
    """Spark gave no rows; the message says why."""


def _read_with_spark(log: Path) -> Sequence[_Row]:
    with tempfile.TemporaryDirectory(prefix="kafkawire-demo-") as scratch:
        out = Path(scratch) / "acl_history"
        words = ["--log", str(log), "--table", "acl_history", "--out", str(out), "--format", "jsonl"]
        command = [sys.executable, "-m", "kafkawire.spark.job", *words, "--master", "local[1]"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise _SparkError(f"did not answer within {_SECONDS} s") from None
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise _SparkError(f"failed: {last.removeprefix('kafkawire: ')}")
        return [json.loads(line) for part in out.glob("part-*") for line in part.read_text("utf-8").splitlines()]


def _identity(row: _Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in _IDENTITY)
