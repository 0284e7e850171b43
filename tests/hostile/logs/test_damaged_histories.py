"""Whatever became of a log's bytes, a history is made of the rest, and every byte is accounted for."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.dumps import FIXTURES
from tests.kafka_logs.histories import OF_METADATA, history
from tests.made.logs import (
    METADATA_LOG,
    OFFSETS_LOG,
    Step,
    Written,
    write_batches,
    write_offsets_segment,
    write_segment,
)

from kafkawire.layout import Uuid
from kafkawire.logs import Accounts, LogReadError, ReadMode, ReadOptions
from kafkawire.logs.history_tables import HISTORIES
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue, PartitionRecord, TopicRecord
from kafkawire.wire.batches import Record, encode_batch

_LOGS = {
    **dict.fromkeys(OF_METADATA, METADATA_LOG),
    **dict.fromkeys(("offset_commits", "group_history", "lag_history"), "__consumer_offsets-0"),
    "transaction_history": "__transaction_state-1",
    "share_group_history": "__share_group_state-0",
}
_FILES = ("00000000000000000000.log", "00000000000000000202-0000000001.checkpoint")


def _damaged(source: Path, scratch: str, positions: list[int], octet: int, kept: int) -> Path:
    """The beginning of a real file with some of its bytes changed, in a folder of its own."""
    data = bytearray(source.read_bytes())
    for position in positions:
        data[position % len(data)] = octet
    folder = Path(scratch) / source.parent.name
    folder.mkdir()
    (folder / source.name).write_bytes(data[: len(data) * kept // 100])
    return folder


@pytest.mark.parametrize("name", HISTORIES)
@given(
    positions=st.lists(st.integers(0, 2**20), max_size=4),
    octet=st.integers(0, 255),
    kept=st.integers(0, 100),
    snapshot=st.booleans(),
    verify=st.booleans(),
)
@example(positions=[98], octet=1, kept=2, snapshot=True, verify=False)  # two flaws in one snapshot
@settings(max_examples=scaled(12))
def test_no_damage_stops_a_history(
    name: str, positions: list[int], octet: int, kept: int, *, snapshot: bool, verify: bool
) -> None:
    """Without checksums damage gets as far as the records themselves."""
    source = FIXTURES / "logs" / _LOGS[name] / _FILES[snapshot and _LOGS[name] == METADATA_LOG]
    for mode in ReadMode:
        with tempfile.TemporaryDirectory() as scratch:
            folder = _damaged(source, scratch, positions, octet, kept)
            accounts = Accounts()
            options = ReadOptions(mode=mode, verify_checksums=verify)
            try:
                history(name, folder, options=options, accounts=accounts)
            except LogReadError:
                assert mode is ReadMode.FAILFAST
            else:
                assert accounts.bytes_read <= (folder / source.name).stat().st_size


@pytest.mark.parametrize("name", ["acl_history", "offset_commits"])
def test_a_log_that_was_cut_off_tells_what_is_before(name: str) -> None:
    """Cut anywhere in its first batches, it has the rows of the batches that are whole."""
    source = FIXTURES / "logs" / _LOGS[name] / _FILES[0]
    data = source.read_bytes()
    for size in range(0, 3000, 37):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / _LOGS[name]
            folder.mkdir()
            (folder / source.name).write_bytes(data[:size])
            accounts = Accounts()
            history(name, folder, accounts=accounts)
            assert accounts.bytes_read == size
            assert accounts.errors.keys() <= {"truncated_batch"}


@given(
    positions=st.lists(st.integers(0, 2**20), max_size=4),
    octet=st.integers(0, 255),
    kept=st.integers(0, 100),
    verify=st.booleans(),
)
@settings(max_examples=scaled(25))
def test_no_damage_of_a_partition_stops_its_lag(positions: list[int], octet: int, kept: int, *, verify: bool) -> None:
    """Without checksums the offsets and times of batches may be anything."""
    with tempfile.TemporaryDirectory() as scratch:
        commits = [
            Written(at, ((OffsetCommitKey("g", "t", 0), OffsetCommitValue(at // 100), 3),)) for at in range(1000)
        ]
        write_offsets_segment(Path(scratch) / OFFSETS_LOG, 0, commits)
        records = [Record(timestamp=5, value=b"v")]
        data = bytearray(b"".join(encode_batch(records, base_offset=at, log_append_time=at * 9) for at in range(100)))
        for position in positions:
            data[position % len(data)] = octet
        write_batches(Path(scratch) / "t-0", 0, [bytes(data[: len(data) * kept // 100])])
        rows = history("lag_history", Path(scratch), options=ReadOptions(verify_checksums=verify))
        assert len(rows) == len(commits)
        for row in rows:
            assert (row["end_offset"] is None) == (row["lag"] is None)
            assert row["lag"] is None or 0 <= row["lag"] <= row["last_lag"]


def test_a_partition_of_the_highest_number(tmp_path: Path) -> None:
    highest = (1 << 31) - 1
    records = TopicRecord("t", Uuid(b"t" * 16)), PartitionRecord(highest, Uuid(b"t" * 16))
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000, records)])
    assert [row["partitions"] for row in history("topic_history", tmp_path)] == [highest]
