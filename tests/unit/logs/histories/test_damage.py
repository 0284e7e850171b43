"""A history with lost records has all that is known, and the accounts show the loss."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kafka_logs.histories import history, still_open, time
from tests.made.logs import (
    METADATA_LOG,
    OFFSETS_LOG,
    Step,
    Written,
    write_checkpoint,
    write_offsets_segment,
    write_segment,
)

from kafkawire.layout import Uuid
from kafkawire.logs import (
    Accounts,
    LogReadError,
    ReadMode,
    ReadOptions,
    RecordRegistry,
    find_log_files,
    read_metadata_histories,
)
from kafkawire.protocol import (
    AccessControlEntryRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    RemoveAccessControlEntryRecord,
)
from kafkawire.protocol.record_registries import METADATA_RECORDS
from kafkawire.records.metadata_records import encode_metadata_record
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, encode_batch

_IDS = [Uuid(bytes([number]) * 16) for number in range(1, 6)]


def _added(number: int) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(_IDS[number], 2, f"t{number}", 3, "User:alice", "*", 3, 3)


def _removed(number: int) -> RemoveAccessControlEntryRecord:
    return RemoveAccessControlEntryRecord(_IDS[number])


def _broken_segment(folder: Path, *steps: Step, broken: int) -> Path:
    """Write a segment with a flipped bit in one batch."""
    write_segment(folder, 0, steps)
    path = folder / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    at = 0
    for _ in range(broken):
        at += 12 + int.from_bytes(data[at + 8 : at + 12], "big")
    data[at + 70] ^= 1
    path.write_bytes(data)
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """ACL 0 is added; 1 is added, but that batch is broken; 2 is added; 0 and 1 are removed."""
    folder = tmp_path / METADATA_LOG
    steps = [Step(1000, (_added(0),)), Step(2000, (_added(1),)), Step(3000, (_added(2),))]
    _broken_segment(folder, *steps, Step(4000, (_removed(0), _removed(1))), broken=1)
    return folder


def test_a_history_continues_after_a_broken_batch(broken: Path) -> None:
    """The ACL whose addition is lost has only an end."""
    accounts = Accounts()
    rows = {row["acl_id"]: row for row in history("acl_history", broken, accounts=accounts)}
    assert {acl_id: (row["valid_from"], row["valid_to"]) for acl_id, row in rows.items()} == {
        str(_IDS[0]): (time(1000), time(4000)),
        str(_IDS[1]): (None, time(4000)),
        str(_IDS[2]): (time(3000), None),
    }
    assert rows[str(_IDS[1])]["principal"] is None
    assert accounts.errors == {"bad_crc": 1}
    assert accounts.bytes_skipped.keys() == {"bad_crc"}


def test_failfast_stops_at_the_broken_batch(broken: Path) -> None:
    with pytest.raises(LogReadError) as caught:
        history("acl_history", broken, options=ReadOptions(mode=ReadMode.FAILFAST))
    assert (caught.value.code, caught.value.offset) == ("bad_crc", 1)


def test_the_next_snapshot_corrects_the_state(tmp_path: Path) -> None:
    """ACL 1 was added and ACL 0 removed in the broken batch, which the snapshot after it shows."""
    folder = tmp_path / METADATA_LOG
    steps = [Step(1000, (_added(0),)), Step(2000, (_added(1), _removed(0))), Step(3000, (_added(2),))]
    _broken_segment(folder, *steps, Step(5000, (_removed(1),)), broken=1)
    write_checkpoint(folder, 4, [_added(1), _added(2)], time=3000)
    rows = {row["acl_id"]: row for row in history("acl_history", folder)}
    assert {acl_id: (row["valid_from"], row["valid_to"]) for acl_id, row in rows.items()} == {
        str(_IDS[0]): (time(1000), time(3000)),
        str(_IDS[1]): (time(3000), time(5000)),
        str(_IDS[2]): (time(3000), None),
    }
    assert rows[str(_IDS[1])]["added_by_snapshot"]


def test_a_log_ends_before_its_incomplete_batch(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_segment(folder, 0, [Step(1000, (_added(0),)), Step(2000, (_added(1),))])
    path = folder / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:-1])
    accounts = Accounts()
    (row,) = history("acl_history", folder, accounts=accounts)
    assert row["acl_id"] == str(_IDS[0])
    assert not accounts.errors
    assert list(accounts.bytes_skipped) == ["truncated_batch"]


def _odd(folder: Path, *values: bytes) -> None:
    folder.mkdir()
    records = [Record(timestamp=1000, value=value) for value in values]
    (folder / f"{0:020d}.log").write_bytes(encode_batch(records, base_offset=0, partition_leader_epoch=1))


def _value(message: Message) -> bytes:
    return encode_metadata_record(message, 0)


def test_newer_versions_than_the_definitions_are_counted_without_guessing(tmp_path: Path) -> None:
    newer = b"\x01\x12\x05" + b"?" * 30  # an ACL of version 5
    unknown = b"\x01\x4d\x00?"
    _odd(tmp_path / METADATA_LOG, _value(_added(0)), newer, unknown, b"\x02\x12\x00", _value(_added(2)) + b"more")
    accounts = Accounts()
    rows = history("acl_history", tmp_path, accounts=accounts)
    assert [row["acl_id"] for row in rows] == [str(_IDS[0]), str(_IDS[2])]
    assert accounts.errors == {"unsupported_version": 2, "unknown_type": 1, "trailing_bytes": 1}
    with pytest.raises(LogReadError) as caught:
        history("acl_history", tmp_path, options=ReadOptions(mode=ReadMode.FAILFAST))
    assert (caught.value.code, caught.value.offset) == ("unsupported_version", 1)


def test_record_types_of_the_user_are_no_error(tmp_path: Path) -> None:
    """Record types of the user are known, so histories skip their records."""
    own = RecordRegistry(metadata={**METADATA_RECORDS, 77: "OwnRecord", 1000: "OtherRecord"})
    _odd(tmp_path / METADATA_LOG, b"\x01\x4d\x00?", b"\x01\xe8\x07\x00?", _value(_added(0)))
    accounts = Accounts()
    (row,) = history("acl_history", tmp_path, options=ReadOptions(registry=own), accounts=accounts)
    assert (row["acl_id"], accounts.errors) == (str(_IDS[0]), {})


def test_an_end_is_kept_if_its_beginning_may_be_unreadable(tmp_path: Path) -> None:
    newer = b"\x01\x12\x05" + _IDS[1]
    _odd(tmp_path / METADATA_LOG, newer, _value(_removed(1)))
    (row,) = history("acl_history", tmp_path)
    assert (row["acl_id"], row["principal"], row["valid_to"]) == (str(_IDS[1]), None, time(1000))


def test_records_without_a_time_have_the_time_of_the_previous_record(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    for_ever = 2**62
    write_segment(
        folder, 0, [Step(1000, (_added(0),)), Step(-1, (_added(1),)), Step(for_ever, (_added(2), _removed(0)))]
    )
    rows = history("acl_history", folder)
    assert {(row["valid_from"], row["valid_to"]) for row in rows} == {
        (time(1000), None),
        (time(1000), time(1000)),
    }


def test_lost_batch_of_offsets_is_a_row(tmp_path: Path) -> None:
    folder = tmp_path / OFFSETS_LOG
    commits = [Written(at, ((OffsetCommitKey("g", "t", 0), OffsetCommitValue(at), 3),)) for at in (1000, 2000, 3000)]
    write_offsets_segment(folder, 0, commits)
    path = folder / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    accounts = Accounts()
    rows = history("offset_commits", folder, accounts=accounts)
    (lost,) = (row for row in rows if row["_error"])
    assert (lost["_error"], lost["log_offset"], lost["batch_position"]) == ("bad_crc", 1, len(data) // 3)
    assert lost["_corrupt_record"] == bytes(data[len(data) // 3 : 2 * len(data) // 3])
    assert [row["committed_offset"] for row in still_open(rows) if not row["_error"]] == [3000]
    assert (accounts.flaw_rows, accounts.rows) == (1, 2)
    dropping = ReadOptions(mode=ReadMode.DROPMALFORMED)
    assert [row["committed_offset"] for row in history("offset_commits", folder, options=dropping)] == [1000, 3000]


def test_histories_read_together_count_records_and_errors_once(broken: Path) -> None:
    unknown = encode_batch([Record(timestamp=9000, value=b"\x01\x7f\x00")], base_offset=100, partition_leader_epoch=1)
    with (broken / f"{0:020d}.log").open("ab") as segment:
        segment.write(unknown)
    alone, together = Accounts(), Accounts()
    history("acl_history", broken, accounts=alone)
    names = ("acl_history", "quota_history", "topic_history", "config_history")
    files = find_log_files([str(broken)])
    rows = list(read_metadata_histories(dict.fromkeys(names, ("cluster",)), files, ReadOptions(), together))
    assert together.errors == alone.errors == {"bad_crc": 1, "unknown_type": 1, "offset_gap": 1}
    assert together.bytes_read == alone.bytes_read == sum(file.size for file in files)
    assert together.rows == sum(batch.num_rows for _, batch in rows) >= alone.rows
