"""Tables of logs compared with the output of kafka-dump-log for the same files, column by column."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
from tests.kafka_logs.dumps import DumpedBatch, DumpedRecord

from kafkawire.layout import snake_case
from kafkawire.logs import ReadOptions, read_table

_TRANSACTION_STATES = (
    *("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead"),
    "PrepareEpochFence",
)
"""By the numbers of Kafka's ``TransactionState``."""


def rows_of(table: str, path: str) -> list[dict[str, Any]]:
    """All rows of a table, no-op records and secrets included."""
    return [row for batch in read_table(table, path, _whole(table)) for row in batch.to_pylist()]


def assert_batches_as_dumped(rows: Sequence[Mapping[str, Any]], dump: Sequence[DumpedBatch]) -> None:
    """Table ``batches`` has what the batch lines say."""
    assert len(rows) == len(dump)
    for row, said in zip(rows, dump, strict=True):
        assert row["batch_position"] == said.position
        assert row["log_offset"] == row["first_offset"] == said.base_offset
        assert row["leader_epoch"] == said.partition_leader_epoch
        assert row["size"] == said.size
        assert row["magic"] == said.magic
        assert row["codec"] == said.codec
        assert row["crc_ok"] == said.valid
        assert row["is_control"] == said.control
        assert row["is_transactional"] == said.transactional
        assert row["producer_id"] == said.producer_id
        assert row["producer_epoch"] == said.producer_epoch
        assert row["base_sequence"] == said.base_sequence
        assert row["record_count"] == said.count
        assert row["last_offset"] == said.last_offset
        assert _milliseconds(row["max_time"]) == said.timestamp
        assert row["append_time"] is None or said.delete_horizon_ms is None


def assert_records_as_dumped(
    rows: Sequence[Mapping[str, Any]], dump: Iterable[DumpedBatch], *, has_json: bool = True
) -> None:
    """Table ``records`` has what the record lines say, and the same JSON where the tool prints it."""
    said_of_batches = [(batch, said) for batch in dump for said in batch.records]
    assert len(rows) == len(said_of_batches)
    for row, (batch, said) in zip(rows, said_of_batches, strict=True):
        assert row["batch_position"] == batch.position
        assert row["leader_epoch"] == batch.partition_leader_epoch
        assert row["log_offset"] == said.offset
        assert _milliseconds(row["append_time"]) == said.timestamp
        assert _size(row["key"]) == said.key_size
        assert _size(row["value"]) == said.value_size
        assert row["tombstone"] == (said.value_size == -1)
        assert row["_error"] is None
        if has_json and not batch.control:
            assert _comparable(json.loads(row["json"])) == _comparable(record_of(said))


def record_of(said: DumpedRecord) -> dict[str, Any]:
    """What the dump says of a record that is no control record, in the form that table ``records`` has."""
    if said.rest.startswith("payload: "):
        described: dict[str, Any] = json.loads(said.rest.removeprefix("payload: "))
        return described
    key, value = said.rest.removeprefix("key: ").split(" payload: ")
    return {"key": json.loads(key), "value": None if value == "<DELETE>" else _with_numbers(json.loads(value))}


def _with_numbers(value: dict[str, Any]) -> dict[str, Any]:
    """With the number of a transaction's state, as the record has it: since 4.4 kafka-dump-log prints its name."""
    state = value["data"].get("transactionStatus")
    if isinstance(state, str):
        value["data"]["transactionStatus"] = _TRANSACTION_STATES.index(state)
    return value


def assert_typed_as_dumped(row: Mapping[str, Any], said: Mapping[str, Any]) -> None:
    """A row of a typed table has the fields of the JSON of its record, and no others."""
    fields: dict[str, Any]
    if "key" in said:
        fields = {**said["key"]["data"], **((said["value"] or {}).get("data", {}))}
        assert row["tombstone"] == (said["value"] is None)
        assert row["record_version"] == (None if said["value"] is None else int(said["value"]["version"]))
    else:
        fields = said["data"]
        assert row["record_version"] == said["version"]
    for name, value in _comparable({"value": {"data": fields}})["value"]["data"].items():
        column = snake_case(name)
        for candidate in (f"record_{column}", f"{column}_code", column):
            if candidate in row and candidate != "record_version":
                assert _same(row[candidate], value), (name, row[candidate], value)
                break
        else:
            raise AssertionError(f"no column for {name}")


def _comparable(described: dict[str, Any]) -> dict[str, Any]:
    """Without the octets inside the members of classic groups: the dump shows what they mean instead."""
    data = (described.get("value") or {}).get("data", {})
    for member in data.get("members", ()):
        for name in ("subscription", "assignment"):
            member.pop(name, None)
    return described


def _same(cell: object, said: object) -> bool:
    """Whether a cell holds what the JSON says; what the JSON leaves out are defaults of tagged fields."""
    if isinstance(cell, bytes):
        return cell == base64.b64decode(str(said))
    if isinstance(cell, list):
        return isinstance(said, list) and len(cell) == len(said) and all(map(_same, cell, said))
    if isinstance(cell, dict):
        return isinstance(said, dict) and all(_same(cell[snake_case(name)], value) for name, value in said.items())
    return cell == said


def _size(octets: bytes | None) -> int:
    return -1 if octets is None else len(octets)


def _milliseconds(time: datetime | None) -> int:
    return -1 if time is None else round(time.timestamp() * 1000)


def table_of(name: str, path: str) -> pa.Table:
    """As ``rows_of``, as one table of Arrow."""
    return pa.Table.from_batches(list(read_table(name, path, _whole(name))))


def _whole(table: str) -> ReadOptions:
    return ReadOptions(no_ops=table == "records", secrets=True)
