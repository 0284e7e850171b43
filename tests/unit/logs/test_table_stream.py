"""Options choose rows and columns, tables hide secrets, and files may change while they are read."""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.kafka_logs.dumps import FIXTURES
from tests.made.segments import METADATA, OFFSETS, batches_of, real_segment, repeated, write_segment

from kafkawire.logs import (
    LOCAL,
    Accounts,
    FileRange,
    LogReadError,
    Part,
    ReadMode,
    ReadOptions,
    UnknownColumnError,
    UnknownTableError,
    find_log_files,
    plan,
    read_part,
    read_table,
    table_named,
    table_names,
)
from kafkawire.logs.files.store import OpenFile
from kafkawire.logs.options import DEFAULT_OPTIONS
from kafkawire.wire.batches import Record, encode_batch, read_batches

LOGS = str(FIXTURES / "logs")


def test_every_table_has_its_schema_even_without_rows(tmp_path: Path) -> None:
    write_segment(tmp_path / METADATA, b"")
    for name in table_names():
        table = table_named(name)
        assert table.name == name
        assert list(read_table(name, str(tmp_path))) == []
        assert table.schema.names[0] == "cluster"
        assert not any(pa.types.is_dictionary(field.type) for field in table.schema)


def test_unknown_tables_and_columns_get_suggestions() -> None:
    with pytest.raises(UnknownTableError, match="acl_history"):
        table_named("acls")
    with pytest.raises(UnknownColumnError, match="batch_position"):
        table_named("records", ReadOptions(columns=("zzz",)))
    with pytest.raises(UnknownColumnError, match=r"has no column 'offset'; did you mean log_offset\?$"):
        table_named("records", ReadOptions(columns=("offset",)))
    with pytest.raises(UnknownTableError, match=r"there is no table 'ACL'; did you mean acl_history\?$"):
        table_named("ACL")


@pytest.mark.parametrize("name", ["records", "offset_commit", "batches", "offset_commits", "group_history"])
def test_files_whose_names_are_not_utf_8_are_read_too(tmp_path: Path, name: str) -> None:
    write_segment(tmp_path / os.fsdecode(b"caf\xe9") / OFFSETS, real_segment(OFFSETS) + b"?")
    rows = rows_of(name, str(tmp_path))
    assert {row["file"] for row in rows} == {f"{tmp_path}/caf\\xe9/{OFFSETS}/{0:020}.log"}
    assert rows[-1]["_error"] == "truncated_batch" or name.endswith(("commits", "history"))


def test_the_path_may_be_a_string_or_a_path_one_or_several() -> None:
    expected = rows_of("topic", LOGS)
    for paths in (Path(LOGS), [LOGS], [Path(LOGS)]):
        assert [row for batch in read_table("topic", paths) for row in batch.to_pylist()] == expected


@pytest.mark.parametrize("name", ["records", "offset_commit", "batches"])
def test_chosen_columns_equal_those_of_the_whole_table(name: str) -> None:
    whole = pa.Table.from_batches(list(read_table(name, LOGS)))
    for chosen in (("log_offset", "file"), tuple(reversed(whole.column_names[3:9])), (whole.column_names[8],)):
        some = pa.Table.from_batches(list(read_table(name, LOGS, ReadOptions(columns=chosen))))
        assert some == whole.select(list(chosen))


@pytest.mark.parametrize("name", ["records", "offset_commit"])
def test_the_corrupt_record_column_can_be_the_only_one(tmp_path: Path, name: str) -> None:
    row = next(row for row in rows_of("records", LOGS) if row["record_type"] == "OFFSET_COMMIT")
    write_segment(tmp_path / OFFSETS, encode_batch([Record(0, 1, row["key"], row["value"] + b"more")]))
    options = ReadOptions(columns=("bytes",), corrupt_record_column="bytes")
    assert rows_of(name, str(tmp_path), options) == [{"bytes": row["value"] + b"more"}]


