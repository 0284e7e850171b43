"""When a committed offset takes effect: at once, with the marker of its transaction, or never (KIP-98, KIP-890)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kafka_logs.histories import Row, history, still_open, time
from tests.made.logs import OFFSETS_LOG, Written, write_batches, write_offsets_segment

from kafkawire.logs import Accounts, LogReadError, ReadMode, ReadOptions
from kafkawire.protocol import (
    GroupMetadataKey,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, encode_batch

_KEY = OffsetCommitKey("g", "t", 0)


def _commit(at: int, offset: int, producer_id: int = -1, key: OffsetCommitKey = _KEY) -> Written:
    return Written(at, ((key, OffsetCommitValue(offset, commit_timestamp=at - 1), 3),), producer_id, 4)


def _tombstone(at: int) -> Written:
    return Written(at, ((_KEY, None, 0),))


def _marker(at: int, producer_id: int, marker: str = "COMMIT") -> Written:
    return Written(at, (), producer_id, 5, marker)  # one above the epoch of the commits


def _rows(tmp_path: Path, *batches: Written) -> dict[int | None, Row]:
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, batches)
    return {row["committed_offset"]: row for row in history("offset_commits", tmp_path)}


def _spans(tmp_path: Path, *batches: Written) -> dict[int | None, tuple[object, object]]:
    return {offset: (row["valid_from"], row["valid_to"]) for offset, row in _rows(tmp_path, *batches).items()}


def test_a_commit_is_valid_until_the_next_one(tmp_path: Path) -> None:
    assert _spans(tmp_path, _commit(1000, 1), _commit(2000, 2)) == {
        1: (time(1000), time(2000)),
        2: (time(2000), None),
    }


def test_times_outside_the_calendar_are_null(tmp_path: Path) -> None:
    """Such as the end of a retention that a client took for endless."""
    value = OffsetCommitValue(1, commit_timestamp=(1 << 63) - 1, expire_timestamp=253_402_300_800_000)
    rows = _rows(tmp_path, Written(1000, ((_KEY, value, 1),)))
    assert (rows[1]["commit_time"], rows[1]["expire_time"], rows[1]["valid_from"]) == (None, None, time(1000))


def test_committing_the_same_offset_again_is_a_new_row(tmp_path: Path) -> None:
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, [_commit(1000, 1), _commit(2000, 1)])
    assert [row["valid_to"] for row in history("offset_commits", tmp_path)] == [time(2000), None]


def test_a_tombstone_ends_a_commit_and_is_never_valid(tmp_path: Path) -> None:
    rows = _rows(tmp_path, _commit(1000, 1), _tombstone(2000))
    assert (rows[1]["valid_to"], rows[1]["tombstone"]) == (time(2000), False)
    assert (rows[None]["valid_from"], rows[None]["valid_to"], rows[None]["tombstone"]) == (time(2000), time(2000), True)
    assert rows[None]["group_id"] == "g"


def test_committed_transaction_counts_from_its_marker(tmp_path: Path) -> None:
    rows = _rows(tmp_path, _commit(1000, 1), _commit(2000, 2, producer_id=7), _marker(3000, 7))
    assert rows[1]["valid_to"] == rows[2]["valid_from"] == time(3000)
    assert (rows[2]["txn_outcome"], rows[2]["is_transactional"], rows[2]["valid_to"]) == ("committed", True, None)
    assert rows[2]["append_time"] == time(2000)
    assert rows[1]["txn_outcome"] is None


def test_aborted_transaction_never_counts(tmp_path: Path) -> None:
    rows = _rows(tmp_path, _commit(1000, 1), _commit(2000, 2, producer_id=7), _marker(3000, 7, "ABORT"))
    assert rows[1]["valid_to"] is None
    assert (rows[2]["txn_outcome"], rows[2]["valid_from"], rows[2]["valid_to"]) == ("aborted", time(3000), time(3000))


def test_open_transaction_does_not_count_yet(tmp_path: Path) -> None:
    rows = _rows(tmp_path, _commit(1000, 1), _commit(2000, 2, producer_id=7))
    assert rows[1]["valid_to"] is None
    assert (rows[2]["txn_outcome"], rows[2]["valid_from"], rows[2]["valid_to"]) == ("open", time(2000), time(2000))


def test_a_marker_ends_only_the_transaction_of_its_producer(tmp_path: Path) -> None:
    rows = _rows(tmp_path, _commit(1000, 1, producer_id=7), _commit(2000, 2, producer_id=8), _marker(3000, 8))
    assert (rows[1]["txn_outcome"], rows[2]["txn_outcome"]) == ("open", "committed")


def test_a_later_commit_wins_over_an_earlier_one_in_a_transaction(tmp_path: Path) -> None:
    """As in Kafka, the order of the records decides and not that of the marker."""
    rows = _rows(tmp_path, _commit(1000, 1, producer_id=7), _commit(2000, 2), _marker(3000, 7))
    assert (rows[2]["valid_from"], rows[2]["valid_to"]) == (time(2000), None)
    assert (rows[1]["txn_outcome"], rows[1]["valid_from"]) == ("committed", rows[1]["valid_to"])


def test_last_of_several_in_a_transaction_counts(tmp_path: Path) -> None:
    batches = (_commit(1000, 1, producer_id=7), _commit(2000, 2, producer_id=7), _marker(3000, 7))
    assert _spans(tmp_path, *batches) == {1: (time(3000), time(3000)), 2: (time(3000), None)}


def test_a_tombstone_removes_pending_commits(tmp_path: Path) -> None:
    rows = _rows(tmp_path, _commit(1000, 1, producer_id=7), _tombstone(2000), _marker(3000, 7))
    assert (rows[1]["txn_outcome"], rows[1]["valid_from"]) == ("committed", rows[1]["valid_to"])


def test_values_of_all_versions(tmp_path: Path) -> None:
    value = OffsetCommitValue(5, 9, "m", 900, 1900)
    batches = []
    for version in OffsetCommitValue.VERSIONS:
        known = {0: ("offset", "metadata", "commit_timestamp"), 1: ("expire_timestamp",), 3: ("leader_epoch",)}
        names = [*known[0], *known.get(version, ()), *(known[3] if version > 3 else ())]
        kept = OffsetCommitValue(**{name: getattr(value, name) for name in names})
        batches.append(Written(1000, ((OffsetCommitKey("g", "t", version), kept, version),)))
    legacy = LegacyOffsetCommitKey("g", "t", 9), LegacyOffsetCommitValue(5, "m", 900), 0
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, [*batches, Written(1000, (legacy,))])
    rows = {row["partition"]: row for row in history("offset_commits", tmp_path)}
    assert {(row["committed_offset"], row["metadata"], row["commit_time"]) for row in rows.values()} == {
        (5, "m", time(900))
    }
    assert {at: row["committed_leader_epoch"] for at, row in rows.items()} == {
        0: None, 1: None, 2: None, 3: 9, 4: 9, 9: None,
    }  # fmt: skip
    assert {at: row["expire_time"] for at, row in rows.items() if row["expire_time"]} == {1: time(1900)}


def test_gaps_from_compaction_are_ignored_and_duplicates_count_once(tmp_path: Path) -> None:
    folder = tmp_path / OFFSETS_LOG
    write_offsets_segment(folder, 100, [_commit(1000, 1), _commit(2000, 2)])
    write_offsets_segment(folder, 101, [_commit(2000, 2), _commit(3000, 3)])
    write_offsets_segment(folder, 500, [_commit(4000, 4)])
    accounts = Accounts()
    rows = history("offset_commits", tmp_path, accounts=accounts)
    assert [row["committed_offset"] for row in rows] == [1, 2, 3, 4]
    assert [row["log_offset"] for row in rows] == [100, 101, 102, 500]
    assert accounts.records_dropped == {"duplicate": 1}
    assert accounts.errors == {}


def test_a_wrong_offset_does_not_hide_the_records_after_it(tmp_path: Path) -> None:
    """No checksum covers the offset of a batch."""
    folder = tmp_path / OFFSETS_LOG
    write_offsets_segment(folder, 0, [_commit(1000, 1), _commit(2000, 2), _commit(3000, 3)])
    write_offsets_segment(folder, 3, [_commit(4000, 4)])
    segment = folder / f"{0:020}.log"
    octets = bytearray(segment.read_bytes())
    octets[3] ^= 1
    segment.write_bytes(octets)
    accounts = Accounts()
    rows = history("offset_commits", tmp_path, accounts=accounts)
    assert [row["committed_offset"] for row in rows] == [1, 2, 3, 4]
    assert accounts.errors == {"bad_offset": 1}
    assert accounts.records_dropped == {}
    with pytest.raises(LogReadError, match="bad_offset: offset 1 follows 4294967296 in the same file"):
        history("offset_commits", tmp_path, options=ReadOptions(mode=ReadMode.FAILFAST))


def _newer_value() -> bytes:
    return (5).to_bytes(2, "big") + b"who knows"


def _odd_records() -> bytes:
    key, value = encode_coordinator_record("__consumer_offsets", _KEY, OffsetCommitValue(1), 3)
    assert value is not None
    records = [
        Record(timestamp=1000, key=key, value=value),
        Record(timestamp=1000, key=key, value=_newer_value()),
        Record(timestamp=1000, key=(99).to_bytes(2, "big"), value=b"?"),
        Record(timestamp=1000, key=key[:5], value=value),
        Record(timestamp=1000, key=None, value=value),
        Record(timestamp=2000, key=key, value=value + b"more"),
    ]
    return encode_batch(records, base_offset=0, partition_leader_epoch=1)


def test_newer_or_broken_records_are_kept_without_guessing(tmp_path: Path) -> None:
    write_batches(tmp_path / OFFSETS_LOG, 0, [_odd_records()])
    accounts = Accounts()
    rows = {row["log_offset"]: row for row in history("offset_commits", tmp_path, accounts=accounts)}
    assert {offset: row["_error"] for offset, row in rows.items()} == {
        0: None, 1: "unsupported_version", 3: "decode_error", 5: "trailing_bytes",
    }  # fmt: skip
    newer = rows[1]
    assert (newer["group_id"], newer["committed_offset"], newer["_corrupt_record"]) == ("g", None, _newer_value())
    assert (newer["valid_from"], newer["valid_to"]) == (time(1000), time(2000))
    assert rows[0]["valid_to"] == time(1000)
    assert rows[5]["committed_offset"] == 1
    assert accounts.errors == {"unsupported_version": 1, "unknown_type": 1, "decode_error": 2, "trailing_bytes": 1}
    assert accounts.records_read == accounts.rows + sum(accounts.records_dropped.values()) == 6


def test_modes(tmp_path: Path) -> None:
    write_batches(tmp_path / OFFSETS_LOG, 0, [_odd_records()])
    accounts = Accounts()
    rows = history("offset_commits", tmp_path, options=ReadOptions(mode=ReadMode.DROPMALFORMED), accounts=accounts)
    assert [row["log_offset"] for row in rows] == [0]
    assert "_error" not in rows[0]
    assert accounts.records_read == accounts.rows + sum(accounts.records_dropped.values()) == 6
    assert rows[0]["valid_to"] == time(1000)  # an unreadable commit replaces the earlier one too


def test_other_records_of_the_topic_are_left_out(tmp_path: Path) -> None:
    other: tuple[Message, None, int] = (GroupMetadataKey("g"), None, 0)
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, [Written(1000, (other,)), _commit(1000, 1)])
    assert len(still_open(history("offset_commits", tmp_path))) == 1


def test_chosen_columns(tmp_path: Path) -> None:
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, [_commit(1000, 1)])
    (row,) = history("offset_commits", tmp_path, options=ReadOptions(columns=("group_id", "valid_to")))
    assert row == {"group_id": "g", "valid_to": None}
