"""A table fits the width of the terminal and contains no control characters."""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import UTC, datetime

import pyarrow as pa

from kafkawire.cli.rows.terminal_table import TerminalTable
from kafkawire.cli.tables.terminal import MAXIMUM_ROWS, terminal_table
from kafkawire.column_roles import ColumnRole

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
ROLES = {
    "file": ColumnRole.ORIGIN,
    "principal": ColumnRole.KEY,
    "operation": ColumnRole.KEY,
    "offset": ColumnRole.VALUE,
    "tombstone": ColumnRole.VALUE,
    "host": ColumnRole.VALUE,
    "cluster": ColumnRole.VALUE,
    "operation_code": ColumnRole.DETAIL,
}
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


def printed(rows: list[dict[str, object]], width: int | None) -> tuple[str, TerminalTable]:
    batches = [
        pa.RecordBatch.from_pylist(rows[start : start + 400], schema=SCHEMA) for start in range(0, len(rows), 400)
    ]
    table = terminal_table(batches, SCHEMA, ROLES)
    return text_of(table, width), table


def text_of(table: TerminalTable, width: int | None) -> str:
    text = io.StringIO()
    table.print(text, width=width)
    return text.getvalue()


def test_the_most_important_columns_are_shown_first() -> None:
    text, table = printed([ROW], 44)
    assert text.split()[:4] == ["principal", "operation", "offset", "tombstone"]
    assert table.left_out_columns == ("cluster",)
    assert table.empty == ("host",)
    assert table.left_out_details == 2


def test_what_all_rows_have_in_common_is_said_once() -> None:
    text, table = printed([ROW, {**ROW, "principal": "User:bob"}], 80)
    assert [line.split() for line in text.splitlines() if line][2:] == [["User:ann"], ["User:bob"]]
    assert table.same == {"operation": "READ", "offset": "17", "tombstone": "no", "cluster": "Wl3f"}
    assert table.left_out_columns == ()


def test_an_interval_is_shown_even_if_it_is_the_same_in_all_rows() -> None:
    rows = [{**ACL, "valid_to": None, "principal": name} for name in ("User:ann", "User:bob")]
    batch = pa.RecordBatch.from_pylist(rows, schema=ACL_SCHEMA)
    headings = text_of(terminal_table([batch], batch.schema, ACL_ROLES), 80).split()[:3]
    assert headings == ["valid_from", "valid_to", "principal"]


def test_errors_are_shown_after_the_times() -> None:
    damaged = {**ACL, "_error": "offset_gap"}
    batch = pa.RecordBatch.from_pylist([{**ACL, "_error": None}, damaged])
    roles = {**ACL_ROLES, "_error": ColumnRole.ERROR}
    headings = text_of(terminal_table([batch], batch.schema, roles), 200).split()[:3]
    assert headings == ["valid_from", "valid_to", "_error"]
    same = pa.RecordBatch.from_pylist([damaged, damaged])
    assert text_of(terminal_table([same], same.schema, roles), 80).count("offset_gap") == 2


JSON_ROLES = {"log_offset": ColumnRole.PLACE, "json": ColumnRole.CONTENT, "key": ColumnRole.VALUE}
JSON_TYPES: Mapping[str, pa.DataType] = {"log_offset": pa.int64(), "key": pa.binary(), "json": pa.string()}
JSON_SCHEMA = pa.schema(JSON_TYPES)


def test_json_is_cut_at_the_remaining_width_and_begins_with_its_data() -> None:
    long = '{"type":"TOPIC_RECORD","version":0,"data":{"name":"' + "x" * 500
    rows = [{"log_offset": 1, "key": b"k", "json": long}, {"log_offset": 2, "key": b"l", "json": long}]
    batch = pa.RecordBatch.from_pylist(rows, schema=JSON_SCHEMA)
    table = terminal_table([batch], JSON_SCHEMA, JSON_ROLES)
    lines = [line.rstrip() for line in text_of(table, 80).splitlines()]
    assert len(lines) == 4
    assert lines[2].startswith('         1  …{"name":"xx')
    assert lines[2].endswith("x…")
    assert len(lines[2]) == 80
    assert table.left_out_columns == ("key",)