def test_limits_of_time_and_offset() -> None:
    path = f"{LOGS}/{METADATA}/00000000000000000159.log"
    rows = rows_of("records", path)
    middle: datetime = rows[len(rows) // 2]["append_time"]
    options = ReadOptions(from_time=middle)
    assert rows_of("records", path, options) == [row for row in rows if row["append_time"] >= middle]
    options = ReadOptions(until_time=middle.astimezone(UTC).replace(tzinfo=None))
    assert rows_of("records", path, options) == [row for row in rows if row["append_time"] < middle]
    options = ReadOptions(from_offset=200, until_offset=260, high_watermark=250)
    assert rows_of("records", path, options) == [row for row in rows if 200 <= row["log_offset"] < 250]


def test_limits_of_offset_apply_to_the_end_offset_of_a_snapshot() -> None:
    snapshot = f"{LOGS}/{METADATA}/00000000000000000202-0000000001.checkpoint"
    assert len(rows_of("records", snapshot, ReadOptions(from_offset=202, until_offset=203))) == 140
    assert rows_of("records", snapshot, ReadOptions(until_offset=202)) == []
    assert len(rows_of("records", snapshot, ReadOptions(high_watermark=202))) == 140


@pytest.mark.parametrize("frame", ["011400", "01940000", "81001400"], ids=["usual", "long type", "long version"])
def test_no_ops_are_left_out_in_every_encoding_of_their_type(tmp_path: Path, frame: str) -> None:
    no_op, other = bytes.fromhex(frame) + b"\x00", b"\x01"
    write_segment(tmp_path / METADATA, batches_of([[no_op], [other, no_op]]))
    accounts = Accounts()
    rows = rows_of("records", str(tmp_path), ReadOptions(secrets=True), accounts)
    assert [row["value"] for row in rows] == [other]
    assert accounts.records_dropped == {"no_op": 2}


def test_record_types_and_no_ops() -> None:
    types = ("TOPIC_RECORD", "SNAPSHOT_HEADER")
    accounts = Accounts()
    rows = rows_of("records", f"{LOGS}/{METADATA}", ReadOptions(record_types=types), accounts)
    assert {row["record_type"] for row in rows} == set(types)
    assert accounts.records_read == accounts.rows + sum(accounts.records_dropped.values())
    assert accounts.records_dropped["other_type"] > 0
    kept = rows_of("records", f"{LOGS}/{METADATA}", ReadOptions(no_ops=True))
    assert sum(row["record_type"] == "NO_OP_RECORD" for row in kept) == 20


def test_secrets_are_hidden_unless_requested(tmp_path: Path) -> None:
    assert "salt" not in table_named("user_scram_credential").schema.names
    assert "salt" in table_named("user_scram_credential", ReadOptions(secrets=True)).schema.names
    open_values = rows_of("config", LOGS, ReadOptions(secrets=True))
    hidden = rows_of("config", LOGS)
    for shown, masked in zip(open_values, hidden, strict=True):
        assert masked["value"] in (shown["value"], "[hidden]")
    assert {"[hidden]", None} < {row["value"] for row in hidden}

    records = rows_of("records", LOGS, ReadOptions(secrets=True))
    record = next(row for row in records if row["record_type"] == "USER_SCRAM_CREDENTIAL_RECORD")
    batch = encode_batch([Record(0, 1, None, record["value"] + b"more")])
    folder = tmp_path / METADATA
    write_segment(folder, batch)
    (row,) = rows_of("user_scram_credential", str(folder))
    assert (row["_error"], row["_corrupt_record"]) == ("trailing_bytes", None)
    (row,) = rows_of("user_scram_credential", str(folder), ReadOptions(secrets=True))
    assert row["_corrupt_record"] == record["value"] + b"more"

    broken = batch[:-1] + b"?"
    write_segment(folder, broken)
    for name in ("user_scram_credential", "topic", "records", "batches"):
        (row,) = rows_of(name, str(folder))
        assert (row["_error"], row["_corrupt_record"]) == ("bad_crc", None)
        (row,) = rows_of(name, str(folder), ReadOptions(secrets=True))
        assert row["_corrupt_record"] == broken


@pytest.mark.parametrize(
    ("value", "code", "record_type", "version"),
    [
        (b"\x01\x4d\x02rest", "unknown_type", "UNKNOWN(77)", 2),
        (b"\x01\x12\x09rest", "unsupported_version", "ACCESS_CONTROL_ENTRY_RECORD", 9),
        (b"\x01\x12\x00rest", "decode_error", "ACCESS_CONTROL_ENTRY_RECORD", 0),
        (b"\x01\x14\x00\x00rest", "trailing_bytes", "NO_OP_RECORD", 0),
        (b"\x02\x14\x00\x00", "unsupported_version", None, None),
        (b"", "decode_error", None, None),
        (None, "decode_error", None, None),
    ],
)
def test_unreadable_metadata_records(
    tmp_path: Path, value: bytes | None, code: str, record_type: str | None, version: int | None
) -> None:
    write_segment(tmp_path / METADATA, batches_of([[value]]))
    (row,) = rows_of("records", str(tmp_path), ReadOptions(no_ops=True, secrets=True))
    assert (row["_error"], row["record_type"], row["record_version"], row["value"]) == (
        code,
        record_type,
        version,
        value,
    )
    assert row["_corrupt_record"] == (value if value is not None else b"k")
    (hidden,) = rows_of("records", str(tmp_path), ReadOptions(no_ops=True))
    assert hidden == row | {"key": None, "value": None, "_corrupt_record": None}
    assert rows_of("records", str(tmp_path), ReadOptions(no_ops=True, mode=ReadMode.DROPMALFORMED)) == []
    with pytest.raises(LogReadError) as raised:
        rows_of("records", str(tmp_path), ReadOptions(no_ops=True, mode=ReadMode.FAILFAST))
    assert (raised.value.code, raised.value.position, raised.value.offset) == (code, 0, 0)


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        (b"\0\1\0\1g\0\1t\0\0\0\1", b"\0\x63what", "unsupported_version"),
        (b"\0\1\0\1g\0\1t\0\0\0\1", b"\0\4", "decode_error"),
        (b"\0\1\0\1g\0\1t\0\0\0\1", b"\0", "decode_error"),
        (b"\0\1\0\1g\0\1t\0\0\0\1!", None, "trailing_bytes"),
        (b"\0\1\0\1\xff\0\1t\0\0\0\1", None, "decode_error"),
        (b"\0\1\0\1", None, "decode_error"),
    ],
)
def test_unreadable_commits(tmp_path: Path, key: bytes, value: bytes | None, code: str) -> None:
    """The records next to them are read, and both kinds of table report the same error."""
    good = b"\0\1\0\1g\0\1t\0\0\0\2", None
    batch = encode_batch([Record(at, 1, *each) for at, each in enumerate((good, (key, value), good))])
    write_segment(tmp_path / OFFSETS, batch)
    rows = rows_of("offset_commit", str(tmp_path))
    assert [row["_error"] for row in rows] == [None, code, None]
    assert [row["_error"] for row in rows_of("records", str(tmp_path))] == [None, code, None]
    assert [row["partition"] for row in rows][::2] == [2, 2]
    assert rows[1]["_corrupt_record"] in (key, value)


