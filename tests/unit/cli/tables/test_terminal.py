"""A table fits the width of the terminal and contains no control characters."""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import UTC, datetime

import pyarrow as pa
from rich.console import Console

from kafkawire.cli.tables.terminal import MAXIMUM_ROWS, TerminalTable

TYPES: Mapping[str, pa.DataType] = {
    "cluster": pa.string(),
    "file": pa.string(),
    "principal": pa.string(),
    "operation": pa.string(),
    "operation_code": pa.int8(),
    "offset": pa.int64(),
    "tombstone": pa.bool_(),
    "host": pa.string(),
}
SCHEMA = pa.schema(TYPES)
ROW = {
    "cluster": "Wl3f",
    "file": "/data/kafka/__cluster_metadata-0/00000000000000000000.log",
    "principal": "User:ann",
    "operation": "READ",
    "operation_code": 3,
    "offset": 17,
    "tombstone": False,
    "host": None,
}


def printed(rows: list[dict[str, object]], width: int, *, everything: bool = False) -> tuple[str, TerminalTable]:
    batches = [
        pa.RecordBatch.from_pylist(rows[start : start + 400], schema=SCHEMA) for start in range(0, len(rows), 400)
    ]
    table = TerminalTable(batches, SCHEMA)
    text = io.StringIO()
    table.print(Console(file=text, width=width), everything=everything)
    return text.getvalue(), table


def test_the_most_important_columns_are_shown_first() -> None:
    text, table = printed([ROW], 44)
    assert text.split()[:4] == ["principal", "operation", "offset", "tombstone"]
    assert table.left_out_columns == ("cluster", "file", "operation_code", "host")


def test_json_is_cut_at_the_remaining_width() -> None:
    types: Mapping[str, pa.DataType] = {"log_offset": pa.int64(), "key": pa.binary(), "json": pa.string()}
    schema = pa.schema(types)
    batch = pa.RecordBatch.from_pylist([{"log_offset": 1, "key": b"k", "json": "x" * 500}], schema=schema)
    table = TerminalTable([batch], schema)
    text = io.StringIO()
    table.print(Console(file=text, width=80), everything=False)
    lines = [line.rstrip() for line in text.getvalue().splitlines() if line.strip()]
    assert len(lines) == 3
    assert lines[2].endswith("x…")
    assert len(lines[2]) in range(70, 81)
    assert table.left_out_columns == ("key",)


def test_times_are_shown_with_milliseconds() -> None:
    schema = pa.schema({"valid_from": pa.timestamp("us", tz="UTC")})
    times = [datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 1, 0, 0, 0, 1500, tzinfo=UTC)]
    table = TerminalTable([pa.RecordBatch.from_pylist([{"valid_from": time} for time in times], schema=schema)], schema)
    text = io.StringIO()
    table.print(Console(file=text, width=80), everything=False)
    assert text.getvalue().split()[-2:] == ["2026-03-01T00:00:00.000Z", "2026-03-01T00:00:00.001500Z"]


ACL = {
    "acl_id": "AAAAAAAAAAAAAAAAAAAAAg",
    "principal": "User:CN=billing-service,OU=Platform",
    "host": "*",
    "resource_type": "TRANSACTIONAL_ID",
    "resource_name": "billing.transactions.v2",
    "operation": "DESCRIBE_CONFIGS",
    "permission": "ALLOW",
    "valid_from": datetime(2026, 3, 1, 12, 30, 15, 250000, tzinfo=UTC),
    "valid_to": datetime(2026, 3, 2, tzinfo=UTC),
    "to_offset": 7,
}


def acls_shown(width: int) -> tuple[list[str], list[list[str]]]:
    """The headings and the lines of cells of a printed table of ACLs."""
    batch = pa.RecordBatch.from_pylist([ACL])
    text = io.StringIO()
    TerminalTable([batch], batch.schema).print(Console(file=text, width=width), everything=False)
    heading, _, *lines = [line.split() for line in text.getvalue().splitlines() if line.strip()]
    return heading, lines


def test_important_columns_are_wrapped_and_times_shortened_before_they_are_left_out() -> None:
    telling = ["principal", "resource_type", "resource_name", "operation", "permission", "valid_from", "valid_to"]
    heading, lines = acls_shown(140)
    assert [name for name in heading if name != "host"] == telling
    assert lines[0][-2:] == ["2026-03-01T12:30:15Z", "2026-03-02T00:00:00Z"]
    assert len(lines) == 2
    heading, lines = acls_shown(200)
    assert set(heading) > set(telling)
    assert "2026-03-01T12:30:15.250Z" in lines[0]
    assert acls_shown(80)[0] == telling[:5]


def test_wide_characters_get_two_cells() -> None:
    text, _ = printed([{**ROW, "principal": "User:" + "日本" * 6}], 60)
    assert "User:" + "日本" * 6 in text


def test_all_columns_are_shown_on_request() -> None:
    text, table = printed([ROW], 400, everything=True)
    assert all(name in text for name in SCHEMA.names)
    assert table.left_out_columns == ()


def test_rows_beyond_the_limit_are_counted() -> None:
    text, table = printed([ROW] * (MAXIMUM_ROWS + 234), 100)
    assert text.count("User:ann") == MAXIMUM_ROWS
    assert table.left_out_rows == 234


def test_names_contain_no_control_or_bidirectional_characters() -> None:
    text, _ = printed([{**ROW, "principal": "User:\x1b[2J\u202egnp[bold]", "host": "\U000e0041\xa0é"}], 130)
    assert "\x1b" not in text
    assert r"User:\u001b[2J\u202egnp[bold]" in text
    assert r"\U000e0041\u00a0é" in text


def test_table_without_rows_shows_its_headings() -> None:
    text, table = printed([], 200)
    assert "principal" in text
    assert table.left_out_rows == 0