def test_bytes_are_shown_where_there_is_no_json() -> None:
    rows = [{"log_offset": 1, "key": b"k" * 99, "json": None}, {"log_offset": 2, "key": b"l", "json": None}]
    batch = pa.RecordBatch.from_pylist(rows, schema=JSON_SCHEMA)
    lines = text_of(terminal_table([batch], JSON_SCHEMA, JSON_ROLES), 80).splitlines()
    assert lines[0].split() == ["log_offset", "key"]
    assert lines[2].split()[1] == "a2tra2tra2tra2tra2tra2tra2tra…"


def test_chosen_columns_are_all_shown_in_their_order() -> None:
    schema = pa.schema([SCHEMA.field(name) for name in ("host", "operation_code", "file", "principal")])
    batch = pa.RecordBatch.from_pylist([ROW, ROW], schema=schema)
    for width in (30, 80):
        headings = text_of(terminal_table([batch], schema, ROLES, are_chosen=True), width).splitlines()[0]
        assert headings.replace("operation_  ", "operation_code  ").split()[0] == "host"
    assert text_of(terminal_table([batch], schema, ROLES, are_chosen=True), 30).split()[:4] == schema.names


def test_times_are_shown_with_milliseconds() -> None:
    schema = pa.schema({"valid_from": pa.timestamp("us", tz="UTC")})
    times = [datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 1, 0, 0, 0, 1500, tzinfo=UTC)]
    batch = pa.RecordBatch.from_pylist([{"valid_from": time} for time in times], schema=schema)
    text = text_of(terminal_table([batch], schema, {"valid_from": ColumnRole.TIME}), 80)
    assert text.split()[-2:] == ["2026-03-01T00:00:00.000Z", "2026-03-01T00:00:00.001500Z"]


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


ACL_ROLES = {
    **dict.fromkeys(("valid_from", "valid_to"), ColumnRole.TIME),
    **dict.fromkeys(("principal", "operation", "resource_name", "permission", "resource_type"), ColumnRole.KEY),
    "host": ColumnRole.VALUE,
    "acl_id": ColumnRole.DETAIL,
    "to_offset": ColumnRole.ORIGIN,
}
ACL_SCHEMA = pa.RecordBatch.from_pylist([ACL]).schema


def acls_shown(width: int) -> list[list[str]]:
    """The lines of a printed table of one ACL, without the one below the headings."""
    batch = pa.RecordBatch.from_pylist([ACL])
    lines = text_of(terminal_table([batch], batch.schema, ACL_ROLES), width).splitlines()
    return [line.split() for line in lines if line.strip() and "─" not in line]


def test_columns_are_folded_and_times_shortened_before_an_important_one_is_left_out() -> None:
    informative = [name for name, role in ACL_ROLES.items() if role in {ColumnRole.TIME, ColumnRole.KEY}]
    heading, *lines = acls_shown(200)
    assert heading == [*informative, "host"]
    assert lines[0][:2] == ["2026-03-01T12:30:15.250Z", "2026-03-02T00:00:00.000Z"]
    heading, *lines = acls_shown(140)
    assert heading == [*informative, "host"]
    assert lines[0][:2] == ["2026-03-01T12:30:15Z", "2026-03-02T00:00:00Z"]
    assert len(lines) == 2
    first, second, *lines = acls_shown(80)
    assert (first, second) == (["resource_", "resource_"], [*informative[:4], "name", "permission", "type"])
    assert lines[0][:2] == ["2026-03-01", "2026-03-02"]
    assert lines[1][:2] == ["12:30:15Z", "00:00:00Z"]


def test_wide_characters_get_two_cells() -> None:
    text, _ = printed([{**ROW, "principal": "User:" + "日本" * 6}], 60)
    assert "User:" + "日本" * 6 in text.replace("\n", "")


def test_all_columns_are_shown_on_request() -> None:
    text, table = printed([ROW], None)
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