def test_a_newer_type_is_named_and_in_no_typed_table(tmp_path: Path) -> None:
    write_segment(tmp_path / OFFSETS, encode_batch([Record(0, 1, b"\0\x63key", b"value")]))
    (row,) = rows_of("records", str(tmp_path))
    assert (row["record_type"], row["_error"], row["key"], row["value"]) == (
        "UNKNOWN(99)", "unknown_type", b"\0\x63key", b"value",
    )  # fmt: skip
    assert rows_of("offset_commit", str(tmp_path)) == []


def test_timestamps_outside_the_calendar_are_null(tmp_path: Path) -> None:
    batch = encode_batch([Record(0, -1, b"k", b"v"), Record(1, 1 << 62, b"k", b"v"), Record(2, 0, b"k", b"v")])
    write_segment(tmp_path / "orders-0", batch)
    assert [row["append_time"] for row in rows_of("records", str(tmp_path))] == [
        None, None, datetime(1970, 1, 1, tzinfo=UTC),
    ]  # fmt: skip


@pytest.mark.usefixtures("one_engine")
def test_a_large_batch_becomes_row_batches_of_limited_size(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", batches_of([[b"v"] * 30_000]))
    sizes = [batch.num_rows for batch in read_table("records", str(tmp_path))]
    assert sum(sizes) == 30_000
    assert max(sizes) == 8192


def test_parts_travel_between_processes() -> None:
    table = table_named("records")
    parts = plan(table, find_log_files([LOGS]), max_partition_bytes=10_000)
    assert len(parts) > 3
    assert pickle.loads(pickle.dumps(parts)) == parts  # noqa: S301 our own
    options = pickle.loads(pickle.dumps(DEFAULT_OPTIONS))  # noqa: S301 our own
    assert options == DEFAULT_OPTIONS
    rows = sum(batch.num_rows for part in parts for batch in read_part(table, part, options, Accounts()))
    assert rows == len(rows_of("records", LOGS))


def test_progress_ends_at_the_size_of_the_files() -> None:
    seen: list[tuple[int, int]] = []
    list(read_table("records", LOGS, progress=lambda done, total: seen.append((done, total))))
    assert seen == sorted(seen)
    assert seen[-1] == (99883, 99883)


def test_a_file_that_grew_is_read_up_to_its_listed_size(tmp_path: Path) -> None:
    content = real_segment(OFFSETS)
    segment = write_segment(tmp_path / OFFSETS, content)
    files = find_log_files([str(tmp_path)])
    with segment.open("ab") as file:
        file.write(repeated(content, 2)[len(content) :])
    rows = part_rows("records", Part((FileRange(files[0], 0, files[0].size),)))
    assert [row["_error"] for row in rows] == [None] * 187


def test_the_new_content_of_a_replaced_file_is_read(tmp_path: Path) -> None:
    content = real_segment(OFFSETS)
    segment = write_segment(tmp_path / OFFSETS, content)
    files = find_log_files([str(tmp_path)])
    batches = list(read_batches(content))
    segment.write_bytes(content[: batches[10].position])
    rows = part_rows("batches", Part((FileRange(files[0], 0, files[0].size),)))
    assert len(rows) == 10
    assert {row["_error"] for row in rows} == {None}


def test_a_range_of_a_replaced_file_is_an_error(tmp_path: Path) -> None:
    content = real_segment(OFFSETS)
    segment = write_segment(tmp_path / OFFSETS, content)
    files = find_log_files([str(tmp_path)])
    start = list(read_batches(content))[5].position
    part = Part((FileRange(files[0], start, files[0].size),))
    os.utime(segment, ns=(1, 1))
    (row,) = part_rows("records", part)
    assert row["_error"] == "file_changed"
    accounts = Accounts()
    list(read_part(table_named("records"), part, DEFAULT_OPTIONS, accounts))
    assert accounts.balanced
    with pytest.raises(LogReadError, match="file_changed"):
        part_rows("records", part, ReadOptions(mode=ReadMode.FAILFAST))


class Shrinking:
    """The local files; one is truncated after the first read."""

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._size = size

    def list(self, path: str, *, recursive: bool) -> Iterator[Any]:
        return LOCAL.list(path, recursive=recursive)

    def matching(self, pattern: str) -> Iterator[str]:
        return LOCAL.matching(pattern)

    def open(self, path: str) -> OpenFile:
        opened = LOCAL.open(path)
        if path == str(self._path):
            os.truncate(path, self._size)
        return opened


def test_a_file_that_shrinks_while_it_is_read_crashes_nothing(tmp_path: Path) -> None:
    content = real_segment(OFFSETS)
    segment = write_segment(tmp_path / OFFSETS, content)
    files = find_log_files([str(tmp_path)])
    store = Shrinking(segment, 500)
    part = Part((FileRange(replace(files[0], modified=0), 0, files[0].size),))
    accounts = Accounts()
    table = table_named("records")
    rows = [
        row for batch in read_part(table, part, DEFAULT_OPTIONS, accounts, store=store) for row in batch.to_pylist()
    ]
    assert [row["_error"] for row in rows][-1] == "truncated_batch"
    assert accounts.balanced


def test_only_the_last_segment_may_end_inside_a_batch(tmp_path: Path) -> None:
    content = real_segment(OFFSETS)
    write_segment(tmp_path / OFFSETS, content[:-1])
    accounts = Accounts()
    assert rows_of("records", str(tmp_path), accounts=accounts)[-1]["_error"] == "truncated_batch"
    assert not accounts.errors

    write_segment(tmp_path / OFFSETS, b"", base_offset=10_000)
    rows_of("records", str(tmp_path), accounts=accounts)
    assert accounts.errors == {"truncated_batch": 1}


def test_a_deleted_file_is_unreadable(tmp_path: Path) -> None:
    segment = write_segment(tmp_path / OFFSETS, real_segment(OFFSETS))
    files = find_log_files([str(tmp_path)])
    segment.unlink()
    with pytest.raises(LogReadError, match="unreadable"):
        part_rows("records", Part((FileRange(files[0], 0, files[0].size),)))


def test_the_cluster_comes_from_the_options_or_the_folder(tmp_path: Path) -> None:
    write_segment(tmp_path / OFFSETS, real_segment(OFFSETS))
    (tmp_path / "meta.properties").write_text("cluster.id=abc\n")
    assert {row["cluster"] for row in rows_of("records", str(tmp_path))} == {"abc"}
    assert {row["cluster"] for row in rows_of("batches", str(tmp_path), ReadOptions(cluster="mine"))} == {"mine"}


def test_a_log_with_another_name_is_read_as_the_log_of_the_table(tmp_path: Path) -> None:
    write_segment(tmp_path / "copy", real_segment(OFFSETS))
    assert len(rows_of("offset_commit", str(tmp_path))) == len(rows_of("offset_commit", f"{LOGS}/{OFFSETS}"))
    assert {row["record_type"] for row in rows_of("records", str(tmp_path))} == {None, "COMMIT"}


def test_without_verification_column_crc_ok_shows_wrong_checksums(tmp_path: Path) -> None:
    broken = bytearray(batches_of([[b"value"], [b"value"]]))
    struct.pack_into(">I", broken, 17, 1)
    write_segment(tmp_path / "orders-0", bytes(broken))
    rows = rows_of("batches", str(tmp_path), ReadOptions(verify_checksums=False))
    assert [row["crc_ok"] for row in rows] == [False, True]
    assert len(rows_of("records", str(tmp_path), ReadOptions(verify_checksums=False))) == 2


def rows_of(
    name: str, path: str, options: ReadOptions = DEFAULT_OPTIONS, accounts: Accounts | None = None
) -> list[dict[str, Any]]:
    return [row for batch in read_table(name, path, options, accounts=accounts) for row in batch.to_pylist()]


def part_rows(name: str, part: Part, options: ReadOptions = DEFAULT_OPTIONS) -> list[dict[str, Any]]:
    table = table_named(name, options)
    return [row for batch in read_part(table, part, options, Accounts()) for row in batch.to_pylist()]
