"""The states of transactional ids, from the records of the transaction coordinator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.kafka_logs.dumps import FIXTURES, parse_dump
from tests.kafka_logs.histories import Row, history, history_and_losses, still_open, time
from tests.made.logs import TRANSACTIONS_LOG, Written, write_batches, write_coordinator_segment

from kafkawire.logs import Accounts, LogReadError, ReadMode, ReadOptions
from kafkawire.protocol import TransactionLogKey, TransactionLogValue
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.wire.batches import Record, encode_batch

_LOGS = FIXTURES / "logs"
_TOPIC = "__transaction_state"
_NAMES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort")


def _partitions(*topics: str) -> tuple[TransactionLogValue.PartitionsSchema, ...]:
    return tuple(TransactionLogValue.PartitionsSchema(topic, (1, 0)) for topic in topics)


def _ongoing(*topics: str, updated: int = 900) -> TransactionLogValue:
    return TransactionLogValue(
        producer_id=7,
        producer_epoch=3,
        transaction_timeout_ms=60_000,
        transaction_status=1,
        transaction_partitions=_partitions(*topics),
        transaction_last_update_timestamp_ms=updated,
        transaction_start_timestamp_ms=800,
    )


def _write(tmp_path: Path, *steps: tuple[int, str, TransactionLogValue | None], version: int = 1) -> None:
    batches = [
        Written(at, ((TransactionLogKey(transactional_id), value, version),)) for at, transactional_id, value in steps
    ]
    write_coordinator_segment(tmp_path / TRANSACTIONS_LOG, 0, batches, _TOPIC)


def _write_raw(tmp_path: Path, *values: bytes | None, key: bytes | None = None) -> None:
    own, _ = encode_coordinator_record(_TOPIC, TransactionLogKey("a"), None)
    batches = [
        encode_batch([Record(timestamp=1000 * (at + 1), key=key or own, value=value)], base_offset=at)
        for at, value in enumerate(values)
    ]
    write_batches(tmp_path / TRANSACTIONS_LOG, 0, batches)


def _value(value: TransactionLogValue) -> bytes:
    _, encoded = encode_coordinator_record(_TOPIC, TransactionLogKey("a"), value, 1)
    assert encoded is not None
    return encoded


def test_a_row_has_all_of_a_state(tmp_path: Path) -> None:
    value = msgspec.structs.replace(
        _ongoing("b", "a"),
        previous_producer_id=5,
        next_producer_id=9,
        next_producer_epoch=0,
        client_transaction_version=2,
    )
    _write(tmp_path, (1000, "orders", value), (3000, "orders", None))
    (row,) = history("transaction_history", tmp_path)
    place = {"cluster", "file", "batch_position", "leader_epoch"}
    assert {name: cell for name, cell in row.items() if name not in place} == {
        "log_offset": 0,
        "append_time": time(1000),
        "transactional_id": "orders",
        "state": "Ongoing",
        "producer_id": 7,
        "producer_epoch": 3,
        "previous_producer_id": 5,
        "next_producer_id": 9,
        "next_producer_epoch": 0,
        "timeout_ms": 60_000,
        "client_transaction_version": 2,
        "partitions": [{"topic": "a", "partitions": [1, 0]}, {"topic": "b", "partitions": [1, 0]}],
        "start_time": time(800),
        "update_time": time(900),
        "valid_from": time(1000),
        "valid_to": time(3000),
        "from_offset": 0,
        "to_offset": 1,
        "_error": None,
        "_corrupt_record": None,
    }


def test_what_a_record_does_not_state_is_null(tmp_path: Path) -> None:
    empty = TransactionLogValue(7, producer_epoch=0, transaction_partitions=None, transaction_start_timestamp_ms=-1)
    _write(tmp_path, (1000, "a", empty), version=0)
    (row,) = history("transaction_history", tmp_path)
    nulls = ("previous_producer_id", "next_producer_id", "next_producer_epoch", "partitions", "start_time", "valid_to")
    assert {row[name] for name in (*nulls, "to_offset")} == {None}
    assert row["state"] == "Empty"


def test_an_equal_record_adds_no_row(tmp_path: Path) -> None:
    """The order of topics in a record has no meaning."""
    _write(
        tmp_path,
        (1000, "a", _ongoing("t", "u")),
        (2000, "a", _ongoing("u", "t")),
        (3000, "b", _ongoing("t")),
        (4000, "a", _ongoing("t", "u", updated=901)),
    )
    rows = history("transaction_history", tmp_path)
    assert [(row["transactional_id"], row["from_offset"], row["to_offset"]) for row in rows] == [
        ("a", 0, 3),
        ("b", 2, None),
        ("a", 3, None),
    ]


def test_a_state_of_a_newer_kafka_has_its_number(tmp_path: Path) -> None:
    newer = msgspec.structs.replace(_ongoing(), transaction_status=17)
    _write(tmp_path, (1000, "a", newer))
    (row,) = history("transaction_history", tmp_path)
    assert (row["state"], row["_error"]) == ("UNKNOWN(17)", None)


def test_tombstones_of_unknown_ids_add_nothing(tmp_path: Path) -> None:
    _write(tmp_path, (1000, "a", None), (2000, "a", _ongoing()), (3000, "a", None), (4000, "a", None))
    (row,) = history("transaction_history", tmp_path)
    assert (row["valid_from"], row["valid_to"]) == (time(2000), time(3000))


def test_the_state_is_unknown_after_a_value_that_cannot_be_read(tmp_path: Path) -> None:
    _write_raw(tmp_path, _value(_ongoing("t")), b"\0\1\0", _value(_ongoing("t")), b"\0\x63newer")
    accounts = Accounts()
    rows = history("transaction_history", tmp_path, accounts=accounts)
    names = ("transactional_id", "state", "from_offset", "to_offset", "_error", "_corrupt_record")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("a", "Ongoing", 0, 1, None, None),
        ("a", None, 1, 2, "decode_error", b"\0\1\0"),
        ("a", "Ongoing", 2, 3, None, None),
        ("a", None, 3, None, "unsupported_version", b"\0\x63newer"),
    ]
    assert accounts.errors == {"decode_error": 1, "unsupported_version": 1}
    dropping = ReadOptions(mode=ReadMode.DROPMALFORMED)
    assert [row["from_offset"] for row in history("transaction_history", tmp_path, options=dropping)] == [0, 2]
    with pytest.raises(LogReadError) as caught:
        history("transaction_history", tmp_path, options=ReadOptions(mode=ReadMode.FAILFAST))
    assert (caught.value.code, caught.value.offset) == ("decode_error", 1)


def test_bytes_after_a_value_are_reported_and_its_state_is_used(tmp_path: Path) -> None:
    _write_raw(tmp_path, _value(_ongoing("t")) + b"more", _value(_ongoing("t")))
    longer, clean = history("transaction_history", tmp_path)
    assert (longer["state"], longer["_error"], longer["to_offset"]) == ("Ongoing", "trailing_bytes", 1)
    assert (clean["state"], clean["_error"]) == ("Ongoing", None)


def test_a_key_that_cannot_be_read_is_a_row_valid_at_no_time(tmp_path: Path) -> None:
    _write_raw(tmp_path, _value(_ongoing("t")), key=b"\0\0\0\x63short")
    (row,) = history("transaction_history", tmp_path)
    assert (row["transactional_id"], row["_error"]) == (None, "decode_error")
    assert row["valid_from"] == row["valid_to"] == time(1000)
    assert row["from_offset"] == row["to_offset"] == 0


def test_a_batch_that_was_lost_is_a_row_and_states_go_on(tmp_path: Path) -> None:
    _write(tmp_path, (1000, "a", _ongoing("t")), (2000, "a", _ongoing("u")), (3000, "b", _ongoing("v")))
    path = tmp_path / TRANSACTIONS_LOG / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    rows, _ = history_and_losses("transaction_history", tmp_path)
    assert [(row["_error"], row["transactional_id"], row["from_offset"], row["valid_to"]) for row in rows] == [
        ("bad_crc", None, None, None),
        (None, "a", 0, None),
        (None, "b", 2, None),
    ]


def test_the_real_states_are_those_of_a_replay_of_the_dump() -> None:
    expected: list[Row] = []
    for log in ("__transaction_state-0", "__transaction_state-1"):
        held: dict[str, Row] = {}
        for offset, timestamp, key, data in _dumped(log):
            if key in held:
                held[key] |= {"valid_to": time(timestamp), "to_offset": offset}
            held[key] = _row(key, data, timestamp, offset)
            expected.append(held[key])
    rows = history("transaction_history", _LOGS)
    assert len(rows) == len(expected) == 28
    for row in expected:
        (found,) = (
            each
            for each in rows
            if (each["transactional_id"], each["from_offset"]) == (row["transactional_id"], row["from_offset"])
        )
        assert {name: found[name] for name in row} == row


def _dumped(log: str) -> list[tuple[int, int, str, dict[str, Any]]]:
    found = []
    for batch in parse_dump((FIXTURES / "dumps" / f"{log}.{0:020d}.log.txt").read_text()):
        for record in batch.records:
            key, _, payload = record.rest.removeprefix("key: ").partition(" payload: ")
            transactional_id = msgspec.json.decode(key)["data"]["transactionalId"]
            found.append((record.offset, record.timestamp, transactional_id, msgspec.json.decode(payload)["data"]))
    return found


def _row(transactional_id: str, data: dict[str, Any], timestamp: int, offset: int) -> Row:
    listed, started = data["transactionPartitions"], data["transactionStartTimestampMs"]
    partitions = listed and [{"topic": each["topic"], "partitions": each["partitionIds"]} for each in listed]
    return {
        "transactional_id": transactional_id,
        "state": _NAMES[data["transactionStatus"]],
        "producer_id": data["producerId"],
        "producer_epoch": data["producerEpoch"],
        "previous_producer_id": data["previousProducerId"],
        "next_producer_id": data.get("nextProducerId"),
        "timeout_ms": data["transactionTimeoutMs"],
        "client_transaction_version": data.get("clientTransactionVersion", 0),
        "partitions": partitions if not partitions else sorted(partitions, key=lambda each: each["topic"]),
        "start_time": None if started < 0 else time(started),
        "update_time": time(data["transactionLastUpdateTimestampMs"]),
        "valid_from": time(timestamp),
        "valid_to": None,
        "from_offset": offset,
        "to_offset": None,
    }


def test_a_transaction_as_a_whole_is_the_row_that_prepared_its_end() -> None:
    """``start_time``, the partitions and the outcome are in it, and ``valid_to`` is the time when it had ended."""
    whole = [
        (row["transactional_id"], row["state"], row["valid_to"] > row["start_time"], len(row["partitions"]))
        for row in history("transaction_history", _LOGS)
        if row["state"] in {"PrepareCommit", "PrepareAbort"}
    ]
    assert sorted(whole) == [
        ("txn-0", "PrepareCommit", True, 2),
        ("txn-0", "PrepareCommit", True, 2),
        ("txn-1", "PrepareAbort", True, 0),
        ("txn-1", "PrepareCommit", True, 4),
        ("txn-2", "PrepareAbort", True, 2),
        ("txn-2", "PrepareCommit", True, 3),
    ]
    (open_,) = (row for row in still_open(history("transaction_history", _LOGS)) if row["state"] == "Ongoing")
    assert open_["transactional_id"] == "txn-left-open"
